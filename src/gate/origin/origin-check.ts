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
