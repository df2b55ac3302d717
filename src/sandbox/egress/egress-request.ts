import type { IncomingMessage, RequestOptions } from "node:http";

import { untilAborted } from "../../core/async.ts";
import { KitbagError, describeCause, isKitbagError } from "../../core/errors.ts";
import { fixedLookup, loadHttp } from "./client.ts";
import {
  parseHost,
  type Target,
  parseNetworkRule,
  type NetworkRule,
  resolveTarget,
  showTarget,
  systemLookup,
  type Lookup,
} from "./network-rule.ts";
import { createLedger, type EgressConnection, type Entry } from "./ledger.ts";

/** One request over HTTP or HTTPS. */
export interface EgressRequest {
  readonly url: string;
  /** @default "GET" */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** What came back. */
export interface EgressResponse {
  readonly status: number;
  /** Names in lower case; several values of one name are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Where the answer came from, after redirects. */
  readonly url: string;
}

/** How far {@link egressRequest} goes. */
export interface EgressRequestOptions {
  readonly signal?: AbortSignal;
  /** For all of it, redirects included. @default 30000 */
  readonly limitMs?: number;
  /** @default 1048576 */
  readonly maxRequestBytes?: number;
  /** @default 8388608 */
  readonly maxResponseBytes?: number;
  /** Zero answers with the redirect itself. @default 5 */
  readonly maxRedirects?: number;
  /** @default the system's resolver */
  readonly lookup?: Lookup;
  /** Called for each connection that ended or was refused, redirects included. Must not throw. */
  readonly onConnection?: (connection: EgressConnection) => void;
  /** Certificates to trust instead of the usual ones, as PEM. */
  readonly ca?: string;
}

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const redirects = new Set([301, 302, 303, 307, 308]);
const ownHeaders = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const headersForOneHost = new Set(["authorization", "cookie", "proxy-authorization"]);
const headerBytes = 32 * 1024;

/**
 * Makes one request, if `rules` of the permission `network` allow it; each redirect is checked in the same way, and what is meant
 * for one host alone (`authorization`, `cookie`) does not follow it to another. Bodies are not decompressed.
 *
 * @throws {KitbagError} `network-refused` if no rule allows it, `network-failed` if it did not work or was too large,
 * `network-rule-invalid` if a rule is wrong; whatever `signal` was aborted with
 */
export async function egressRequest(
  rules: readonly string[],
  request: EgressRequest,
  options: EgressRequestOptions = {},
): Promise<EgressResponse> {
  const { limitMs = 30_000, maxRedirects = 5 } = options;
  const parsed = rules.map(parseNetworkRule);
  const late = AbortSignal.timeout(limitMs);
  const signal = options.signal === undefined ? late : AbortSignal.any([options.signal, late]);
  const ledger = createLedger({ bytes: Infinity }, options.onConnection);
  let next = prepare(request, options);
  for (let hop = 0; ; hop++) {
    const entry = ledger.open();
    entry.protocol = "request";
    const response = await send(next, parsed, { ...options, signal, entry }).catch((cause: unknown) => {
      entry.end(isKitbagError(cause) && "reason" in cause.details ? cause.details.reason : describeCause(cause, 200));
      options.signal?.throwIfAborted();
      if (isKitbagError(cause)) throw cause;
      const reason = late.aborted ? `it was not done after ${limitMs} ms` : describeCause(cause);
      throw new KitbagError("network-failed", { target: next.url.origin, reason }, { cause });
    });
    entry.end();
    const location = redirects.has(response.status) ? response.headers["location"] : undefined;
    if (location === undefined || maxRedirects === 0) return response;
    if (hop >= maxRedirects) throw failed(next.url.origin, `there were more than ${maxRedirects} redirects`);
    next = toRedirected(next, response.status, location);
  }
}

interface Prepared {
  readonly url: URL;
  readonly method: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

function prepare(request: EgressRequest, { maxRequestBytes = 1024 ** 2 }: EgressRequestOptions): Prepared {
  const url = parseUrl(String(request.url));
  const method = (request.method ?? "GET").toUpperCase();
  if (!methods.has(method)) throw failed(url.origin, `the method is one of ${[...methods].join(", ")}`);
  const body = typeof request.body === "string" ? Buffer.from(request.body) : (request.body ?? new Uint8Array());
  if (body.length > maxRequestBytes) throw failed(url.origin, `the body has more than ${maxRequestBytes} bytes`);
  const headers = new Map([["accept-encoding", "identity"]]);
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    const lower = name.toLowerCase();
    if (ownHeaders.has(lower)) throw failed(url.origin, `the header "${lower}" cannot be set`);
    headers.set(lower, String(value));
  }
  return { url, method, headers, body };
}

function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null) throw failed(text.slice(0, 100), "it is not a URL");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw failed(text.slice(0, 100), "only http and https");
  if (url.username !== "" || url.password !== "") throw failed(url.origin, "a URL with a user name is not used");
  return url;
}

