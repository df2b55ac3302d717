import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";

import type * as Jose from "jose";

import { createAccess } from "./access/access.ts";
import { createChallenge } from "./access/challenge.ts";
import { createGuesses } from "./access/guesses.ts";
import { checkGateOptions, checkTokens } from "./check-gate-options.ts";
import { closeServer } from "./close-server.ts";
import { createListener, type Listener, type ListenerParts } from "./create-listener.ts";
import type { Gate, GateEvent, GateLimits, GateOptions, Rate } from "./gate.ts";
import { createBuckets, type Buckets } from "./limits/buckets.ts";
import { createConnections } from "./limits/connections.ts";
import { defaultLimits } from "./limits/gate-limits.ts";
import { listen } from "./listen.ts";
import { createHostCheck } from "./origin/host-check.ts";
import { createOriginCheck } from "./origin/origin-check.ts";
import { createRouteFinder } from "./request/find-route.ts";
import { failSlow } from "./request/read-body.ts";
import { answerBroken } from "./request/answer-broken.ts";

/** How often slow and stalled clients are looked for. */
const sweepMs = 1000;

/** Opens the listener of `openGate`. */
export async function createGate(options: GateOptions): Promise<Gate> {
  checkGateOptions(options);
  const limits = { ...defaultLimits, ...options.limits };
  const jose = options.oauth && (await import("jose"));
  const server = createGateServer(limits);
  const { url } = await listen(server, options);
  // From here to connect() nothing may be waited for: a request would find nobody.
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
    unavailable: options.unavailable,
    report,
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
