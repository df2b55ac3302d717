import type { IncomingMessage } from "node:http";

import { quote } from "../../core/errors.ts";
import type { GateLimits, Refusal } from "../gate.ts";
import type { OriginKind } from "../origin/origin-check.ts";
import { describeTooLarge } from "./read-body.ts";

/** What heads are checked with. */
export interface HeadParts {
  readonly isHost: (header: string) => boolean;
  readonly findOrigin: (origin: string, host: string) => OriginKind;
  readonly limits: Pick<GateLimits, "maxBodyBytes">;
}

/** Finds what is wrong with the address or the `Host` of a request. */
export function checkHost(incoming: IncomingMessage, { isHost }: HeadParts): Refusal | undefined {
  if (incoming.url?.startsWith("/") !== true) {
    return { status: 400, message: 'the address of a request must be a path that starts with "/"' };
  }
  if (hasTwice(incoming.rawHeaders)) return { status: 400, message: "Host and Authorization may be sent once" };
  const { host } = incoming.headers;
  if (host === undefined) return { status: 400, message: "the Host header is missing" };
  if (isHost(host)) return undefined;
  return { status: 403, message: `this service is not called ${quote(host)}; use its own address, or allow the name` };
}

/** Finds what is wrong with the page that a request comes from. Also tells whether it is of another host. */
export function checkOrigin(incoming: IncomingMessage, { findOrigin }: HeadParts): Refusal | OriginKind {
  const { origin, host = "" } = incoming.headers;
  if (origin === undefined) return "own";
  const kind = findOrigin(origin, host);
  if (kind !== "foreign") return kind;
  return {
    status: 403,
    message: `pages of ${quote(origin)} may not call this service; allow the origin if they should`,
  };
}

/** Finds out that a body says itself that it is too large. */
export function checkLength(incoming: IncomingMessage, { limits }: HeadParts): Refusal | undefined {
  const length = incoming.headers["content-length"];
  if (length === undefined || Number(length) <= limits.maxBodyBytes) return undefined;
  return { status: 413, message: describeTooLarge(limits.maxBodyBytes) };
}

/** Node takes the first of two, a proxy in front of us may take the last. */
function hasTwice(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  let tokens = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
    else if (name.length === 13 && name.toLowerCase() === "authorization") tokens += 1;
  }
  return hosts > 1 || tokens > 1;
}