/** What `URL` made of the host is both checked and dialled, so there is only one reading of it. */
function toTarget(url: URL): Target {
  const host = parseHost(url.hostname);
  if ("wrong" in host) throw failed(url.origin, host.wrong);
  return { ...host, port: url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port) };
}

interface Sending extends EgressRequestOptions {
  readonly signal: AbortSignal;
  readonly entry: Entry;
}

async function send(request: Prepared, rules: readonly NetworkRule[], options: Sending): Promise<EgressResponse> {
  const { url, method } = request;
  const target = toTarget(url);
  options.entry.target = target;
  const addresses = await untilAborted(resolveTarget(target, rules, options.lookup ?? systemLookup), options.signal);
  if ("reason" in addresses) {
    const code = addresses.kind === "name" ? "network-failed" : "network-refused";
    throw new KitbagError(code, { target: showTarget(target), reason: addresses.reason });
  }
  const incoming = await ask(request, options.entry, {
    host: target.host,
    port: target.port,
    path: url.pathname + url.search,
    method,
    headers: toHeaderList(request),
    lookup: fixedLookup(addresses),
    agent: false,
    maxHeaderSize: headerBytes,
    signal: options.signal,
    ...(target.kind === "name" && { servername: target.host }),
    ...(options.ca !== undefined && { ca: options.ca }),
  } satisfies RequestOptions & { servername?: string; ca?: string });
  return {
    status: incoming.statusCode ?? 0,
    headers: toRecord(incoming),
    body: await readBody(incoming, url.origin, options.maxResponseBytes ?? 8 * 1024 ** 2),
    url: url.href,
  };
}

/** A flat list: a header named `__proto__` is then just a header. */
function toHeaderList({ url, method, headers, body }: Prepared): string[] {
  const length = body.length > 0 || method.startsWith("P") ? ["content-length", String(body.length)] : [];
  return ["host", url.host, ...[...headers].flat(), "connection", "close", ...length];
}

async function ask({ url, body }: Prepared, entry: Entry, options: RequestOptions): Promise<IncomingMessage> {
  const http = await loadHttp(url);
  return new Promise((resolve, reject) => {
    const outgoing = http.request(options);
    outgoing.once("socket", (socket) => socket.once("connect", () => entry.watch(socket)));
    outgoing.once("response", resolve);
    // Also after the answer began: then the reader of the body rejects.
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

async function readBody(incoming: IncomingMessage, origin: string, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw failed(origin, `the answer has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

function toRecord({ rawHeaders }: IncomingMessage): Record<string, string> {
  const values = new Map<string, string[]>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    values.set(name, [...(values.get(name) ?? []), rawHeaders[index + 1] ?? ""]);
  }
  return Object.fromEntries([...values].map(([name, list]) => [name, list.join(", ")]));
}

function toRedirected(last: Prepared, status: number, location: string): Prepared {
  const url = parseUrl(location, last.url);
  if (last.url.protocol === "https:" && url.protocol === "http:") {
    throw failed(last.url.origin, "it redirects from https to http");
  }
  const asGet = status === 303 || (last.method === "POST" && status < 303);
  const headers = new Map(
    [...last.headers].filter(([name]) => keepsHeader(name, url.origin === last.url.origin, asGet)),
  );
  const method = asGet && last.method !== "HEAD" ? "GET" : last.method;
  return { url, method, headers, body: asGet ? new Uint8Array() : last.body };
}

function keepsHeader(name: string, sameOrigin: boolean, asGet: boolean): boolean {
  if (asGet && name.startsWith("content-")) return false;
  return sameOrigin || !headersForOneHost.has(name);
}

function failed(target: string, reason: string): KitbagError<"network-failed"> {
  return new KitbagError("network-failed", { target, reason });
}
