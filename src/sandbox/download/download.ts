import { describeCause, isKitbagError, KitbagError } from "../../core/errors.ts";
import { type Reach, findRefusal, guardedFetch } from "./guarded-fetch.ts";

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
  const fetchChecked = guardedFetch(options);
  try {
    let url = address;
    for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
      const response = await ask(fetchChecked, url, { accept: options.accept ?? "*/*", signal: stop });
      const next = findRedirect(response, url);
      if (next === undefined) return await readBody(response, url, options.maxBytes);
      await response.body?.cancel();
      url = next;
    }
    throw failed(address, `it leads on more than ${mostRedirects} times`);
  } catch (cause) {
    signal?.throwIfAborted();
    if (clock.aborted) throw failed(address, `it took longer than ${limitMs} ms`, cause);
    const refusal = findRefusal(cause);
    if (refusal !== undefined) throw refusal;
    if (isKitbagError(cause)) throw cause;
    throw failed(address, describeCause(cause, 200), cause);
  }
}

async function ask(
  fetchChecked: typeof fetch,
  url: URL,
  { accept, signal }: { readonly accept: string; readonly signal: AbortSignal },
): Promise<Response> {
  const plain = new URL(url);
  plain.username = plain.password = "";
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const headers = {
    accept,
    ...(url.username !== "" && { authorization: `Basic ${Buffer.from(login).toString("base64")}` }),
  };
  return fetchChecked(plain, { headers, redirect: "manual", signal });
}

function findRedirect({ status, headers }: Response, url: URL): URL | undefined {
  const location = status >= 300 && status <= 399 ? headers.get("location") : null;
  if (location === null) return undefined;
  const next = URL.parse(location, url.href);
  if (next === null) throw failed(url, "it leads on to something that is no address");
  if (next.protocol !== "https:" && next.protocol !== "http:") throw failed(url, `it leads on to ${next.protocol}`);
  // What the next host asks for is not what this one may hand over.
  if (next.origin !== url.origin) next.username = next.password = "";
  return next;
}

async function readBody({ status, headers, body }: Response, url: URL, maxBytes: number): Promise<Buffer> {
  const tooLarge = `it is larger than ${maxBytes} bytes`;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  if (status !== 200) {
    await body?.cancel();
    throw failed(url, `it answered with status ${status}${status === 401 ? ": it wants to know who asks" : ""}`);
  }
  if (Number(headers.get("content-length") ?? 0) > maxBytes) {
    await body?.cancel();
    throw failed(url, tooLarge);
  }
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > maxBytes) throw failed(url, tooLarge);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** An address for people: what may be a secret in it is left out. */
export function showAddress(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}

function failed(url: URL, reason: string, cause?: unknown): KitbagError {
  return new KitbagError("network-failed", { target: showAddress(url), reason }, { cause });
}
