import type * as Jose from "jose";

import { describeCause } from "../../core/errors.ts";
import type { Caller, GateOAuth } from "../gate.ts";
import { findKeys } from "./find-keys.ts";

/** What a JWT was found to be. `unavailable` says that nobody can tell now. */
export type JwtAnswer =
  | { readonly status: "ok"; readonly caller: Caller; readonly expiresAt: number }
  | { readonly status: "wrong"; readonly reason: string }
  | { readonly status: "unavailable"; readonly reason: string };

/** Signatures that only the authorization server can make: a secret that both know would be known to this process too. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** How far the clocks of two machines may be apart. */
const clockToleranceSeconds = 5;

/** How soon the authorization server is asked again after it failed. */
const pauseMs = 5000;

/** Makes the check of JWTs that `oauth.issuer` gave for `audience`. Its keys are read when the first token comes. */
export function createJwtCheck(
  jose: typeof Jose,
  oauth: GateOAuth,
  audience: readonly string[],
): (token: string) => Promise<JwtAnswer> {
  let keys: Promise<Jose.RemoteJWKSet> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  const loadKeys = async (): Promise<Jose.RemoteJWKSet> => {
    try {
      return jose.createRemoteJWKSet(await findKeys(oauth), { timeoutDuration: 5000 });
    } catch (cause) {
      keys = undefined;
      throw cause;
    }
  };

  return async (token) => {
    if (performance.now() - failedAt < pauseMs) return unavailable("it failed a moment ago");
    try {
      keys ??= loadKeys();
      const { payload } = await jose.jwtVerify(token, await keys, {
        issuer: oauth.issuer,
        audience: [...audience],
        algorithms,
        clockTolerance: clockToleranceSeconds,
        requiredClaims: ["exp"],
      });
      return toAnswer(payload);
    } catch (cause) {
      if (isAboutToken(cause, jose.errors)) return wrong(describeWrong(cause));
      failedAt = performance.now();
      return unavailable(describeCause(cause, 200));
    }
  };
}

type JoseErrors = typeof Jose.errors;

/** The rest are failures of the network or of the authorization server: the token may be right. */
function isAboutToken(cause: unknown, errors: JoseErrors): cause is InstanceType<JoseErrors["JOSEError"]> {
  if (!(cause instanceof errors.JOSEError)) return false;
  return (
    !(cause instanceof errors.JWKSTimeout || cause instanceof errors.JWKSInvalid) && cause.code !== "ERR_JOSE_GENERIC"
  );
}

const reasons: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: "it is expired",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "its signature is wrong",
  ERR_JWKS_NO_MATCHING_KEY: "no key of the issuer fits it",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "several keys of the issuer fit it; it needs a kid",
  ERR_JOSE_ALG_NOT_ALLOWED: "its algorithm is not allowed",
  ERR_JOSE_NOT_SUPPORTED: "its algorithm is not allowed",
};

function describeWrong(cause: InstanceType<JoseErrors["JOSEError"]>): string {
  if ("claim" in cause && cause.code === "ERR_JWT_CLAIM_VALIDATION_FAILED") {
    return `its claim "${String(cause.claim)}" is not as expected`;
  }
  return reasons[cause.code] ?? "it is no JWT";
}

function toAnswer(payload: Jose.JWTPayload): JwtAnswer {
  const { exp, sub, client_id: client, azp } = payload;
  const id = [sub, client, azp].find((name): name is string => typeof name === "string" && name !== "");
  if (exp === undefined || id === undefined) return wrong("it does not say whose it is");
  return {
    status: "ok",
    caller: { id: `oauth:${id.slice(0, 200)}`, scopes: readScopes(payload) },
    expiresAt: exp * 1000,
  };
}

/** Scopes as RFC 9068 has them, or as some servers do in `scp`. */
function readScopes({ scope, scp }: Jose.JWTPayload): ReadonlySet<string> {
  const given = scope ?? scp;
  const list: readonly unknown[] = typeof given === "string" ? given.split(" ") : Array.isArray(given) ? given : [];
  return new Set(list.filter((name): name is string => typeof name === "string" && name !== ""));
}

function wrong(reason: string): JwtAnswer {
  return { status: "wrong", reason };
}

function unavailable(reason: string): JwtAnswer {
  return { status: "unavailable", reason };
}
