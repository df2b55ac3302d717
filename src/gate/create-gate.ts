import { createServer, type Server, STATUS_CODES } from "node:http";
import { isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";

import type * as Jose from "jose";

import { describeCause, KitbagError } from "../core/errors.ts";
import { createAccess } from "./access/access.ts";
import { createChallenge } from "./access/challenge.ts";
import { createBuckets, createGuesses, type Buckets } from "./limits/buckets.ts";
import { checkGateOptions, checkTokens, defaultLimits } from "./check-gate-options.ts";
import { createListener, type Listener, type ListenerParts } from "./create-listener.ts";
import type { Gate, GateEvent, GateLimits, GateOptions, Rate, Route } from "./gate.ts";
import { createConnections } from "./limits/connections.ts";
import { createOriginCheck, isEverywhere, isLoopback } from "./origin.ts";
import { createPublicAnswers } from "./public-answers.ts";
import { failSlow } from "./request/gate-request.ts";

/** How often slow and stalled clients are looked for. */
const sweepMs = 1000;

/** Opens the listener of `openGate`. */
export async function createGate(options: GateOptions): Promise<Gate> {
  checkGateOptions(options);
  const limits = { ...defaultLimits, ...options.limits };
  const jose = options.oauth && (await import("jose"));
  const server = createGateServer(limits);
  const { url } = await listen(server, options);
  // No `await` from here to connect(): a request would find no listener.
  const parts = createParts(options, limits, { url, jose });
  const listener = createListener(parts);
  const sweep = connect(server, parts, listener);
  let closing: Promise<void> | undefined;

  return {
    url,
    get running() {
      return listener.running;
    },
    setTokens(tokens) {
      checkTokens(tokens);
      const gone = parts.access.setTokens(tokens);
      listener.cutRefused();
      for (const caller of gone) for (const route of options.routes) route.onCallerGone?.(caller);
    },
    close({ graceMs = 10_000 } = {}) {
      closing ??= closeServer({ server, listener, parts, routes: options.routes }, graceMs).finally(() => {
        clearInterval(sweep);
      });
      return closing;
    },
  };
}

function createGateServer({ headMs, requestMs, idleMs }: GateLimits): Server {
  const server = createServer({
    headersTimeout: Math.min(headMs, requestMs),
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(sweepMs, headMs),
    // Finds out that a client with an open stream is gone for good.
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
  });
  server.maxHeadersCount = 200;
  return server;
}

/** What is known when the gate listens. */
interface Opened {
  readonly url: string;
  readonly jose: typeof Jose | undefined;
}

function createParts(options: GateOptions, limits: GateLimits, opened: Opened): ListenerParts {
  const { host = "127.0.0.1", hosts = [], origins = [], routes, report = ignore } = options;
  const addresses = createRate(limits.address);
  const resource = options.oauth?.resource ?? opened.url + (routes[0]?.path ?? "");
  const challenge = createChallenge(options.oauth, resource);

  return {
    head: { isHost: createHostCheck(host, hosts), findOrigin: createOriginCheck(origins), limits },
    access: createAccess({
      tokens: options.tokens ?? [],
      oauth: options.oauth,
      jose: opened.jose,
      audience: [options.oauth?.audience ?? resource].flat(),
      challenge,
      guesses: limits.guesses === "off" ? undefined : createGuesses(limits.guesses),
      refreshTokens: options.refreshTokens,
    }),
    challenge,
    connections: createConnections({ limits, addresses, report }),
    addresses,
    callers: createRate(limits.caller),
    bodies: { limits, reading: new Set() },
    findRoute: createRouteFinder(routes),
    publicAnswers: createPublicAnswers({
      challenge,
      unavailable: options.unavailable,
      findProblem: options.findProblem,
    }),
    report,
    onRequestEnd: options.onRequestEnd,
  };
}

function createRate(rate: Rate | "off"): Buckets | undefined {
  return rate === "off" ? undefined : createBuckets(rate);
}

function ignore(_event: GateEvent): void {}

function connect(server: Server, parts: ListenerParts, listener: Listener): NodeJS.Timeout {
  const { connections, bodies } = parts;
  server.on("connection", (socket: Socket) => {
    connections.accept(socket);
  });
  server.on("request", listener.take);
  // Whether the body is wanted is only known after the checks; readBody() says so then.
  server.on("checkContinue", listener.take);
  server.on("clientError", answerBroken);
  const sweep = setInterval(() => {
    failSlow(bodies);
    connections.cutStalled();
    // A JWT that has expired.
    listener.cutRefused();
  }, sweepMs);
  return sweep.unref();
}

/** Makes the look-up of routes: an exact path first, then the longest `…/*` that the path is below. */
function createRouteFinder(routes: readonly Route[]): (path: string) => Route | undefined {
  const exact = new Map(routes.filter(({ path }) => !path.endsWith("/*")).map((route) => [route.path, route]));
  const below = routes
    .filter(({ path }) => path.endsWith("/*"))
    .map((route) => ({ route, prefix: route.path.slice(0, -1) }))
    .toSorted((left, right) => right.prefix.length - left.prefix.length);

  return (path) => exact.get(path) ?? below.find(({ prefix }) => path.startsWith(prefix))?.route;
}

/** Answers bytes that are no request, and cuts the connection. The client is not told what was wrong in detail. */
function answerBroken(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET" || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const status = toStatus(error.code);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.once("finish", () => socket.destroy());
}

function toStatus(code: string | undefined): number {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return 408;
  return code === "HPE_HEADER_OVERFLOW" ? 431 : 400;
}

/** A second status line in the middle of an answer could be taken for a part of it. */
function isAnswering(socket: Duplex): boolean {
  if (!("_httpMessage" in socket)) return false;
  const message = socket._httpMessage;
  return typeof message === "object" && message !== null && "headersSent" in message && message.headersSent === true;
}

/** What is closed. */
interface Closing {
  readonly server: Server;
  readonly listener: Listener;
  readonly parts: ListenerParts;
  readonly routes: readonly Route[];
}

/** How long the last answers may take, when the time of grace is over. */
const lastWordsMs = 500;

/** Stops listening, waits for what runs, and cuts what is left after `graceMs`. */
async function closeServer({ server, listener, parts, routes }: Closing, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  listener.close(() => {
    // Node counts a connection as idle only after the request's own "close".
    setImmediate(() => {
      server.closeIdleConnections();
    });
  });
  parts.connections.cutWaiting();
  for (const route of routes) route.onClosing?.();
  server.closeIdleConnections();
  const cut = (): void => {
    server.closeAllConnections();
  };
  const answer = (): void => {
    for (const route of routes) route.onCut?.();
    timer = setTimeout(cut, routes.some((route) => route.onCut !== undefined) ? lastWordsMs : 0);
  };
  let timer = setTimeout(answer, graceMs);
  await closed;
  clearTimeout(timer);
}

/** The most spellings of one host that are remembered. */
const mostKnown = 64;

/**
 * Makes the check of `Host` headers that keeps web pages out whose name was made to point here (DNS rebinding).
 *
 * A gate on loopback is called by the names of loopback, another one also by its own address, and both by `hosts`. One that
 * listens everywhere is called by any number: an address is not a name, so an attacker cannot make it point elsewhere.
 */
function createHostCheck(host: string, hosts: readonly string[]): (header: string) => boolean {
  const names = new Set(["localhost", "127.0.0.1", "[::1]"]);
  for (const name of [host, ...hosts]) names.add(toHeaderName(name));
  const everywhere = isEverywhere(host) || (!isLoopback(host) && isIP(host) === 0);
  const known = new Set<string>();

  return (header) => {
    if (known.has(header)) return true;
    const name = readName(header);
    if (name === undefined) return false;
    if (!names.has(name) && !(everywhere && isAddress(name))) return false;
    if (known.size < mostKnown) known.add(header);
    return true;
  };
}

function toHeaderName(name: string): string {
  return isIP(name) === 6 ? `[${name.toLowerCase()}]` : name.toLowerCase();
}

function isAddress(name: string): boolean {
  return isIP(name.startsWith("[") ? name.slice(1, -1) : name) !== 0;
}

/** The name in a `Host` header, in lower case, without the port; `undefined` if it is no host. */
function readName(header: string): string | undefined {
  return /^(\[[\da-f:.]+\]|[\da-z._-]+)(?::\d{1,5})?$/iu.exec(header)?.[1]?.toLowerCase();
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there; stop it, or take another port",
  EACCES: "this user may not take that port; take one above 1023",
  EADDRNOTAVAIL: "this machine does not have that address",
  ENOTFOUND: "no address has that name",
  EAI_AGAIN: "the name cannot be resolved now",
};

/** Begins to listen, and tells where. */
async function listen(
  server: Server,
  { host = "127.0.0.1", port = 0 }: GateOptions,
): Promise<{ readonly url: string }> {
  const wanted = `${host}:${port}`;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, () => {
        server.off("error", reject);
        resolve();
      });
    });
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    throw new KitbagError(
      "listen-failed",
      { address: wanted, reason: reasons[code] ?? describeCause(cause) },
      { cause },
    );
  }
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new KitbagError("listen-failed", { address: wanted, reason: "it is no address of a network" });
  }
  if (isLoopback(host) && !isLoopback(address.address)) {
    server.close();
    const reason = `it means ${address.address}, which others can reach; use 127.0.0.1`;
    throw new KitbagError("listen-failed", { address: wanted, reason });
  }
  return { url: `http://${toUrlHost(host, address.family)}:${address.port}` };
}

function toUrlHost(host: string, family: string): string {
  if (isEverywhere(host)) return "127.0.0.1";
  return family === "IPv6" && host.includes(":") ? `[${host}]` : host;
}
