import { isIP } from "node:net";

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
