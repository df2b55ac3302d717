import { hash } from "node:crypto";

import type * as Jose from "jose";

import { describeCause, KitbagError } from "../../core/errors.ts";
import type { Caller, GateOAuth } from "../gate.ts";

/** What a JWT was found to be. `unavailable`: it cannot be checked now. */
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
export const clockToleranceMs = 5000;

/** How soon the authorization server is asked again after it failed. */
const pauseMs = 5000;

/**
 * Makes the check of JWTs that `oauth.issuer` gave for `audience`. Its keys are read when the first token comes; those that were read
 * serve on while the issuer fails.
 */
export function createJwtCheck(
  jose: typeof Jose,
  oauth: GateOAuth,
  audience: readonly string[],
): (token: string) => Promise<JwtAnswer> {
  const keys = createIssuerKeys(jose, oauth);
  const verify = async (token: string, set: Jose.JWTVerifyGetKey): Promise<JwtAnswer> => {
    const { payload } = await jose.jwtVerify(token, set, {
      issuer: oauth.issuer,
      audience: [...audience],
      algorithms,
      clockTolerance: clockToleranceMs / 1000,
      requiredClaims: ["exp"],
    });
    return toAnswer(payload);
  };
  const verifyKept = async (token: string, kept: Jose.JWTVerifyGetKey): Promise<JwtAnswer> => {
    try {
      return await verify(token, kept);
    } catch (cause) {
      return toKeptAnswer(cause, jose.errors);
    }
  };

  return async (token) => {
    try {
      return await verify(token, await keys.current());
    } catch (cause) {
      if (isAboutToken(cause, jose.errors)) return wrong(describeWrong(cause));
      const kept = await keys.kept();
      if (kept === undefined) return unavailable(describeCause(cause, 200));
      return verifyKept(token, kept);
    }
  };
}

/** While the issuer fails, it is unknown whether it has a newer key that would fit. */
function toKeptAnswer(cause: unknown, errors: JoseErrors): JwtAnswer {
  if (cause instanceof errors.JWKSNoMatchingKey || !isAboutToken(cause, errors)) {
    return unavailable(describeCause(cause, 200));
  }
  return wrong(describeWrong(cause));
}

interface IssuerKeys {
  /** The keys, read again when they are old or none fits. Rejects while the issuer fails. */
  current(): Promise<Jose.JWTVerifyGetKey>;
  /** Those that were read before, after `current` or a key of it failed; `undefined` if no keys were read. */
  kept(): Promise<Jose.JWTVerifyGetKey | undefined>;
}

function createIssuerKeys(jose: typeof Jose, oauth: GateOAuth): IssuerKeys {
  let remote: Promise<Jose.RemoteJWKSet> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  const find = async (): Promise<Jose.RemoteJWKSet> =>
    jose.createRemoteJWKSet(await findKeys(oauth), { timeoutDuration: 5000 });

  return {
    async current() {
      if (performance.now() - failedAt < pauseMs) throw new Error("it failed a moment ago");
      remote ??= find();
      return remote;
    },
    async kept() {
      if (performance.now() - failedAt >= pauseMs) failedAt = performance.now();
      try {
        const set = (await remote)?.jwks();
        return set && jose.createLocalJWKSet(set);
      } catch {
        // Where its keys are was not found out.
        remote = undefined;
        return undefined;
      }
    },
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
  const { exp } = payload;
  const id = toCallerId(payload);
  if (exp === undefined || id === undefined) return wrong("it does not say whose it is");
  return { status: "ok", caller: { id, scopes: readScopes(payload) }, expiresAt: exp * 1000 };
}

/** A person and a program with the same name are two callers. */
function toCallerId({ sub, client_id: client, azp }: Jose.JWTPayload): string | undefined {
  if (isName(sub)) return `oauth:${toPlainName(sub)}`;
  const program = [client, azp].find(isName);
  return program === undefined ? undefined : `oauth-client:${toPlainName(program)}`;
}

function isName(name: unknown): name is string {
  return typeof name === "string" && name !== "";
}

const longestName = 200;
/** What does not show, or has a meaning for terminals and stores. */
const special = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const digestEnd = /#[\da-f]{64}$/u;

/** A name that is long or has special characters ends with its digest: no two names become one. */
function toPlainName(name: string): string {
  if (name.length <= longestName && name.search(special) === -1 && !digestEnd.test(name)) return name;
  return `${name.replaceAll(special, "?").slice(0, longestName).toWellFormed()}#${hash("sha256", name, "hex")}`;
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

/** The longest wait for the authorization server. */
const limitMs = 5000;

/** Finds where the keys of an authorization server are, through its metadata (RFC 8414, then OpenID Connect). */
async function findKeys({ issuer, jwksUrl }: GateOAuth): Promise<URL> {
  if (jwksUrl !== undefined) return new URL(jwksUrl);
  for (const address of toMetadataAddresses(issuer)) {
    const found = await readMetadata(address, issuer);
    if (found !== undefined) return found;
  }
  throw new KitbagError("network-failed", {
    target: issuer,
    reason: "neither its OAuth nor its OpenID metadata name its keys; set jwksUrl",
  });
}

function toMetadataAddresses(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/u, "");
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
}

/** Metadata of another issuer are not trusted: a host that can serve them could let any caller in. */
async function readMetadata(address: string, issuer: string): Promise<URL | undefined> {
  const response = await fetch(address, { redirect: "error", signal: AbortSignal.timeout(limitMs) });
  if (!response.ok) return undefined;
  const metadata: unknown = await response.json().catch(() => undefined);
  if (typeof metadata !== "object" || metadata === null) return undefined;
  if (!("issuer" in metadata) || metadata.issuer !== issuer) return undefined;
  if (!("jwks_uri" in metadata) || typeof metadata.jwks_uri !== "string") return undefined;
  return URL.canParse(metadata.jwks_uri) ? new URL(metadata.jwks_uri) : undefined;
}
