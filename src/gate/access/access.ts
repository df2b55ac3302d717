import type * as Jose from "jose";

import type { Caller, GateOAuth, GateToken } from "../gate.ts";
import { hasScope } from "../../core/scopes.ts";
import type { Challenge } from "./challenge.ts";
import type { Guesses } from "./guesses.ts";
import { createJwtCheck, type JwtAnswer } from "./jwt-check.ts";
import { anybody, createTokenCheck, readBearer } from "./token-check.ts";

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

/** Tells who somebody is. The answer comes at once unless a JWT is seen for the first time. */
export type Access = (sent: Sent) => Caller | Denial | Promise<Caller | Denial>;

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

/** Makes the check of who is let in. Without tokens and OAuth everybody is. */
export function createAccess(parts: AccessParts): Access {
  const { tokens, oauth, jose, challenge, guesses } = parts;
  if (tokens.length === 0 && oauth === undefined) return () => anybody;
  const checkJwt = oauth && jose && createJwtCheck(jose, oauth, parts.audience);
  const tokenCheck = createTokenCheck(tokens);
  const known = createKnownJwts();

  const take = async (token: string, key: string, sent: Sent): Promise<Caller | Denial> => {
    const answer = await checkJwt?.(token);
    if (answer?.status !== "ok") return denyJwt(answer, sent, parts);
    const denial = checkRequired(answer.caller, parts);
    if (denial !== undefined) return denial;
    known.keep(key, answer.caller, Math.min(answer.expiresAt, Date.now() + longestMs));
    guesses?.remember(sent.network, answer.caller.id);
    return answer.caller;
  };

  return (sent) => {
    const token = readBearer(sent.header);
    if (token === undefined) return { status: 401, reason: describeMissing(parts), challenge: challenge.render() };
    const digest = tokenCheck.digest(token);
    const key = checkJwt === undefined ? "" : digest.toString("latin1");
    const caller = tokenCheck.find(digest) ?? known.find(key);
    const waitMs = guesses?.waitMs(sent.network, sent.nowMs) ?? 0;
    if (waitMs > 0 && (caller === undefined || guesses?.isRemembered(sent.network, caller.id) !== true)) {
      return { status: 429, reason: "too many wrong tokens came from this address; wait", retryAfterMs: waitMs };
    }
    if (caller !== undefined) {
      guesses?.remember(sent.network, caller.id);
      return caller;
    }
    return checkJwt !== undefined && token.split(".", 4).length === 3
      ? take(token, key, sent)
      : denyJwt(undefined, sent, parts);
  };
}

/** Tells whether somebody was not let in. */
export function isDenial(answer: Caller | Denial): answer is Denial {
  return "status" in answer;
}

function denyJwt(answer: JwtAnswer | undefined, sent: Sent, { challenge, guesses }: AccessParts): Denial {
  if (answer?.status === "unavailable") {
    const reason = "tokens cannot be checked now, since the authorization server gives no keys";
    return { status: 503, reason, retryAfterMs: 5000 };
  }
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
  keep(key: string, caller: Caller, untilMs: number): void;
}

/** A signature need not be checked for every request of a token; that it is not expired must. */
function createKnownJwts(): KnownJwts {
  const byKey = new Map<string, { readonly caller: Caller; readonly untilMs: number }>();

  return {
    find(key) {
      const entry = byKey.get(key);
      if (entry === undefined) return undefined;
      if (entry.untilMs > Date.now()) return entry.caller;
      byKey.delete(key);
      return undefined;
    },
    keep(key, caller, untilMs) {
      if (byKey.size >= mostJwts) byKey.clear();
      byKey.set(key, { caller, untilMs });
    },
  };
}
