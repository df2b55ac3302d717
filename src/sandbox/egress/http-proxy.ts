import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";

import { describeCause } from "../../core/errors.ts";
import { type Denial, dismiss, type EgressContext, joinSockets, reach, toLine } from "./client.ts";
import { parseTarget, type Target, type Wrong, showTarget } from "./network-rule.ts";
import type { Entry } from "./ledger.ts";

const statusOf: { readonly [Kind in Denial["kind"]]: number } = { rule: 403, address: 403, name: 502, failed: 502 };

/**
 * Makes a server for the HTTP side of the proxy; it does not listen, connections are handed to it. A connection carries one
 * request: what comes after it could only be for another host.
 */
export function createHttpProxy(context: EgressContext): Server {
  const server = createServer({ maxHeaderSize: context.limits.headerBytes, insecureHTTPParser: false });
  server.maxRequestsPerSocket = 1;
  server.on("request", (message, response) => {
    forward(context, message, response).catch(() => message.socket.destroy());
  });
  server.on("connect", (message: IncomingMessage, client: Socket, head: Buffer) => {
    tunnel(context, message, { client, head }).catch(() => client.destroy());
  });
  server.on("clientError", (cause: NodeJS.ErrnoException, socket) => {
    const client = socket as Socket;
    const entry = context.take(client);
    // A client that is already being answered gets no second answer in the middle of the first.
    if (cause.code === "ECONNRESET" || entry.protocol !== "unknown") return client.destroySoon();
    const tooLarge = cause.code === "HPE_HEADER_OVERFLOW";
    const reason = tooLarge
      ? `the head is larger than ${context.limits.headerBytes} bytes`
      : `not HTTP: ${cause.message}`;
    refuse(entry, client, tooLarge ? 431 : 400, reason);
  });
  return server;
}

async function tunnel(
  context: EgressContext,
  message: IncomingMessage,
  { client, head }: { client: Socket; head: Buffer },
): Promise<void> {
  const entry = context.take(client);
  entry.protocol = "connect";
  // At once: nothing can be put back after the client has ended its side.
  if (head.length > 0) client.unshift(head);
  const target = parseTarget(message.url ?? "");
  if ("wrong" in target) return refuse(entry, client, 400, target.wrong);
  const upstream = await reach(context, entry, target);
  if ("reason" in upstream) return refuse(entry, client, statusOf[upstream.kind], upstream.reason);
  client.write("HTTP/1.1 200 Connected\r\n\r\n");
  joinSockets(client, upstream, entry, context.limits);
}

async function forward(context: EgressContext, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const client = message.socket;
  const entry = context.take(client);
  entry.protocol = "http";
  const encoding = message.headers["transfer-encoding"]?.toLowerCase() ?? "chunked";
  // Node's parser finds out only after it has handed the request over.
  if (encoding !== "chunked") return answer(entry, response, 400, "the only transfer encoding is chunked");
  const wanted = parseAbsolute(message.url ?? "");
  if ("wrong" in wanted) return answer(entry, response, 400, wanted.wrong);
  const { target, path } = wanted;
  const upstream = await reach(context, entry, target);
  if ("reason" in upstream) return answer(entry, response, statusOf[upstream.kind], upstream.reason);
  let reason: string | undefined;
  const close = (why?: string): void => {
    reason ??= why;
    client.destroy();
    upstream.destroy();
  };
  upstream.once("close", () => entry.end(reason));
  client.once("close", () => close());
  for (const socket of [client, upstream]) {
    socket.setTimeout(context.limits.idleMs, () => close(`cut: silent for ${context.limits.idleMs} ms`));
  }
  if (client.destroyed) return close();
  const outgoing = ask(message, upstream, { target, path, headerBytes: context.limits.headerBytes });
  if ("wrong" in outgoing) return answer(entry, response, 400, outgoing.wrong);
  const count = (): void => {
    if (!entry.count()) close();
  };
  outgoing.once("error", (cause) => {
    if (response.headersSent) return close(describeCause(cause, 200));
    reason ??= describeCause(cause, 200);
    answer(entry, response, 502, `the other side failed: ${reason}`);
  });
  outgoing.once("response", (incoming) => passBack(incoming, response, { count, close }));
  message.on("data", count).pipe(outgoing);
}

function ask(
  message: IncomingMessage,
  upstream: Socket,
  { target, path, headerBytes }: { target: Target; path: string; headerBytes: number },
): ClientRequest | Wrong {
  try {
    return request({
      createConnection: () => upstream,
      method: message.method ?? "GET",
      path,
      headers: toForwarded(message, hostHeader(target)),
      maxHeaderSize: headerBytes,
      setDefaultHeaders: false,
    });
  } catch (cause) {
    // Node writes less than it reads: some characters in headers and paths, for one.
    return { wrong: describeCause(cause, 200) };
  }
}

function passBack(
  incoming: IncomingMessage,
  response: ServerResponse,
  { count, close }: { count(): void; close(why?: string): void },
): void {
  incoming.once("error", (cause) => close(describeCause(cause, 200)));
  incoming.on("data", count);
  try {
    response.writeHead(incoming.statusCode ?? 502, toLine(incoming.statusMessage ?? ""), toForwarded(incoming));
    incoming.pipe(response);
  } catch (cause) {
    close(`the other side sent what cannot be passed on: ${describeCause(cause, 200)}`);
  }
}

/** Reads `http://host:port/path`, with no reading that another parser could see differently. */
function parseAbsolute(url: string): { readonly target: Target; readonly path: string } | Wrong {
  if (/^https:/iu.test(url)) return { wrong: "use CONNECT for https" };
  const [, authority, rest = ""] = /^http:\/\/([^/?#\\]*)([/?][^#]*)?$/iu.exec(url) ?? [];
  if (authority === undefined) return { wrong: "expected an absolute http:// address, as for a proxy" };
  if (authority.includes("@")) return { wrong: "an address with a user name is not passed on" };
  const target = parseTarget(authority, 80);
  return "wrong" in target ? target : { target, path: rest.startsWith("/") ? rest : `/${rest}` };
}

function hostHeader(target: Target): string {
  const text = showTarget(target);
  return target.port === 80 ? text.slice(0, -":80".length) : text;
}

function answer(entry: Entry, response: ServerResponse, status: number, reason: string): void {
  entry.end(reason);
  const body = `Kitbag: ${toLine(reason)}\n`;
  // Named here as well: clients often show the status line alone.
  response.writeHead(status, toLine(reason), {
    "Content-Type": "text/plain",
    "Content-Length": body.length,
    Connection: "close",
  });
  response.end(body);
}

function refuse(entry: Entry, client: Socket, status: number, reason: string): void {
  entry.end(reason);
  const body = `Kitbag: ${toLine(reason)}\n`;
  dismiss(
    client,
    `HTTP/1.1 ${status} ${toLine(reason)}\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

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
function toForwarded(message: IncomingMessage, host?: string): string[] {
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
