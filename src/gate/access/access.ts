import { hash } from "node:crypto";

import type * as Jose from "jose";

import type { Caller, GateOAuth, GateToken } from "../gate.ts";
import { hasScope } from "../../core/scopes.ts";
import type { Challenge } from "./challenge.ts";
import type { Guesses } from "./guesses.ts";
import { clockToleranceMs, createJwtCheck, type JwtAnswer } from "./jwt-check.ts";
import { anybody, createTokenCheck, readBearer, type KnownToken } from "./token-check.ts";

/** Somebody is not let in, and what they are told. */
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
}

/** The most JWTs that are remembered, and for how long. */
const mostJwts = 1000;
const longestMs = 300_000;

/** Makes the check of who is let in. Without tokens and OAuth everybody is, until there are tokens. */
export function createAccess(parts: AccessParts): Access {
  const { tokens, oauth, jose, challenge, guesses } = parts;
  const checkJwt = oauth && jose && createJwtCheck(jose, oauth, parts.audience);
  const jwts = createKnownJwts();
  let known = createTokenCheck(tokens);
  let isOpen = tokens.length === 0 && oauth === undefined;

  const take = async (token: string, key: string, sent: Sent): Promise<Caller | Denial> => {
    const answer = await checkJwt?.(token);
    if (answer?.status !== "ok") return denyToken(answer, sent, parts);
    const denial = checkRequired(answer.caller, parts);
    if (denial !== undefined) return denial;
    jwts.keep(key, answer.caller, answer.expiresAt);
    return answer.caller;
  };

  return {
    check(sent) {
      if (isOpen) return anybody;
      const token = readBearer(sent.header);
      if (token === undefined) return { status: 401, reason: describeMissing(parts), challenge: challenge.render() };
      const digest = hash("sha256", token, "buffer");
      const found = known.find(digest);
      if (found !== undefined) return admitToken(found, sent, guesses);
      const key = checkJwt === undefined ? "" : digest.toString("latin1");
      const caller = jwts.find(key);
      if (caller !== undefined) return caller;
      // A signature cannot be guessed, so it is looked at however many tokens of this address were wrong.
      return checkJwt !== undefined && token.split(".", 4).length === 3
        ? take(token, key, sent)
        : denyToken(undefined, sent, parts);
    },
    isGood: (caller) => (isOpen ? caller === anybody : known.callers.has(caller) || jwts.isGood(caller)),
    setTokens(others) {
      const { callers } = known;
      known = known.replace(others);
      isOpen = false;
      return callers.difference(known.callers);
    },
  };
}

/** A token that a person may have thought of must not be found by trying: then it is not looked at, unless its owner came before. */
function admitToken({ caller, isGuessable }: KnownToken, sent: Sent, guesses: Guesses | undefined): Caller | Denial {
  const waitMs = isGuessable ? (guesses?.waitMs(sent.network, sent.nowMs) ?? 0) : 0;
  if (waitMs > 0 && guesses?.isRemembered(sent.network, caller.id) !== true) return tooManyGuesses(waitMs);
  guesses?.remember(sent.network, caller.id);
  return caller;
}

function tooManyGuesses(retryAfterMs: number): Denial {
  return { status: 429, reason: "too many wrong tokens came from this address; wait", retryAfterMs };
}

/** Tells whether somebody was not let in. */
export function isDenial(answer: Caller | Denial): answer is Denial {
  return "status" in answer;
}

function denyToken(answer: JwtAnswer | undefined, sent: Sent, { challenge, guesses }: AccessParts): Denial {
  if (answer?.status === "unavailable") {
    const reason = "tokens cannot be checked now, since the authorization server gives no keys";
    return { status: 503, reason, retryAfterMs: 5000 };
  }
  const waitMs = guesses?.waitMs(sent.network, sent.nowMs) ?? 0;
  if (waitMs > 0) return tooManyGuesses(waitMs);
  guesses?.note(sent.network, sent.nowMs);
  const why = answer?.status === "wrong" ? `: ${answer.reason}` : "";
  return {
    status: 401,
    reason: `the token is not right${why}`,
    challenge: challenge.render({ error: "invalid_token" }),
  };
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
