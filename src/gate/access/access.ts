import { hash } from "node:crypto";

import type * as Jose from "jose";

import type { Caller, GateOAuth, GateToken } from "../gate.ts";
import { hasScope } from "../../core/scopes.ts";
import type { Challenge } from "./challenge.ts";
import type { Guesses } from "../limits/buckets.ts";
import { clockToleranceMs, createJwtCheck, type JwtAnswer } from "./jwt-check.ts";
import { localCaller, createTokenCheck, readBearer, tokenPrefix, type KnownToken } from "./token-check.ts";

/** A refusal of a token, and what the client is told. */
export interface Denial {
  readonly status: number;
  readonly reason: string;
  /** The `WWW-Authenticate` header. */
  readonly challenge?: string;
  readonly retryAfterMs?: number;
}

/** A token as it came. */
export interface Sent {
  /** The `Authorization` header. */
  readonly header: string | undefined;
  /** What is behind the `?` of the address. A token there is ignored. */
  readonly query: string;
  /** What its address is counted as. */
  readonly network: string;
  readonly nowMs: number;
}

/** Who is let in. */
export interface Access {
  /** Tells who sent a token. The answer comes at once unless a JWT is seen for the first time. */
  check(sent: Sent): Caller | Denial | Promise<Caller | Denial>;
  /** Tells whether a caller that was let in would be let in now, with the same scopes. */
  isGood(caller: Caller): boolean;
  /** Takes other tokens in place of those before. Answers with the callers that are not let in any more, or not with these scopes. */
  setTokens(tokens: readonly GateToken[]): ReadonlySet<Caller>;
}

/** What access is checked with. */
export interface AccessParts {
  readonly tokens: readonly GateToken[];
  readonly oauth: GateOAuth | undefined;
  /** What JWTs are read with; needed with `oauth`. */
  readonly jose: typeof Jose | undefined;
  readonly audience: readonly string[];
  readonly challenge: Challenge;
  readonly guesses: Guesses | undefined;
  readonly refreshTokens: (() => void) | undefined;
}

/** The most JWTs that are remembered, and for how long. */
const mostJwts = 1000;
const longestMs = 300_000;

/** The shortest time between two reloads of the tokens that an unknown token causes. */
const refreshMs = 100;

/** Makes the check of who is let in. Without tokens and OAuth everybody is, until there are tokens. */
export function createAccess(parts: AccessParts): Access {
  const { tokens, oauth, jose, challenge, guesses } = parts;
  const checkJwt = oauth && jose && createJwtCheck(jose, oauth, parts.audience);
  const jwts = createKnownJwts();
  let known = createTokenCheck(tokens);
  let isOpen = tokens.length === 0 && oauth === undefined;
  let refreshedAt = -Infinity;

  /** A token that was just made may not be known yet. */
  const findAgain = (token: string, digest: Buffer, { nowMs }: Sent): KnownToken | undefined => {
    if (!token.startsWith(tokenPrefix) || nowMs - refreshedAt < refreshMs) return undefined;
    refreshedAt = nowMs;
    parts.refreshTokens?.();
    return known.find(digest);
  };

  const take = async (token: string, key: string, sent: Sent): Promise<Caller | Denial> => {
    const answer = await checkJwt?.(token);
    if (answer?.status !== "ok") return denyToken(describeWrong(token, answer), sent, parts, answer);
    const denial = checkRequired(answer.caller, parts);
    if (denial !== undefined) return denial;
    jwts.keep(key, answer.caller, answer.expiresAt);
    return answer.caller;
  };

  return {
    check(sent) {
      if (isOpen) return localCaller;
      const token = readBearer(sent.header);
      if (token === undefined) {
        return { status: 401, reason: describeMissing(parts) + describeIgnored(sent), challenge: challenge.render() };
      }
      const digest = hash("sha256", token, "buffer");
      const found = known.find(digest) ?? findAgain(token, digest, sent);
      if (found !== undefined) return admitToken(found, sent, guesses);
      const key = checkJwt === undefined ? "" : digest.toString("latin1");
      const caller = jwts.find(key);
      if (caller !== undefined) return caller;
      // A signature cannot be guessed, so it is checked however many tokens of this address were wrong.
      return checkJwt !== undefined && token.split(".", 4).length === 3
        ? take(token, key, sent)
        : denyToken(describeWrong(token), sent, parts);
    },
    isGood: (caller) => (isOpen ? caller === localCaller : known.callers.has(caller) || jwts.isGood(caller)),
    setTokens(others) {
      const { callers } = known;
      known = known.replace(others);
      isOpen = false;
      return callers.difference(known.callers);
    },
  };
}

