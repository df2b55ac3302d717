import { longestTimerMs } from "../../core/async.ts";
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

/** A call of a tool, and what hears how it went. */
interface Watched {
  readonly entry: Entry;
  readonly run: () => ToolOutcome | Promise<ToolOutcome>;
  /** Whether a failure says that the tool does not work; one that says nothing about it counts for nothing. */
  readonly isFault: (outcome: FailedOutcome) => boolean;
  /** Waits for the call that tries the tool, but no longer than this call may; then it answers with the outcome of this call. */
  readonly wait: (trial: Promise<void>) => Promise<FailedOutcome | undefined>;
  readonly onBroken: (facts: Required<BreakerOptions>) => void;
  /** It works again: a call has tried it. */
  readonly onMended: () => void;
}

/** What is known of one tool. */
interface Breaker {
  /** Failures in a row while it works. */
  failures: number;
  /** It broke, and no call has succeeded since. */
  isBroken: boolean;
  /** The end of the call that tries now whether it works again. */
  trial: Promise<void> | undefined;
}

/** Makes breakers, one for each tool. Until when a tool is taken out is known to the registry. */
export function createBreakers(
  options: BreakerOptions,
  registry: Pick<Registry, "setBroken" | "brokenUntil">,
): Breakers {
  const { failures: mostFailures = 5, openMs = 30_000 } = options;
  const breakers = new WeakMap<Tool, Breaker>();

  function breakerOf(tool: Tool): Breaker {
    const breaker = breakers.get(tool) ?? { failures: 0, isBroken: false, trial: undefined };
    breakers.set(tool, breaker);
    return breaker;
  }

  function takeOut(breaker: Breaker, { entry: { tool }, onBroken }: Watched): void {
    const until = performance.now() + openMs;
    breaker.isBroken = true;
    registry.setBroken(tool, until);
    onBroken({ failures: mostFailures, openMs });
    letInAt(tool, until);
  }

  /** Lets the next call try whether it works. */
  function letInAt(tool: Tool, until: number): void {
    const leftMs = until - performance.now();
    if (leftMs <= 0) return registry.setBroken(tool, undefined);
    setTimeout(() => letInAt(tool, until), Math.min(leftMs, longestTimerMs)).unref();
  }

  /** Counts the failures in a row. Ignores the outcome of a call that was already running when the tool was disabled. */
  function isTooMuch(breaker: Breaker, isFault: Watched["isFault"], outcome: ToolOutcome): boolean {
    if (breaker.isBroken) return false;
    if (outcome.status === "ok") breaker.failures = 0;
    else if (isFault(outcome)) breaker.failures += 1;
    return breaker.failures >= mostFailures;
  }

  return {
    openMs,
    async run(watched) {
      const breaker = breakerOf(watched.entry.tool);
      while (breaker.trial !== undefined) {
        const stopped = await watched.wait(breaker.trial);
        if (stopped !== undefined) return stopped;
      }
      if (registry.brokenUntil(watched.entry) !== undefined) return undefined;
      if (breaker.isBroken) return runTrial(breaker, watched, () => takeOut(breaker, watched));
      const outcome = await watched.run();
      if (isTooMuch(breaker, watched.isFault, outcome)) takeOut(breaker, watched);
      return outcome;
    },
  };
}

/** Runs the one call that tries whether a tool works again; other calls wait for it. */
async function runTrial(breaker: Breaker, watched: Watched, takeOut: () => void): Promise<ToolOutcome> {
  const { promise, resolve } = Promise.withResolvers<void>();
  breaker.trial = promise;
  try {
    const outcome = await watched.run();
    if (outcome.status === "failed" && watched.isFault(outcome)) {
      takeOut();
    } else {
      breaker.isBroken = false;
      breaker.failures = 0;
      watched.onMended();
    }
    return outcome;
  } finally {
    breaker.trial = undefined;
    resolve();
  }
}
