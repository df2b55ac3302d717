import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { LookupFunction } from "node:net";
import { addAbortSignal, Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

import { describeCause, isKitbagError, KitbagError } from "../../core/errors.ts";
import { describeInnerAddress, toAddress } from "../egress/address.ts";
import { fixedLookup, loadHttp } from "../egress/client.ts";
import { parseHost, showTarget, systemLookup, type Target, type Lookup } from "../egress/network-rule.ts";

/** How long a connection waits for the next request; servers close theirs after five seconds. */
const idleMs = 4000;
const headerBytes = 64 * 1024;
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Makes a `fetch` that asks only what `reach` allows. Each new connection looks its name up once, checks every address, and connects
 * to what was checked; a connection that is open is used again.
 *
 * Contract: a redirect is never followed; it is answered with `redirect: "manual"`, and is an error otherwise. Bodies are not
 * decompressed. It rejects as `fetch` does: with the signal's reason, or with a `TypeError`; if an address was refused, its cause is
 * the `network-refused`.
 */
export function guardedFetch(reach: Reach): typeof fetch {
  const agents = new Map<string, Agent>();

  return async (input, init) => {
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    signal?.throwIfAborted();
    try {
      // It reads all forms of headers and bodies, and refuses a URL with a name or a password.
      const request = new Request(input, init);
      const url = new URL(request.url);
      const target = checkTarget(url, reach);
      const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
      const http = await loadHttp(url);
      const agent = agents.get(url.protocol) ?? new http.Agent({ keepAlive: true, timeout: idleMs });
      agents.set(url.protocol, agent);
      const incoming = await send(http.request, body, {
        agent,
        host: target.host,
        port: target.port,
        path: url.pathname + url.search,
        method: request.method,
        headers: toHeaders(request, url, body),
        lookup: checkedLookup(target, reach),
        maxHeaderSize: headerBytes,
        ...(signal && { signal }),
      });
      if (signal) addAbortSignal(signal, incoming);
      return toResponse(incoming, request);
    } catch (cause) {
      signal?.throwIfAborted();
      throw cause instanceof TypeError ? cause : new TypeError(describeCause(cause), { cause });
    }
  };
}

/** The refusal behind what a guarded `fetch` rejected with, if it is one. */
export function findRefusal(thrown: unknown): Error | undefined {
  return thrown instanceof TypeError && isKitbagError(thrown.cause, "network-refused") ? thrown.cause : undefined;
}

/** Asked only for a new connection, and never for an address: that was checked with the URL. */
function checkedLookup(target: Target, reach: Reach): LookupFunction {
  return (name, options, answer) => {
    findAddresses(target, reach).then(
      (addresses) => fixedLookup(addresses)(name, options, answer),
      (cause: unknown) => answer(cause as Error, ""),
    );
  };
}

function toHeaders({ headers, method }: Request, { host }: URL, body: Uint8Array | undefined): string[] {
  const own = { accept: "*/*", "accept-encoding": "identity", "user-agent": "kitbag" };
  const added = Object.entries(own).filter(([name]) => !headers.has(name));
  const length = body !== undefined || method.startsWith("P") ? ["content-length", String(body?.length ?? 0)] : [];
  return ["host", host, ...[...headers].flat(), ...added.flat(), ...length];
}

function send(
  request: (options: RequestOptions) => ClientRequest,
  body: Uint8Array | undefined,
  options: RequestOptions,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(options);
    outgoing.once("response", resolve);
    // Also after the answer began: then the reader of the body fails.
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function toResponse(incoming: IncomingMessage, { url, method, redirect }: Request): Response {
  const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = incoming;
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  }
  if (redirect !== "manual" && redirects.has(status) && headers.has("location")) {
    incoming.destroy();
    throw new TypeError(`it leads on to ${showOrigin(headers.get("location") ?? "", url)}: give that address`);
  }
  const isEmpty = method === "HEAD" || withoutBody.has(status);
  if (isEmpty) incoming.resume();
  const body = isEmpty ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array<ArrayBuffer>>);
  const response = new Response(body, { status, statusText, headers });
  // Where an answer came from decides what its relative addresses mean.
  return Object.defineProperty(response, "url", { value: url });
}

function showOrigin(location: string, base: string): string {
  return URL.parse(location, base)?.origin ?? "something that is no address";
}

/** Which addresses this process may fetch from. */
export interface Reach {
  /**
   * Hosts (`localhost`, `10.0.0.5:8080`) that may be private and need no encryption. An address counts also behind a name that leads
   * to it. @default none
   */
  readonly allowHosts?: readonly string[];
  /** Hosts that need no encryption, but must not be private. @default none */
  readonly plainHosts?: readonly string[];
  /** What to do if a host that was refused is meant. @default "allow the host if that is meant" */
  readonly cure?: string;
  /** @default the system's resolver */
  readonly lookup?: Lookup | undefined;
}

