import { KitbagError } from "../../core/errors.ts";
import { isInnerUrl } from "../../sandbox/download/guarded-fetch.ts";
import { egressRequest, type EgressResponse } from "../../sandbox/egress/egress-request.ts";
import { parseHost, type Lookup } from "../../sandbox/egress/network-rule.ts";

/** How far a download goes. */
export interface DownloadOptions {
  readonly maxBytes: number;
  /** For all of it, redirects included. */
  readonly limitMs: number;
  /** Addresses inside the own network that may be asked, as rules: `127.0.0.1:8080`. */
  readonly allow: readonly string[];
  readonly signal?: AbortSignal;
  readonly lookup?: Lookup;
  /** Certificates to trust instead of the usual ones, as PEM. */
  readonly ca?: string;
}

const maxRedirects = 5;
const redirects = new Set([301, 302, 303, 307, 308]);
const unknownTypes = new Set(["", "application/octet-stream", "binary/octet-stream"]);

/**
 * Downloads a picture. What no public name and address leads to is not asked: addresses of this machine and of the own network,
 * also behind a name or a redirect. The connection goes to the address that was checked.
 *
 * @throws {KitbagError} `network-refused` if it leads inside, `network-failed` if it did not work, `image-invalid` if the answer
 * is no picture.
 */
export async function downloadImage(url: URL, options: DownloadOptions): Promise<Uint8Array> {
  const { limitMs, maxBytes, signal, lookup, ca } = options;
  const begin = performance.now();
  let next = url;
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const rest = Math.max(1, limitMs - (performance.now() - begin));
    const request = { url: next.href, headers: { accept: "image/*" } };
    const response = await egressRequest(toRules(next, options.allow), request, {
      limitMs: Math.ceil(rest),
      maxRedirects: 0,
      maxResponseBytes: maxBytes,
      ...(signal !== undefined && { signal }),
      ...(lookup !== undefined && { lookup }),
      ...(ca !== undefined && { ca }),
    });
    const location = redirects.has(response.status) ? response.headers["location"] : undefined;
    if (location === undefined) return takeBody(url, response);
    next = toNext(next, location);
  }
  throw refuse(url, `there were more than ${maxRedirects} redirects`);
}

/** A public name or address is its own rule; what is inside needs one that was given. */
function toRules(url: URL, allow: readonly string[]): readonly string[] {
  const { protocol, hostname, port, origin } = url;
  const host = parseHost(hostname);
  if ("wrong" in host) throw new KitbagError("network-failed", { target: origin, reason: host.wrong });
  if (isInnerUrl(url)) return allow;
  const text = host.host.includes(":") ? `[${host.host}]` : host.host;
  return [`${text}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`, ...allow];
}

function toNext(last: URL, location: string): URL {
  const next = URL.parse(location, last.href);
  if (next === null) throw refuse(last, "it redirects to what is not a URL");
  if (next.protocol === "http:" && last.protocol === "https:") throw refuse(last, "it redirects from https to http");
  return next;
}

function takeBody(url: URL, { status, headers, body }: EgressResponse): Uint8Array {
  if (status !== 200) throw refuse(url, `the server answered with the status ${status}`);
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (!type.startsWith("image/") && !unknownTypes.has(type)) throw refuse(url, `the server says that it is ${type}`);
  return body;
}

function refuse(url: URL, reason: string): KitbagError<"image-invalid"> {
  return new KitbagError("image-invalid", { image: showUrl(url), reason });
}

/** Writes a URL for a message: what stands after the path may be a secret. */
export function showUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`.slice(0, 200);
}
