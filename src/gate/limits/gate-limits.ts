import type { GateLimits } from "../gate.ts";

/** The limits of a gate that is told nothing. */
export const defaultLimits: GateLimits = {
  maxBodyBytes: 4 * 1024 * 1024,
  caller: { perSecond: 2000, burst: 4000 },
  address: { perSecond: 10_000, burst: 20_000 },
  guesses: { perSecond: 1, burst: 20 },
  maxConnections: 2000,
  maxConnectionsPerCaller: 200,
  headMs: 10_000,
  requestMs: 60_000,
  minBytesPerSecond: 1024,
  slowAfterMs: 5000,
  stalledMs: 30_000,
  idleMs: 30_000,
};
