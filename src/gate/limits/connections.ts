import type { Socket } from "node:net";

import type { GateEvent, GateLimits } from "../gate.ts";
import type { Bucket, Buckets } from "./buckets.ts";
import { toNetwork } from "./to-network.ts";

/** What is known about one connection. */
export interface Connection {
  readonly address: string;
  /** What the address is counted as. */
  readonly network: string;
  /** What its network has left; `undefined` if nobody counts. */
  readonly bucket: Bucket | undefined;
  /** Requests of it that are being answered. */
  running: number;
  /** Bytes that have left for the client, and since when there were no more. */
  sentBytes: number;
  sentAt: number;
}

/** Every connection there is. */
export interface Connections {
  /** Takes a new one, or makes room for it. */
  accept(socket: Socket): void;
  find(socket: Socket): Connection | undefined;
  /** Says that somebody was let in by this connection: it no longer makes room for others. */
  letIn(socket: Socket): void;
  /** Cuts those that nobody was let in by. */
  cutWaiting(): void;
  /** Cuts clients that take nothing of what waits for them. */
  cutStalled(): void;
}

/** What connections are kept with. */
export interface ConnectionParts {
  readonly limits: Pick<GateLimits, "maxConnections" | "stalledMs">;
  readonly addresses: Buckets | undefined;
  readonly report: (event: GateEvent) => void;
}

/** Makes an empty list of connections. */
export function createConnections({ limits, addresses, report }: ConnectionParts): Connections {
  const bySocket = new Map<Socket, Connection>();
  // In the order in which they came, so the first one has waited longest.
  const waiting = new Set<Socket>();
  const forget = function forgetSocket(this: Socket): void {
    bySocket.delete(this);
    waiting.delete(this);
  };

  return {
    accept(socket) {
      const address = socket.remoteAddress ?? "";
      if (bySocket.size >= limits.maxConnections && !cutOldest(waiting)) {
        report({ type: "client-cut", reason: `there are ${limits.maxConnections} connections already`, address });
        socket.destroy();
        return;
      }
      const now = performance.now();
      const network = toNetwork(address);
      const bucket = addresses?.find(network, now);
      bySocket.set(socket, { address, network, bucket, running: 0, sentBytes: 0, sentAt: now });
      waiting.add(socket);
      socket.on("close", forget);
    },
    find: (socket) => bySocket.get(socket),
    letIn: (socket) => void waiting.delete(socket),
    cutWaiting() {
      for (const socket of waiting) if (bySocket.get(socket)?.running === 0) socket.destroy();
    },
    cutStalled() {
      const now = performance.now();
      for (const [socket, connection] of bySocket) {
        if (!isStalled(socket, connection, now - limits.stalledMs)) continue;
        report({ type: "client-cut", reason: "it took nothing of its answer", address: connection.address });
        socket.destroy();
      }
    },
  };
}

function cutOldest(waiting: Set<Socket>): boolean {
  for (const socket of waiting) {
    waiting.delete(socket);
    socket.destroy();
    return true;
  }
  return false;
}

function isStalled(socket: Socket, connection: Connection, before: number): boolean {
  const waitingBytes = socket.writableLength;
  const sentBytes = socket.bytesWritten - waitingBytes;
  if (waitingBytes === 0 || sentBytes !== connection.sentBytes) {
    connection.sentBytes = sentBytes;
    connection.sentAt = performance.now();
    return false;
  }
  return connection.sentAt < before;
}
