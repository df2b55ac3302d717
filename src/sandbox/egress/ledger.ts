import type { Socket } from "node:net";

import type { Target } from "./network-rule.ts";

/** A connection through an egress proxy, or an attempt to make one. */
export interface EgressConnection {
  /** The protocol in which the program asked for it; `request` is a request of `egressRequest`. */
  readonly protocol: "http" | "connect" | "socks" | "request" | "unknown";
  /** The host that the program asked for; empty if the proxy could not read the request. */
  readonly host: string;
  readonly port: number;
  /** The IP address that the proxy connected to. */
  readonly address?: string;
  readonly allowed: boolean;
  /** Why it was not allowed, why it failed, or why it was cut. */
  readonly reason?: string;
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly durationMs: number;
}

/** The entry of a connection that has not ended. */
export interface Entry {
  protocol: EgressConnection["protocol"];
  target?: Target;
  /** Records that the connection is allowed, and the socket that its bytes go through. */
  watch(upstream: Socket): void;
  /** Counts the bytes since the last count. Answers `false` if the limit of bytes is reached and the connection must end. */
  count(): boolean;
  /** Records the connection as ended. Later calls do nothing. */
  end(reason?: string): void;
}

/** Records the connections of a proxy, and counts the bytes of all of them. */
export interface Ledger {
  /** The last 1,000 connections that ended, the oldest first. */
  readonly connections: readonly EgressConnection[];
  /** The number of connections that have not ended. */
  countOpen(): number;
  open(): Entry;
}

const mostKept = 1000;

/** Makes a ledger that tells `onConnection` of each connection when it ends. */
export function createLedger(
  limits: Pick<EgressLimits, "bytes">,
  onConnection?: (connection: EgressConnection) => void,
): Ledger {
  const connections: EgressConnection[] = [];
  let bytes = 0;
  let openCount = 0;

  function open(): Entry {
    const start = { at: Date.now(), clock: performance.now() };
    let route: Route | undefined;
    let seen = 0;
    let ended = false;
    let cut: string | undefined;
    openCount++;
    const entry: Entry = {
      protocol: "unknown",
      watch: (socket) => (route = { socket, address: socket.remoteAddress ?? "" }),
      count() {
        const now = route === undefined ? 0 : route.socket.bytesRead + route.socket.bytesWritten;
        bytes += now - seen;
        seen = now;
        if (bytes > limits.bytes) cut ??= `cut: more than ${limits.bytes} bytes went through`;
        return cut === undefined;
      },
      end(given) {
        if (ended) return;
        ended = true;
        openCount--;
        entry.count();
        const reason = cut ?? given;
        const connection: EgressConnection = {
          ...toRequest(entry),
          ...toTraffic(route),
          ...(reason !== undefined && { reason }),
          startedAt: start.at,
          durationMs: performance.now() - start.clock,
        };
        connections.push(connection);
        if (connections.length > mostKept) connections.shift();
        onConnection?.(connection);
      },
    };
    return entry;
  }

  return { connections, countOpen: () => openCount, open };
}

function toRequest({ protocol, target }: Entry): Pick<EgressConnection, "protocol" | "host" | "port"> {
  return { protocol, host: target?.host ?? "", port: target?.port ?? 0 };
}

interface Route {
  readonly socket: Socket;
  readonly address: string;
}

function toTraffic(route: Route | undefined): Pick<EgressConnection, "address" | "allowed" | "bytesUp" | "bytesDown"> {
  if (route === undefined) return { allowed: false, bytesUp: 0, bytesDown: 0 };
  const { socket, address } = route;
  return { address, allowed: true, bytesUp: socket.bytesWritten, bytesDown: socket.bytesRead };
}

/** The limits of one egress proxy. */
export interface EgressLimits {
  /** Connections at the same time. */
  readonly connections: number;
  /** All connections until the proxy is closed. */
  readonly totalConnections: number;
  /** Bytes in both directions, of all connections together. */
  readonly bytes: number;
  /** The head of a request, and of a response. */
  readonly headerBytes: number;
  /** How long a program may take to send the head of its request. */
  readonly headerMs: number;
  /** How long the target may take to accept a connection. */
  readonly connectMs: number;
  /** How long a connection may carry no bytes. */
  readonly idleMs: number;
}

/** The limits of a proxy by default. */
export const defaultEgressLimits: EgressLimits = {
  connections: 64,
  totalConnections: 10_000,
  bytes: 1024 ** 3,
  headerBytes: 32 * 1024,
  headerMs: 10_000,
  connectMs: 10_000,
  idleMs: 60_000,
};
