import type { IncomingMessage } from "node:http";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

import { describeCause, isKitbagError, KitbagError } from "../../core/errors.ts";
import { fixedLookup } from "../egress/dial.ts";
import { checkAddress, type Reach } from "./check-address.ts";

/** How something is downloaded. */
export interface DownloadOptions extends Reach {
  readonly maxBytes: number;
  /** For everything together, redirects too. */
  readonly limitMs: number;
  readonly signal?: AbortSignal;
  /** The media type that is asked for. @default any */
  readonly accept?: string;
}

const mostRedirects = 5;

/**
 * Downloads a file. Each address on the way is checked, and what was checked is what is connected to. A name and a password in the
 * address go to its own host only, and into no message.
 *
 * @throws {KitbagError} `network-refused` if an address must not be asked; `network-failed` if it does not answer with the file, in
 *   time, within the limit. What the signal was aborted with, if it was.
 */
export async function download(address: URL, options: DownloadOptions): Promise<Buffer> {
  const { limitMs, signal } = options;
  const clock = AbortSignal.timeout(limitMs);
  const stop = signal === undefined ? clock : AbortSignal.any([signal, clock]);
  try {
    let url = address;
    for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
      const response = await ask(url, options, stop);
      const next = findRedirect(response, url);
      if (next === undefined) return await readBody(response, url, options.maxBytes);
      response.destroy();
      url = next;
    }
    throw failed(address, `it leads on more than ${mostRedirects} times`);
  } catch (cause) {
    signal?.throwIfAborted();
    if (clock.aborted) throw failed(address, `it took longer than ${limitMs} ms`, cause);
    if (isKitbagError(cause)) throw cause;
    throw failed(address, describeCause(cause, 200), cause);
  }
}

async function ask(url: URL, options: DownloadOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const { addresses } = await checkAddress(url, options);
  const { username, password } = url;
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const asked = request({
      protocol: url.protocol,
      // Brackets belong to the address in a URL only.
      hostname: url.hostname.replaceAll(/^\[|\]$/gu, ""),
      port: url.port,
      path: `${url.pathname}${url.search}`,
      lookup: fixedLookup(addresses),
      agent: false,
      signal,
      headers: { accept: options.accept ?? "*/*", "accept-encoding": "identity", "user-agent": "kitbag" },
      ...(username !== "" && { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` }),
    });
    asked.once("response", resolve);
    asked.once("error", reject);
    asked.end();
  });
}

function findRedirect({ statusCode = 0, headers }: IncomingMessage, url: URL): URL | undefined {
  if (statusCode < 300 || statusCode > 399 || headers.location === undefined) return undefined;
  if (!URL.canParse(headers.location, url.href)) throw failed(url, "it leads on to something that is no address");
  const next = new URL(headers.location, url);
  if (next.protocol !== "https:" && next.protocol !== "http:") throw failed(url, `it leads on to ${next.protocol}`);
  // What the next host asks for is not what this one may hand over.
  if (next.origin !== url.origin) next.username = next.password = "";
  return next;
}

async function readBody(response: IncomingMessage, url: URL, maxBytes: number): Promise<Buffer> {
  const { statusCode = 0, headers } = response;
  if (statusCode !== 200) {
    response.destroy();
    throw failed(
      url,
      `it answered with status ${statusCode}${statusCode === 401 ? ": it wants to know who asks" : ""}`,
    );
  }
  const pieces: Buffer[] = [];
  let bytes = Number(headers["content-length"] ?? 0);
  if (bytes <= maxBytes) {
    bytes = 0;
    for await (const piece of response as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > maxBytes) break;
      pieces.push(piece);
    }
  }
  if (bytes <= maxBytes && response.complete) return Buffer.concat(pieces);
  response.destroy();
  throw failed(url, bytes > maxBytes ? `it is larger than ${maxBytes} bytes` : "it ended too early");
}

/** An address for people: what may be a secret in it is left out. */
export function showAddress(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}

function failed(url: URL, reason: string, cause?: unknown): KitbagError {
  return new KitbagError("network-failed", { target: showAddress(url), reason }, { cause });
}
