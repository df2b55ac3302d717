import type { CircuitBreakerPolicy } from "cockatiel";

import { KitbagError } from "../../core/errors.ts";
import { findWrongOption, isAboveZero, type Expectations } from "../options/find-wrong-option.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import type { Tool } from "../../core/tool.ts";
import type { Entry } from "../registry/registered-tool.ts";
import type { Registry } from "../registry/registry.ts";

/** How often a tool is tried again that failed and may be run again: one that is idempotent or read-only. */
export interface RetryPolicy {
  /** @default 0, unless the tool says otherwise */
  readonly times?: number;
  /** The pause before the first; it doubles each time, and varies by a half. @default 100 */
  readonly minMs?: number;
  /** @default 5000 */
  readonly maxMs?: number;
}

const retryExpectations: Expectations<RetryPolicy> = {
  times: [(value) => Number.isSafeInteger(value) && (value as number) >= 0, "a whole number from 0"],
  minMs: [isAboveZero, "a number above 0"],
  maxMs: [isAboveZero, "a number above 0"],
};

const breakerExpectations: Expectations<BreakerOptions> = {
  failures: [(value) => Number.isSafeInteger(value) && (value as number) > 0, "a whole number above 0"],
  openMs: [isAboveZero, "a number above 0"],
};

/**
 * Checks what is said of retries and breakers.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkFailureOptions(retries: RetryPolicy, breaker: BreakerOptions): void {
  const wrong =
    findWrongOption(retries, retryExpectations, "retries") ?? findWrongOption(breaker, breakerExpectations, "breaker");
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
}

/** Fills in what was not said. */
export function toRetryPolicy({ times = 0, minMs = 100, maxMs = 5000 }: RetryPolicy): Required<RetryPolicy> {
  return { times, minMs, maxMs };
}

/** When a tool that fails is taken out for a while. */
export interface BreakerOptions {
  /** After so many failures in a row. @default 5 */
  readonly failures?: number;
  /** For so long; then one call tries whether it works again. @default 30000 */
  readonly openMs?: number;
}

/** Takes tools that fail again and again out of those that are available, and lets them back in. */
export interface Breakers {
  /** For so long a tool is taken out. */
  readonly openMs: number;
  /** Answers with nothing, and runs nothing, while the tool is taken out. */
  run(watched: Watched): Promise<ToolOutcome | undefined>;
}

/** A tool that is run, and who hears what becomes of it. */
interface Watched {
  readonly entry: Entry;
  readonly run: () => ToolOutcome | Promise<ToolOutcome>;
  /** Whether a failure says that the tool does not work; one that says nothing about it counts for nothing. */
  readonly isFault: (outcome: FailedOutcome) => boolean;
  /** Waits no longer than the call may. */
  readonly wait: (work: Promise<ToolOutcome | undefined>) => Promise<ToolOutcome | undefined>;
  readonly onBroken: (facts: Required<BreakerOptions>) => void;
  /** It works again: a call has tried it. */
  readonly onMended: () => void;
}

/** The longest time that a timer can wait. */
const longestTimer = 2 ** 31 - 1;

/** The breaker of one tool. */
interface Breaker {
  readonly policy: CircuitBreakerPolicy;
  /** Whether a call tries now whether the tool works again. */
  readonly isTried: () => boolean;
}

/** Makes breakers, one for each tool. */
export function createBreakers(
  options: BreakerOptions,
  registry: Pick<Registry, "setBroken" | "brokenUntil">,
): Breakers {
  const { failures = 5, openMs = 30_000 } = options;
  const breakers = new WeakMap<Tool, Promise<Breaker>>();
  /** Those that broke and have not worked since. */
  const broken = new WeakSet<Tool>();

  async function createBreaker(): Promise<Breaker> {
    // Only those who want breakers pay for loading them.
    const { circuitBreaker, CircuitState, ConsecutiveBreaker, handleWhenResult } = await import("cockatiel");
    const handle = handleWhenResult((outcome) => (outcome as ToolOutcome).status === "failed");
    const policy = circuitBreaker(handle, { halfOpenAfter: openMs, breaker: new ConsecutiveBreaker(failures) });
    return { policy, isTried: () => policy.state === CircuitState.HalfOpen };
  }

  function breakerOf(tool: Tool): Promise<Breaker> {
    const breaker = breakers.get(tool) ?? createBreaker();
    breakers.set(tool, breaker);
    return breaker;
  }

  function takeOut({ entry, onBroken }: Watched): void {
    // Every call that runs now hears of it.
    if (registry.brokenUntil(entry) !== undefined) return;
    const { tool } = entry;
    broken.add(tool);
    // A timer may come a moment before the time that the policy goes by.
    const until = performance.now() + openMs + 1;
    registry.setBroken(tool, until);
    onBroken({ failures, openMs });
    letInAt(tool, until);
  }

  /** Lets the next call try whether it works. */
  function letInAt(tool: Tool, until: number): void {
    const leftMs = until - performance.now();
    if (leftMs <= 0) return registry.setBroken(tool, undefined);
    setTimeout(() => letInAt(tool, until), Math.min(leftMs, longestTimer)).unref();
  }

  return {
    openMs,
    async run(watched) {
      const { tool } = watched.entry;
      const { policy, isTried } = await breakerOf(tool);
      const isWaiting = isTried();
      const work = runUnder(policy, watched, {
        onBreak: () => takeOut(watched),
        onReset: () => broken.delete(tool) && watched.onMended(),
      });
      // While another call tries whether the tool works, the policy lets this one wait for it.
      return isWaiting ? watched.wait(work) : work;
    },
  };
}

async function runUnder(
  policy: CircuitBreakerPolicy,
  { run, isFault }: Watched,
  { onBreak, onReset }: { readonly onBreak: () => void; readonly onReset: () => unknown },
): Promise<ToolOutcome | undefined> {
  const listeners = [policy.onBreak(onBreak), policy.onReset(onReset)];
  let aside: ToolOutcome | undefined;
  try {
    return await policy.execute(async () => {
      const outcome = await run();
      if (outcome.status === "ok" || isFault(outcome)) return outcome;
      aside = outcome;
      // Whatever is returned is counted, what is thrown is not.
      throw new Error("the outcome says nothing about the tool");
    });
  } catch (cause) {
    if (aside !== undefined) return aside;
    const { isBrokenCircuitError } = await import("cockatiel");
    if (isBrokenCircuitError(cause)) return undefined;
    throw cause;
  } finally {
    for (const listener of listeners) listener.dispose();
  }
}
