import { hash, timingSafeEqual } from "node:crypto";

import { toScopesKey, type Scopes, localUser } from "../../core/scopes.ts";
import type { Caller, GateToken } from "../gate.ts";

/** How the tokens of `kitbag token` begin. */
export const tokenPrefix = "kitbag_";

/** Who is let in when no token is asked for. */
export const localCaller: Caller = { id: localUser, scopes: "all" };

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
  return (user) => (user === localCaller.id || isOAuthId(user) ? undefined : (byUser.get(user) ?? new Set()));
}

/** Tells whether an id is one that a JWT gives: no token may have it. */
export function isOAuthId(id: string): boolean {
  return /^oauth(?:-client)?:/u.test(id);
}

/** The SHA-256 of a token, as 64 hexadecimal digits: what is kept in place of it. */
export function digestToken(token: string): string {
  return hash("sha256", token, "hex");
}

/** The digest of a token that is given as it is or by its digest. */
export function toTokenDigest(given: GateToken): string {
  return "sha256" in given ? given.sha256 : digestToken(given.token);
}

/** A token without a name is named after its digest, so that its owner stays the same when other tokens come and go. */
function toCaller(given: GateToken): Caller {
  const { id = `token-${toTokenDigest(given).slice(0, 12)}`, scopes = "all" } = given;
  return { id, scopes: scopes === "all" ? scopes : new Set(scopes) };
}

/** A token that is good now. */
export interface KnownToken {
  readonly caller: Caller;
  /** Whether it may be short enough to be guessed: it was given as it is, so a person may have thought of it. */
  readonly isGuessable: boolean;
}

/** The tokens that are good now. */
export interface TokenCheck {
  /** Finds whose token was sent, by its digest. */
  find(digest: Buffer): KnownToken | undefined;
  /** All callers that can be found: an object for each token. */
  readonly callers: ReadonlySet<Caller>;
  /** The check of other tokens. A token that stays as it was keeps its caller. */
  replace(tokens: readonly GateToken[]): TokenCheck;
}

interface Entry extends KnownToken {
  readonly digest: Buffer;
}

/** Makes the check for `tokens`. They are not kept, only their digests. */
export function createTokenCheck(tokens: readonly GateToken[], before: readonly Entry[] = []): TokenCheck {
  const known = tokens.map((given) => keep(toEntry(given), before));

  return {
    find(sent) {
      let found: KnownToken | undefined;
      // All are compared, also after one fits.
      for (const entry of known) if (timingSafeEqual(sent, entry.digest)) found = entry;
      return found;
    },
    callers: new Set(known.map(({ caller }) => caller)),
    replace: (others) => createTokenCheck(others, known),
  };
}

function toEntry(given: GateToken): Entry {
  return {
    digest: Buffer.from(toTokenDigest(given), "hex"),
    caller: toCaller(given),
    isGuessable: "token" in given,
  };
}

function keep(entry: Entry, before: readonly Entry[]): Entry {
  const same = before.find(({ digest }) => digest.equals(entry.digest));
  const isSame =
    same?.caller.id === entry.caller.id && toScopesKey(same.caller.scopes) === toScopesKey(entry.caller.scopes);
  return isSame ? { ...entry, caller: same.caller } : entry;
}

/** The token of an `Authorization: Bearer` header; `undefined` if the header has no token. */
export function readBearer(header: string | undefined): string | undefined {
  if (header === undefined || header.length < 8) return undefined;
  if (!header.startsWith("Bearer ") && header.slice(0, 7).toLowerCase() !== "bearer ") return undefined;
  const token = header.slice(7).trim();
  return token === "" ? undefined : token;
}
