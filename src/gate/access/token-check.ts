import { hash, randomBytes, timingSafeEqual } from "node:crypto";

import { localUser } from "../../core/users.ts";
import type { Scopes } from "../../core/scopes.ts";
import type { Caller, GateToken } from "../gate.ts";

/**
 * Makes the look-up of the scopes that users have now, by their tokens: all that the tokens of one user have together, none for a user
 * without a token. Nothing is known of those who log in elsewhere.
 */
export function createScopesOf(tokens: readonly GateToken[]): (user: string) => Scopes | undefined {
  const byUser = new Map<string, Scopes>();
  for (const { id, scopes } of tokens.map(toCaller)) {
    const before = byUser.get(id) ?? new Set<string>();
    byUser.set(id, scopes === "all" || before === "all" ? "all" : new Set([...before, ...scopes]));
  }
  return (user) => (user === anybody.id || user.startsWith("oauth:") ? undefined : (byUser.get(user) ?? new Set()));
}

/** Who is let in when no token is asked for. */
export const anybody: Caller = { id: localUser, scopes: "all" };

function toCaller({ id, scopes = "all" }: GateToken, index: number): Caller {
  return { id: id ?? `token-${index + 1}`, scopes: scopes === "all" ? scopes : new Set(scopes) };
}

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
  const known = tokens.map((one, index) => ({ digest: digest(one.token), caller: toCaller(one, index) }));

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
