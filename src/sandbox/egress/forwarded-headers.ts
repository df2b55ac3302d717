import type { IncomingMessage } from "node:http";

/** Headers that are about one connection, not about the message. Framing is written anew from what was read. */
const hopByHop = new Set([
  "connection",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** The headers of a message that go on to the next hop, as a flat list of names and values; a request gets the `host` given. */
export function toForwarded(message: IncomingMessage, host?: string): string[] {
  const named = (message.headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  const dropped = new Set([...hopByHop, ...named.filter((name) => name !== "content-length")]);
  const kept = host === undefined ? [] : ["Host", host];
  for (let index = 0; index + 1 < message.rawHeaders.length; index += 2) {
    const name = message.rawHeaders[index] ?? "";
    if (!dropped.has(name.toLowerCase())) kept.push(name, message.rawHeaders[index + 1] ?? "");
  }
  if (host !== undefined && message.headers["transfer-encoding"] !== undefined)
    kept.push("Transfer-Encoding", "chunked");
  return [...kept, "Connection", "close"];
}
