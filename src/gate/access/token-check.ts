import { hash, randomBytes, timingSafeEqual } from "node:crypto";

import type { Caller, GateToken } from "../gate.ts";

/** Finds whose token was sent, by its digest. */
export interface TokenCheck {
  /** A digest with a secret of this process, so that nothing about a token can be learnt from how long a comparison takes. */
  digest(token: string): Buffer;
  find(digest: Buffer): Caller | undefined;
}

/** Makes the check for `tokens`. They are not kept, only their digests. */
export function createTokenCheck(tokens: readonly GateToken[]): TokenCheck {
  const salt = randomBytes(32).toString("base64");
  const digest = (token: string): Buffer => hash("sha256", salt + token, "buffer");
  const known = tokens.map(({ token, id, scopes = "all" }, index) => ({
    digest: digest(token),
    caller: { id: id ?? `token-${index + 1}`, scopes: scopes === "all" ? scopes : new Set(scopes) },
  }));

  return {
    digest,
    find(sent) {
      let found: Caller | undefined;
      // All are compared, also after one fits.
      for (const { digest: expected, caller } of known) if (timingSafeEqual(sent, expected)) found = caller;
      return found;
    },
  };
}

/** The token of an `Authorization: Bearer` header; `undefined` if there is none. */
export function readBearer(header: string | undefined): string | undefined {
  if (header === undefined || header.length < 8) return undefined;
  if (!header.startsWith("Bearer ") && header.slice(0, 7).toLowerCase() !== "bearer ") return undefined;
  const token = header.slice(7).trim();
  return token === "" ? undefined : token;
}
