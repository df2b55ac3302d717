import { setTimeout as sleep } from "node:timers/promises";

import { backOffMs, untilAborted } from "../../core/async.ts";
import { isKitbagError, describeCause } from "../../core/errors.ts";
import type { McpSource } from "../../core/mcp-source.ts";
import { type McpConnection, toMcpFailure } from "./connect-server.ts";

/** How often, and after how long, a server is started again. */
export interface RestartPolicy {
  /** After this many failures in a row the server is no longer used. @default 5 */
  readonly maxFailures: number;
  /** The longest wait before the second start; doubled for each further one. @default 250 */
  readonly firstWaitMs: number;
  /** How long it then stays unused. @default 300000 */
  readonly restMs: number;
  /** How long a start may take. @default 30000 */
  readonly connectMs: number;
}

/** The default. */
const defaultRestarts: RestartPolicy = { maxFailures: 5, firstWaitMs: 250, restMs: 300_000, connectMs: 30_000 };

/** The way to a server that is there when it is needed. */
export interface ServerLink {
  /**
   * Answers with the open connection, or makes one.
   *
   * @throws {KitbagError} `mcp-failed` if it cannot be made, or the server was taken out.
   */
  open(signal: AbortSignal): Promise<McpConnection>;
  /** The server answered a call: what it did before is forgotten. */
  markWell(): void;
  close(): Promise<void>;
}

/** What a link is made with. */
export interface LinkOptions {
  readonly source: McpSource;
  readonly connect: (signal: AbortSignal) => Promise<McpConnection>;
  /** Done before it connects: takes as long as it needs. */
  readonly prepare?: (signal: AbortSignal) => Promise<unknown>;
  readonly restarts?: Partial<RestartPolicy> | undefined;
  /** Told when the server is taken out. */
  readonly onDown?: (reason: string) => void;
}

/** How often a server failed in a row, and what follows from it. */
interface FailureRecord {
  readonly failures: number;
  count(reason: string): void;
  forget(): void;
  /** Why it is left out now; nothing if it may be tried. */
  whyOut(): string | undefined;
}

function createRecord({ maxFailures, restMs }: RestartPolicy, onDown: LinkOptions["onDown"]): FailureRecord {
  let failures = 0;
  let lastReason = "";
  let outUntil = 0;
  return {
    get failures() {
      return failures;
    },
    count(reason) {
      failures += 1;
      lastReason = reason;
      if (failures < maxFailures) return;
      outUntil = performance.now() + restMs;
      onDown?.(reason);
    },
    forget() {
      failures = 0;
    },
    whyOut() {
      if (failures < maxFailures) return undefined;
      const leftMs = outUntil - performance.now();
      if (leftMs > 0)
        return `it failed ${failures} times in a row and was taken out for ${Math.ceil(leftMs / 1000)} s (${lastReason})`;
      failures = 0;
      return undefined;
    },
  };
}

/** Makes the way to a server that is not started yet. */
export function createServerLink({ source, connect, prepare, restarts, onDown }: LinkOptions): ServerLink {
  const policy = { ...defaultRestarts, ...restarts };
  const record = createRecord(policy, onDown);
  const closing = new AbortController();
  let opening: Promise<McpConnection> | undefined;
  let opened: McpConnection | undefined;

  /** A server that died counts when it is needed again: it may have been asked to end. */
  function bury(): void {
    if (opened?.end === undefined) return;
    record.count(opened.end);
    opening = opened = undefined;
  }

  async function start(): Promise<McpConnection> {
    const { firstWaitMs: firstMs, restMs: maxMs } = policy;
    const waitMs = record.failures === 0 ? 0 : backOffMs(record.failures, { firstMs, maxMs });
    try {
      if (waitMs > 0) await sleep(waitMs, undefined, { signal: closing.signal });
      await prepare?.(closing.signal);
      const limit = AbortSignal.any([AbortSignal.timeout(policy.connectMs), closing.signal]);
      opened = await raceWith(connect(limit), limit, policy.connectMs);
      return opened;
    } catch (cause) {
      opening = undefined;
      const reason = isKitbagError(cause, "mcp-failed") ? cause.details.reason : describeCause(cause);
      record.count(reason);
      throw isKitbagError(cause) ? cause : toMcpFailure(source, reason, cause);
    }
  }

  return {
    open(signal) {
      bury();
      const reason = closing.signal.aborted ? "Kitbag has closed it" : record.whyOut();
      if (reason !== undefined) return Promise.reject(toMcpFailure(source, reason));
      opening ??= start();
      // Each caller waits for himself: one that gives up must not end what others wait for.
      return untilAborted(opening, signal);
    },
    markWell: () => record.forget(),
    async close() {
      closing.abort();
      const last = await opening?.catch(() => undefined);
      await last?.close().catch(() => {});
    },
  };
}

/** Some of what connects does not listen to its signal; it must not be waited for. */
async function raceWith<Value>(work: Promise<Value>, limit: AbortSignal, limitMs: number): Promise<Value> {
  try {
    return await untilAborted(work, limit);
  } catch (cause) {
    if (!limit.aborted) throw cause;
    throw new Error(`it did not answer within ${limitMs} ms`, { cause });
  }
}
