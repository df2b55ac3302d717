import type { Socket } from "node:net";

import { localCaller } from "../access/token-check.ts";
import type { Caller, GateEvent, GateLimits } from "../gate.ts";
import type { Bucket, Buckets } from "./buckets.ts";

/** What is known about one connection. */
export interface Connection {
  readonly address: string;
  /** What the address is counted as. */
  readonly network: string;
  /** What its network has left; `undefined` if addresses are not counted. */
  readonly bucket: Bucket | undefined;
  /** Requests of it that are being answered. */
  running: number;
  /** Who was let in by it last. */
  caller: string | undefined;
  /** Bytes that have left for the client, and since when there were no more. */
  sentBytes: number;
  sentAt: number;
}

/** Every connection there is. */
export interface Connections {
  /** Takes a new one, or makes room for it. */
  accept(socket: Socket): void;
  find(socket: Socket): Connection | undefined;
  /**
   * Says that a caller was let in by this connection: it no longer makes room for strangers. Answers whether the caller may have it: one
   * that holds too many loses the one that was not in use for longest, and may not have another if all are in use.
   */
  letIn(socket: Socket, caller: Caller): boolean;
  /** Cuts those by which no caller was let in yet. */
  cutWaiting(): void;
  /** Cuts clients that take nothing of what waits for them. */
  cutStalled(): void;
}

/** What connections are kept with. */
export interface ConnectionParts {
  readonly limits: Pick<GateLimits, "maxConnections" | "maxConnectionsPerCaller" | "stalledMs">;
  readonly addresses: Buckets | undefined;
  readonly report: (event: GateEvent) => void;
}

/** Makes an empty list of connections. */
export function createConnections({ limits, addresses, report }: ConnectionParts): Connections {
  const bySocket = new Map<Socket, Connection>();
  // In the order in which they came, so the first one has waited longest.
  const waiting = new Set<Socket>();
  const held = createHeld(bySocket);
  const forget = function forgetSocket(this: Socket): void {
    held.drop(this);
    bySocket.delete(this);
    waiting.delete(this);
  };
  const cut = (socket: Socket | undefined, reason: string): boolean => {
    const connection = socket && bySocket.get(socket);
    if (socket === undefined || connection === undefined) return false;
    report({ type: "client-cut", reason, address: connection.address });
    forget.call(socket);
    socket.destroy();
    return true;
  };

  return {
    accept(socket) {
      const address = socket.remoteAddress ?? "";
      const full = `there are ${limits.maxConnections} connections already`;
      if (bySocket.size >= limits.maxConnections && !cutOldest(waiting) && !cut(held.findUnused(), full)) {
        report({ type: "client-cut", reason: full, address });
        socket.destroy();
        return;
      }
      bySocket.set(socket, toConnection(address, addresses));
      waiting.add(socket);
      socket.on("close", forget);
    },
    find: (socket) => bySocket.get(socket),
    letIn(socket, caller) {
      const most = caller === localCaller ? Infinity : limits.maxConnectionsPerCaller;
      waiting.delete(socket);
      if (held.take(socket, caller.id) <= most) return true;
      cut(held.findUnused(caller.id), `${caller.id} has ${most} connections already`);
      if (held.count(caller.id) <= most) return true;
      // It is the caller's no more, so that cutting it later lets no other in; and it makes room as those of strangers do.
      held.drop(socket);
      waiting.add(socket);
      return false;
    },
    cutWaiting() {
      for (const socket of waiting) if (bySocket.get(socket)?.running === 0) socket.destroy();
    },
    cutStalled() {
      for (const [socket, connection] of bySocket)
        if (isStalled(socket, connection, limits.stalledMs)) cut(socket, "it took nothing of its answer");
    },
  };
}

function toConnection(address: string, addresses: Buckets | undefined): Connection {
  const now = performance.now();
  const network = toNetwork(address);
  const bucket = addresses?.find(network, now);
  return { address, network, bucket, running: 0, caller: undefined, sentBytes: 0, sentAt: now };
}

/** The connections of callers that were let in. */
interface Held {
  /** Makes a connection that of a caller, as the one used last. Answers how many the caller holds. */
  take(socket: Socket, caller: string): number;
  drop(socket: Socket): void;
  /** How many a caller holds. */
  count(caller: string): number;
  /** The connection that was not in use for longest, of this caller or of the one that holds the most and has one. */
  findUnused(caller?: string): Socket | undefined;
}

function createHeld(bySocket: ReadonlyMap<Socket, Connection>): Held {
  const byCaller = new Map<string, Set<Socket>>();
  const findIn = (sockets: Iterable<Socket>): Socket | undefined => {
    for (const socket of sockets) if (bySocket.get(socket)?.running === 0) return socket;
    return undefined;
  };
  function drop(socket: Socket): void {
    const connection = bySocket.get(socket);
    if (connection?.caller === undefined) return;
    const sockets = byCaller.get(connection.caller);
    sockets?.delete(socket);
    if (sockets?.size === 0) byCaller.delete(connection.caller);
    connection.caller = undefined;
  }

  return {
    take(socket, caller) {
      drop(socket);
      const connection = bySocket.get(socket);
      if (connection !== undefined) connection.caller = caller;
      const sockets = byCaller.get(caller) ?? new Set();
      byCaller.set(caller, sockets.add(socket));
      return sockets.size;
    },
    drop,
    count: (caller) => byCaller.get(caller)?.size ?? 0,
    findUnused(caller) {
      if (caller !== undefined) return findIn(byCaller.get(caller) ?? []);
      const sets = [...byCaller.values()].toSorted((one, other) => other.size - one.size);
      for (const sockets of sets) {
        const found = findIn(sockets);
        if (found !== undefined) return found;
      }
      return undefined;
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

function isStalled(socket: Socket, connection: Connection, stalledMs: number): boolean {
  const waitingBytes = socket.writableLength;
  const sentBytes = socket.bytesWritten - waitingBytes;
  if (waitingBytes === 0 || sentBytes !== connection.sentBytes) {
    connection.sentBytes = sentBytes;
    connection.sentAt = performance.now();
    return false;
  }
  return connection.sentAt < performance.now() - stalledMs;
}

/**
 * What an address is counted as: an IPv4 address by itself, an IPv6 address with all the others of its network (`/64`), since a client that
 * has one of them has all.
 */
export function toNetwork(address: string): string {
  if (!address.includes(":")) return address;
  if (address.startsWith("::ffff:") && address.includes(".")) return address.slice("::ffff:".length);
  const [front = [], back] = address.split("::").map((half) => (half === "" ? [] : half.split(":")));
  const missing = back === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array.from({ length: missing }, () => "0"), ...(back ?? [])];
  return groups.slice(0, 4).join(":");
}
