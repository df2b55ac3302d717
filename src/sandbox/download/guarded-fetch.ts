import { Agent as HttpAgent, request as requestHttp, type IncomingMessage, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { addAbortSignal, Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

import { describeCause, isKitbagError } from "../../core/errors.ts";
import { fixedLookup } from "../egress/dial.ts";
import type { Target } from "../egress/host.ts";
import { checkTarget, findAddresses, type Reach } from "./check-address.ts";

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
  const settings = { keepAlive: true, timeout: idleMs };
  const agents = { "http:": new HttpAgent(settings), "https:": new HttpsAgent(settings) };

  return async (input, init) => {
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    signal?.throwIfAborted();
    try {
      // It reads all forms of headers and bodies, and refuses a URL with a name or a password.
      const request = new Request(input, init);
      const url = new URL(request.url);
      const target = checkTarget(url, reach);
      const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
      const isSafe = url.protocol === "https:";
      const incoming = await send(isSafe ? requestHttps : requestHttp, body, {
        agent: agents[isSafe ? "https:" : "http:"],
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
  request: typeof requestHttp,
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
