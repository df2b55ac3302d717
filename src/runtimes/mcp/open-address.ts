import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import type { McpAddress } from "../../core/mcp-source.ts";
import { listInnerHost, type Reach, toTarget, guardedFetch } from "../../sandbox/download/guarded-fetch.ts";
import { parseNetworkRule, showTarget } from "../../sandbox/egress/network-rule.ts";
import { type FindSecret, loadSecrets, type Secrets } from "../script/load-secrets.ts";
import { toMcpFailure } from "./connect-server.ts";
import { type LogIn, oauthFile, type OAuthFile } from "./oauth-file.ts";

/** How servers are reached over HTTP. */
export interface AddressOptions {
  readonly findSecret: FindSecret;
  /** Where tokens of log-ins are kept. */
  readonly directory: string;
  /** The largest message. */
  readonly maxBytes: number;
  readonly logIn?: LogIn | undefined;
  /** @default the system's resolver */
  readonly lookup?: Reach["lookup"];
}

/** A way to a server that is not connected yet. */
export interface OpenAddress {
  readonly transport: StreamableHTTPClientTransport;
  readonly secrets: Secrets;
  readonly oauth?: OAuthFile;
}

/**
 * Makes the way to a server over HTTP. Secrets go to the origin of the address and to no other: redirects elsewhere are refused. Neither
 * the server nor its log-in leads to this machine or a private network, unless the source names that host.
 *
 * @throws {KitbagError} `mcp-failed` if a secret is missing, or would be sent in the clear.
 */
export async function openAddress(source: McpAddress, options: AddressOptions): Promise<OpenAddress> {
  const secrets = await findSecrets(source, options.findSecret);
  const { StreamableHTTPClientTransport: HttpTransport } = await import("@modelcontextprotocol/client");
  const provider = source.oauth === undefined ? {} : { oauth: openProvider(source, secrets, options) };
  const transport = new HttpTransport(new URL(source.url), {
    fetch: limitBody(withHeaders(source, secrets, guardedFetch(toReach(source, options.lookup))), options.maxBytes),
    ...(provider.oauth !== undefined && { authProvider: provider.oauth }),
  });
  return { transport, secrets, ...provider };
}

async function findSecrets(source: McpAddress, findSecret: FindSecret): Promise<Secrets> {
  const { token, headers = {}, oauth } = source;
  const { protocol, hostname, origin } = new URL(source.url);
  const names = [token, ...Object.values(headers), oauth?.clientSecret].filter((name) => name !== undefined);
  if ((names.length > 0 || oauth !== undefined) && protocol === "http:" && !isLoopback(hostname)) {
    throw toMcpFailure(source, `${origin} is not encrypted, and secrets would go there; use https`);
  }
  const secrets = await loadSecrets({ permissions: { env: names } }, findSecret);
  const missing = names.find((name) => secrets.values[name] === undefined);
  if (missing === undefined) return secrets;
  const cure = "put it in the environment or in secrets.env in Kitbag's home";
  throw toMcpFailure(source, `the secret ${missing} is not set; ${cure}`);
}

function openProvider(source: McpAddress, { values }: Secrets, { directory, logIn }: AddressOptions): OAuthFile {
  const name = source.oauth?.clientSecret;
  const clientSecret = name === undefined ? undefined : values[name];
  return oauthFile(source, { directory, clientSecret, logIn });
}

/** What is named in plain sight is meant; a name that leads there is not. */
function toReach({ url, oauth, skill, allowHosts = [] }: McpAddress, lookup: Reach["lookup"]): Reach {
  const server = new URL(url);
  const issuer = URL.parse(oauth?.issuer ?? "");
  const named = [server, ...(issuer === null ? [] : [issuer])].flatMap(listInnerHost);
  return {
    allowHosts: skill === undefined ? [...allowHosts, ...named] : allowHosts.flatMap(listAddress),
    plainHosts: [showTarget(toTarget(server))],
    cure:
      skill === undefined
        ? 'if that is meant, list the host in "allowHosts" of the server'
        : "if that is meant, list the address in the network permission of the skill",
    lookup,
  };
}

/** The address of a network rule with its ports; a rule for a name gives access to no private address. */
function listAddress(rule: string): string[] {
  const { kind, host, ports } = parseNetworkRule(rule);
  return kind === "address" ? ports.map((port) => showTarget({ kind, host, port })) : [];
}

/** Adds the source's headers to requests for its own origin: a log-in asks other servers too, and they must not get the secrets. */
function withHeaders(source: McpAddress, secrets: Secrets, fetchIt: typeof fetch): typeof fetch {
  const own = Object.entries(toHeaders(source, secrets));
  const { origin } = new URL(source.url);
  return (input, init) => {
    const address = input instanceof Request ? input.url : String(input);
    if (own.length === 0 || new URL(address).origin !== origin) return fetchIt(input, init);
    const headers = new Headers(init?.headers);
    for (const [name, value] of own) if (!headers.has(name)) headers.set(name, value);
    return fetchIt(input, { ...init, headers });
  };
}

function toHeaders({ token, headers = {} }: McpAddress, { values }: Secrets): Record<string, string> {
  const own = Object.entries(headers).map(([header, name]) => [header, values[name] ?? ""] as const);
  const bearer = token === undefined ? [] : ([["authorization", `Bearer ${values[token]}`]] as const);
  return Object.fromEntries([...own, ...bearer]);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/u.test(host);
}

const lineFeed = 10;

/**
 * Wraps `fetch` so that no answer is larger than `maxBytes`; of a stream of events, no event. Reading more is an error, and the
 * connection is cut.
 */
function limitBody(fetchIt: typeof fetch, maxBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetchIt(input, init);
    if (response.body === null) return response;
    const isStream = /^text\/event-stream/iu.test(response.headers.get("content-type") ?? "");
    const body = response.body.pipeThrough(limitBytes(maxBytes, isStream));
    const { status, statusText, headers } = response;
    const limited = new Response(body, { status, statusText, headers });
    // Where an answer came from decides what its relative addresses mean.
    Object.defineProperty(limited, "url", { value: response.url });
    return limited;
  };
}

function limitBytes(maxBytes: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      // An event ends with an empty line; whichever line is long, the event is.
      const newest = isStream ? chunk.lastIndexOf(lineFeed) : -1;
      bytes = newest >= 0 ? chunk.length - newest : bytes + chunk.length;
      if (bytes > maxBytes) controller.error(new Error(`The server sent more than ${maxBytes} bytes at once`));
      else controller.enqueue(chunk);
    },
  });
}
