import { KitbagError } from "../../core/errors.ts";
import type { GateOAuth } from "../gate.ts";

/** The longest wait for the authorization server. */
const limitMs = 5000;

/** Finds where the keys of an authorization server are, through its metadata (RFC 8414, then OpenID Connect). */
export async function findKeys({ issuer, jwksUrl }: GateOAuth): Promise<URL> {
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

/** Metadata of another issuer are not believed: whoever can serve them could let anybody in. */
async function readMetadata(address: string, issuer: string): Promise<URL | undefined> {
  const response = await fetch(address, { redirect: "error", signal: AbortSignal.timeout(limitMs) });
  if (!response.ok) return undefined;
  const metadata: unknown = await response.json().catch(() => undefined);
  if (typeof metadata !== "object" || metadata === null) return undefined;
  if (!("issuer" in metadata) || metadata.issuer !== issuer) return undefined;
  if (!("jwks_uri" in metadata) || typeof metadata.jwks_uri !== "string") return undefined;
  return URL.canParse(metadata.jwks_uri) ? new URL(metadata.jwks_uri) : undefined;
}
