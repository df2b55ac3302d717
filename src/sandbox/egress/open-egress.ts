import { rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { createSemaphore, untilTimeout } from "../../core/async.ts";
import { listenForPrograms } from "../sockets.ts";
import type { EgressContext } from "./client.ts";
import { createHttpProxy } from "./http-proxy.ts";
import {
  createLedger,
  type EgressConnection,
  type Entry,
  type Ledger,
  defaultEgressLimits,
  type EgressLimits,
} from "./ledger.ts";
import { parseNetworkRule, systemLookup, type Lookup } from "./network-rule.ts";
import { egressEnvironment } from "./relay.ts";
import { serveSocks } from "./socks.ts";

/** What {@link openEgress} is told. */
export interface EgressOptions {
  /** Rules of the permission `network`; without any, every connection is refused and written down. */
  readonly rules: readonly string[];
  /** Where the socket is made; a program that can enter it can use the proxy. */
  readonly directory: string;
  /** Called when a connection ended or was refused. Must not throw. */
  readonly onConnection?: ((connection: EgressConnection) => void) | undefined;
  readonly limits?: Partial<EgressLimits>;
  /** @default the system's resolver */
  readonly lookup?: Lookup;
}

/** A way out of a sandbox. */
export interface Egress {
  /** The path of its socket: HTTP proxy and SOCKS 5 in one. */
  readonly socket: string;
  /** What programs inside need in their environment to find it. */
  readonly environment: Readonly<Record<string, string>>;
  /** The last thousand connections that ended, oldest first. */
  readonly connections: readonly EgressConnection[];
  /** Resolves when all connections of a program that ended are closed; after half a second in any case. */
  settle(): Promise<void>;
  /** Ends all connections and removes the socket. */
  close(): Promise<void>;
}

/** How often and how long to look whether connections have ended: half a second at the most. */
const settleEveryMs = 5;
const settleWaits = 100;
/** Two look-ups at a time: they share four threads with all files that this process reads. */
const mostLookups = 2;
const socksVersion = 5;

/**
 * Opens a proxy on a unix socket: the only way out for a program without another network. The socket is the identity, so each set of
 * rules has a proxy of its own.
 *
 * @throws {KitbagError} `network-rule-invalid` if a rule is wrong, `sandbox-failed` if there can be no socket in the directory
 */
export async function openEgress(options: EgressOptions): Promise<Egress> {
  const limits = { ...defaultEgressLimits, ...options.limits };
  const ledger = createLedger(limits, options.onConnection);
  const clients = new Map<Socket, Client>();
  const context: EgressContext = {
    rules: options.rules.map(parseNetworkRule),
    limits,
    lookup: queueLookups(options.lookup ?? systemLookup, limits.connectMs),
    take(socket) {
      const client = clients.get(socket);
      clearTimeout(client?.timer);
      return client?.entry ?? ledger.open();
    },
  };
  const server = createServer({ allowHalfOpen: true }, acceptFor(context, ledger, clients));
  const purpose = { sandbox: "egress", prefix: "egress", reader: "network" };
  const socket = await listenForPrograms(server, options.directory, purpose);
  return {
    socket,
    environment: egressEnvironment(options.rules),
    connections: ledger.connections,
    async settle() {
      for (let waits = 0; ledger.countOpen() > 0 && waits < settleWaits; waits++) await sleep(settleEveryMs);
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const client of clients.keys()) client.destroy();
      await closed;
      rmSync(socket, { force: true });
    },
  };
}

function acceptFor(context: EgressContext, ledger: Ledger, clients: Map<Socket, Client>): (socket: Socket) => void {
  const { limits } = context;
  const http = createHttpProxy(context);
  let total = 0;
  return (socket) => {
    const entry = ledger.open();
    socket.on("error", () => {});
    total++;
    const reason = findExcess(limits, clients.size, total);
    if (reason !== undefined) {
      entry.end(reason);
      return void socket.destroy();
    }
    const cut = (): void => {
      entry.end(`cut: nothing was asked for within ${limits.headerMs} ms`);
      socket.destroy();
    };
    clients.set(socket, { entry, timer: setTimeout(cut, limits.headerMs) });
    socket.once("close", () => {
      clearTimeout(clients.get(socket)?.timer);
      clients.delete(socket);
      // All others are written down when they were refused, or when the other side ends.
      if (entry.protocol === "unknown") entry.end("the client left before it asked for anything");
    });
    peek(socket, (first) => {
      if (first === socksVersion) serveSocks(context, socket).catch(() => socket.destroy());
      else http.emit("connection", socket);
    });
  };
}

interface Client {
  readonly entry: Entry;
  readonly timer: NodeJS.Timeout;
}

function findExcess(limits: EgressLimits, now: number, total: number): string | undefined {
  if (now >= limits.connections) return `refused: ${limits.connections} connections are open`;
  return total > limits.totalConnections ? `refused: there were ${limits.totalConnections} connections` : undefined;
}

/** Looks at the first byte and leaves it there. */
function peek(socket: Socket, found: (first: number) => void): void {
  const leave = (): void => void socket.destroy();
  const look = (): void => {
    const bytes = socket.read(1) as Buffer | null;
    if (bytes === null) return;
    socket.off("readable", look);
    socket.off("end", leave);
    socket.unshift(bytes);
    found(bytes[0] ?? 0);
  };
  socket.on("readable", look);
  socket.on("end", leave);
}

function queueLookups(lookup: Lookup, limitMs: number): Lookup {
  const places = createSemaphore(mostLookups);
  return (name) =>
    untilTimeout(
      places.run(() => lookup(name)),
      limitMs,
      () => {
        throw new Error(`no answer after ${limitMs} ms`);
      },
    );
}
