import type { GateOAuth } from "../gate.ts";

/** What clients are told about how to get a token. */
export interface Challenge {
  /** The paths of the metadata, and what they answer; none without OAuth. */
  readonly documents: ReadonlyMap<string, string>;
  /** A `WWW-Authenticate` header. */
  render(problem?: { readonly error: string; readonly scopes?: readonly string[] }): string;
}

const wellKnown = "/.well-known/oauth-protected-resource";

/** Makes the metadata of `resource` (RFC 9728) and the headers that point to it. Without `oauth`, only plain headers. */
export function createChallenge(oauth: GateOAuth | undefined, resource: string): Challenge {
  if (oauth === undefined) {
    return {
      documents: new Map(),
      render: (problem) => join([toError(problem?.error), toScope(problem?.scopes ?? [])]),
    };
  }
  const { requiredScopes = [], scopes = requiredScopes } = oauth;
  const { origin, pathname } = new URL(resource);
  const path = pathname === "/" ? "" : pathname;
  const metadata = `resource_metadata="${origin}${wellKnown}${path}"`;
  const document = JSON.stringify({
    resource,
    authorization_servers: [oauth.issuer],
    bearer_methods_supported: ["header"],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
  });

  return {
    documents: new Map([
      [wellKnown, document],
      [wellKnown + path, document],
    ]),
    render: (problem) => join([toError(problem?.error), toScope(problem?.scopes ?? requiredScopes), metadata]),
  };
}

function join(parts: readonly string[]): string {
  return `Bearer ${parts.filter((part) => part !== "").join(", ")}`.trimEnd();
}

function toError(error: string | undefined): string {
  return error === undefined ? "" : `error="${error}"`;
}

/** Quotes and control characters cannot be in a scope, and must not be in a header. */
function toScope(scopes: readonly string[]): string {
  const text = scopes.join(" ").replaceAll(/[^\u0020\u0021\u0023-\u005B\u005D-\u007E]/gu, "");
  return text === "" ? "" : `scope="${text}"`;
}
