/** How much one egress proxy lets through. */
export interface EgressLimits {
  /** Connections at the same time. */
  readonly connections: number;
  /** Connections in all its life. */
  readonly totalConnections: number;
  /** Bytes in both directions, of all connections together. */
  readonly bytes: number;
  /** The head of a request, and of a response. */
  readonly headerBytes: number;
  /** How long a client may take to say where it wants to go. */
  readonly headerMs: number;
  /** How long the other side may take to accept a connection. */
  readonly connectMs: number;
  /** How long a connection may be silent. */
  readonly idleMs: number;
}

/** What a proxy lets through if nobody said anything else. */
export const defaultEgressLimits: EgressLimits = {
  connections: 64,
  totalConnections: 10_000,
  bytes: 1024 ** 3,
  headerBytes: 32 * 1024,
  headerMs: 10_000,
  connectMs: 10_000,
  idleMs: 60_000,
};
