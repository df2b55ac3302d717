import { isIP } from "node:net";

/** Whose web page a request comes from: this host's own, one that is allowed, or neither. */
export type OriginKind = "own" | "allowed" | "foreign";

/** Makes the check of `Origin` headers, which browsers send and programs do not. */
export function createOriginCheck(origins: readonly string[]): (origin: string, host: string) => OriginKind {
  const allowed = new Set(origins.map((origin) => origin.toLowerCase()));

  return (header, host) => {
    const origin = header.toLowerCase();
    const own = host.toLowerCase();
    if (origin === `http://${own}` || origin === `https://${own}`) return "own";
    return allowed.has(origin) ? "allowed" : "foreign";
  };
}

/** Tells whether only this machine can reach `host`. A name that is not `localhost` could be anything, so it is not. */
export function isLoopback(host: string): boolean {
  if (host === "localhost") return true;
  switch (isIP(host)) {
    case 4:
      return host.startsWith("127.");
    case 6:
      return host === "::1" || host === "0:0:0:0:0:0:0:1";
    default:
      return false;
  }
}

/** Tells whether listening on `host` means every address of this machine. */
export function isEverywhere(host: string): boolean {
  return host === "0.0.0.0" || host === "::" || host === "";
}
