import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { KitbagError } from "../../core/errors.ts";
import { toSourceKey, type McpAddress } from "../../core/mcp-code.ts";
import { loadSecrets, type FindSecret, type Secrets } from "../script/load-secrets.ts";
import { limitBody } from "./limit-body.ts";
import { oauthFile, type LogIn, type OAuthFile } from "./oauth-file.ts";

/** How servers are reached over HTTP. */
export interface AddressOptions {
  readonly findSecret: FindSecret;
  /** Where tokens of log-ins are kept. */
  readonly directory: string;
  /** The largest message. */
  readonly maxBytes: number;
  readonly logIn?: LogIn;
}

/** A way to a server that is not connected yet. */
export interface OpenAddress {
  readonly transport: StreamableHTTPClientTransport;
  readonly secrets: Secrets;
  readonly oauth?: OAuthFile;
}

/**
 * Makes the way to a server over HTTP. Secrets go to the origin of the address and to no other: redirects elsewhere are refused.
 *
 * @throws {KitbagError} `mcp-failed` if a secret is missing, or would be sent in the clear.
 */
export async function openAddress(source: McpAddress, options: AddressOptions): Promise<OpenAddress> {
  const { token, headers = {}, oauth } = source;
  const url = new URL(source.url);
  const names = [token, ...Object.values(headers), oauth?.clientSecret].filter((name) => name !== undefined);
  const refuse = (reason: string): KitbagError =>
    new KitbagError("mcp-failed", { server: toSourceKey(source), reason });
  if ((names.length > 0 || oauth !== undefined) && url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw refuse(`${url.origin} is not encrypted, and secrets would go there; use https`);
  }
  const secrets = await loadSecrets({ permissions: { env: names } }, options.findSecret);
  const missing = names.find((name) => secrets.values[name] === undefined);
  if (missing !== undefined) {
    throw refuse(`the secret ${missing} is not set; put it in the environment or in secrets.env in Kitbag's home`);
  }
  const { StreamableHTTPClientTransport: HttpTransport } = await import("@modelcontextprotocol/client");
  const clientSecret = oauth?.clientSecret === undefined ? undefined : secrets.values[oauth.clientSecret];
  const provider =
    oauth === undefined
      ? undefined
      : oauthFile(source, {
          directory: options.directory,
          ...(clientSecret !== undefined && { clientSecret }),
          ...(options.logIn !== undefined && { logIn: options.logIn }),
        });
  const transport = new HttpTransport(url, {
    fetch: limitBody(fetch, options.maxBytes),
    requestInit: { headers: toHeaders(source, secrets) },
    ...(provider !== undefined && { authProvider: provider }),
  });
  return { transport, secrets, ...(provider !== undefined && { oauth: provider }) };
}

function toHeaders({ token, headers = {} }: McpAddress, { values }: Secrets): Record<string, string> {
  const own = Object.entries(headers).map(([header, name]) => [header, values[name] ?? ""] as const);
  const bearer = token === undefined ? [] : ([["authorization", `Bearer ${values[token]}`]] as const);
  return Object.fromEntries([...own, ...bearer]);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/u.test(host);
}