/**
 * A token that a person made up must not be found by trying: after too many wrong tokens from a network it is refused, unless its owner
 * has used it from there before.
 */
function admitToken({ caller, isGuessable }: KnownToken, sent: Sent, guesses: Guesses | undefined): Caller | Denial {
  const waitMs = isGuessable ? (guesses?.waitMs(sent.network, sent.nowMs) ?? 0) : 0;
  if (waitMs > 0 && guesses?.isRemembered(sent.network, caller.id) !== true) return tooManyGuesses(waitMs);
  guesses?.remember(sent.network, caller.id);
  return caller;
}

function tooManyGuesses(retryAfterMs: number): Denial {
  return { status: 429, reason: "too many wrong tokens came from this address; wait", retryAfterMs };
}

/** Tells whether a token was refused. */
export function isDenial(answer: Caller | Denial): answer is Denial {
  return "status" in answer;
}

function denyToken(reason: string, sent: Sent, { challenge, guesses }: AccessParts, answer?: JwtAnswer): Denial {
  if (answer?.status === "unavailable") {
    const cause = "tokens cannot be checked now, since the authorization server gives no keys";
    return { status: 503, reason: cause, retryAfterMs: 5000 };
  }
  const waitMs = guesses?.waitMs(sent.network, sent.nowMs) ?? 0;
  if (waitMs > 0) return tooManyGuesses(waitMs);
  guesses?.note(sent.network, sent.nowMs);
  return {
    status: 401,
    reason: reason + describeIgnored(sent),
    challenge: challenge.render({ error: "invalid_token" }),
  };
}

function describeWrong(token: string, answer?: JwtAnswer): string {
  if (answer?.status === "wrong") return `the token is not right: ${answer.reason}`;
  if (!token.startsWith(tokenPrefix)) return "the token is not right";
  return "the token is unknown or was revoked; make one with: kitbag token add <name>";
}

/** Addresses are written to logs, so a token in one is not a secret any more. */
function describeIgnored({ query }: Sent): string {
  if (!/(?:^|&)(?:[^=&]*token|api_?key|auth[^=&]*)=|kitbag_/iu.test(query)) return "";
  return "; the token in the address was ignored; logs on the way may hold it, so revoke it and make another";
}

function checkRequired(caller: Caller, { oauth, challenge }: AccessParts): Denial | undefined {
  const lacking = (oauth?.requiredScopes ?? []).filter((scope) => !hasScope(caller.scopes, scope));
  if (lacking.length === 0) return undefined;
  return {
    status: 403,
    reason: `the token lacks the scope ${lacking.join(" ")}`,
    challenge: challenge.render({ error: "insufficient_scope" }),
  };
}

function describeMissing({ oauth }: AccessParts): string {
  const way = oauth === undefined ? "" : `, which ${oauth.issuer} gives`;
  return `a token is needed${way}; send it as "Authorization: Bearer <token>"`;
}

interface KnownJwts {
  find(key: string): Caller | undefined;
  keep(key: string, caller: Caller, expiresAt: number): void;
  /** Tells whether the JWT that a caller was let in by has not expired. */
  isGood(caller: Caller): boolean;
}

/** A signature need not be checked for every request of a token; that it is not expired must. */
function createKnownJwts(): KnownJwts {
  const byKey = new Map<string, { readonly caller: Caller; readonly untilMs: number }>();
  const expiries = new WeakMap<Caller, number>();

  return {
    find(key) {
      const entry = byKey.get(key);
      if (entry === undefined) return undefined;
      if (entry.untilMs > Date.now()) return entry.caller;
      byKey.delete(key);
      return undefined;
    },
    keep(key, caller, expiresAt) {
      if (byKey.size >= mostJwts) byKey.clear();
      byKey.set(key, { caller, untilMs: Math.min(expiresAt, Date.now() + longestMs) });
      expiries.set(caller, expiresAt);
    },
    isGood: (caller) => (expiries.get(caller) ?? 0) + clockToleranceMs > Date.now(),
  };
}
