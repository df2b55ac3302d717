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
  const secrets = await findSecrets(source, options.findSecret);
  const { StreamableHTTPClientTransport: HttpTransport } = await import("@modelcontextprotocol/client");
  const provider = source.oauth === undefined ? {} : { oauth: openProvider(source, secrets, options) };
  const transport = new HttpTransport(new URL(source.url), {
    fetch: limitBody(fetch, options.maxBytes),
    requestInit: { headers: toHeaders(source, secrets) },
    ...(provider.oauth !== undefined && { authProvider: provider.oauth }),
  });
  return { transport, secrets, ...provider };
}

async function findSecrets(source: McpAddress, findSecret: FindSecret): Promise<Secrets> {
  const { token, headers = {}, oauth } = source;
  const { protocol, hostname, origin } = new URL(source.url);
  const names = [token, ...Object.values(headers), oauth?.clientSecret].filter((name) => name !== undefined);
  const refuse = (reason: string): KitbagError =>
    new KitbagError("mcp-failed", { server: toSourceKey(source), reason });
  if ((names.length > 0 || oauth !== undefined) && protocol === "http:" && !isLoopback(hostname)) {
    throw refuse(`${origin} is not encrypted, and secrets would go there; use https`);
  }
  const secrets = await loadSecrets({ permissions: { env: names } }, findSecret);
  const missing = names.find((name) => secrets.values[name] === undefined);
  if (missing === undefined) return secrets;
  throw refuse(`the secret ${missing} is not set; put it in the environment or in secrets.env in Kitbag's home`);
}

function openProvider(source: McpAddress, { values }: Secrets, { directory, logIn }: AddressOptions): OAuthFile {
  const name = source.oauth?.clientSecret;
  const clientSecret = name === undefined ? undefined : values[name];
  return oauthFile(source, {
    directory,
    ...(clientSecret !== undefined && { clientSecret }),
    ...(logIn !== undefined && { logIn }),
  });
}

function toHeaders({ token, headers = {} }: McpAddress, { values }: Secrets): Record<string, string> {
  const own = Object.entries(headers).map(([header, name]) => [header, values[name] ?? ""] as const);
  const bearer = token === undefined ? [] : ([["authorization", `Bearer ${values[token]}`]] as const);
  return Object.fromEntries([...own, ...bearer]);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/u.test(host);
}