/** A host that may be asked, and where it is. */
export interface CheckedAddress {
  readonly host: string;
  readonly port: number;
  /** Connect to these and to nothing else: the name may lead elsewhere the next time. */
  readonly addresses: readonly string[];
}

const ports: Readonly<Record<string, number>> = { "https:": 443, "http:": 80, "ssh:": 22, "git:": 9418 };

/** Schemes that protect what is sent from being read or changed on the way. */
const safeSchemes = new Set(["https:", "ssh:"]);

/**
 * Decides whether an address may be asked, and finds out where it is, once. A name or an address of this machine or of a private
 * network, and a connection that is not encrypted, only if the host was allowed.
 *
 * @throws {KitbagError} `network-refused`
 */
export async function checkAddress(url: URL, reach: Reach): Promise<CheckedAddress> {
  const target = checkTarget(url, reach);
  return { host: target.host, port: target.port, addresses: await findAddresses(target, reach) };
}

/**
 * Reads where a URL leads, as it is written: scheme, host and port. An address in it is checked; a name is by {@link findAddresses}.
 *
 * @throws {KitbagError} `network-refused`
 */
function checkTarget(url: URL, reach: Reach): Target {
  const target = toTarget(url);
  if (!safeSchemes.has(url.protocol) && !isListed(target, [...(reach.allowHosts ?? []), ...(reach.plainHosts ?? [])])) {
    const reason = `${url.protocol.slice(0, -1)} is not encrypted; use https, or allow the host`;
    throw refused(showTarget(target), reason);
  }
  if (target.kind === "address") keepAllowed([target.host], target, reach);
  return target;
}

/**
 * Finds the addresses of a target that may be connected to.
 *
 * @throws {KitbagError} `network-refused` if it has none.
 */
async function findAddresses(target: Target, reach: Reach): Promise<readonly string[]> {
  if (target.kind === "address") return keepAllowed([target.host], target, reach);
  const { lookup = systemLookup } = reach;
  try {
    const found = await lookup(target.host);
    return keepAllowed(
      found.map((address) => toAddress(address)).filter((address) => address !== undefined),
      target,
      reach,
    );
  } catch (cause) {
    if (cause instanceof KitbagError) throw cause;
    throw refused(showTarget(target), `the name has no address (${describeCause(cause, 200)})`, cause);
  }
}

/**
 * Lists the host and port of a URL that says by itself that it leads to this machine or into its network: who names it means it.
 * Nothing for a name, whatever it leads to.
 */
export function listInnerHost(url: URL): readonly string[] {
  return isInnerUrl(url) ? [showTarget(toTarget(url))] : [];
}

/** Tells whether a URL says by itself that it leads to this machine or into its network: from elsewhere it cannot be followed. */
export function isInnerUrl({ hostname }: URL): boolean {
  const host = parseHost(hostname);
  if ("wrong" in host) return false;
  if (host.kind === "address") return describeInnerAddress(host.host) !== undefined;
  return host.host === "localhost" || host.host.endsWith(".localhost");
}

/** @throws {KitbagError} `network-refused` */
export function toTarget(url: URL): Target {
  const host = parseHost(url.hostname);
  const port = url.port === "" ? ports[url.protocol] : Number(url.port);
  if ("wrong" in host) throw refused(url.host, host.wrong);
  if (port === undefined) throw refused(url.host, `${url.protocol} is not fetched from`);
  return { ...host, port };
}

/** A host is listed with its port, or for all of its ports. */
function isListed({ host, port, kind }: Target, listed: readonly string[]): boolean {
  const names = new Set([host, host.includes(":") ? `[${host}]` : host, showTarget({ host, port, kind })]);
  return listed.some((one) => names.has(one.toLowerCase()));
}

function keepAllowed(found: readonly string[], target: Target, reach: Reach): readonly string[] {
  const { allowHosts = [], cure = "allow the host if that is meant" } = reach;
  const isFree = isListed(target, allowHosts);
  const addresses = found.filter(
    (host) =>
      isFree ||
      describeInnerAddress(host) === undefined ||
      isListed({ host, port: target.port, kind: "address" }, allowHosts),
  );
  if (addresses.length > 0) return addresses;
  const [first] = found;
  const reason =
    first === undefined ? "the name has no address" : `it is ${describeInnerAddress(first) ?? "private"}; ${cure}`;
  throw refused(showTarget(target), reason);
}

function refused(target: string, reason: string, cause?: unknown): KitbagError {
  return new KitbagError("network-refused", { target, reason }, { cause });
}
