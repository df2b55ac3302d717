import type { CircuitBreakerPolicy } from "cockatiel";

import type { ToolOutcome } from "../../core/outcome.ts";
import type { Tool } from "../../core/tool.ts";
import type { Entry } from "../entry.ts";
import type { Registry } from "../registry.ts";
import { isFault } from "./tool-faults.ts";

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
export interface Watched {
  readonly entry: Entry;
  readonly run: () => ToolOutcome | Promise<ToolOutcome>;
  readonly onBroken: (facts: Required<BreakerOptions>) => void;
  readonly onMended: () => void;
}

/** Makes breakers, one for each tool. */
export function createBreakers(options: BreakerOptions, registry: Pick<Registry, "setBroken">): Breakers {
  const { failures = 5, openMs = 30_000 } = options;
  const policies = new WeakMap<Tool, Promise<CircuitBreakerPolicy>>();

  async function createPolicy(): Promise<CircuitBreakerPolicy> {
    // Only those who want breakers pay for loading them.
    const { circuitBreaker, ConsecutiveBreaker, handleWhenResult } = await import("cockatiel");
    const handle = handleWhenResult((outcome) => isFault(outcome as ToolOutcome));
    return circuitBreaker(handle, { halfOpenAfter: openMs, breaker: new ConsecutiveBreaker(failures) });
  }

  function policyOf(tool: Tool): Promise<CircuitBreakerPolicy> {
    const policy = policies.get(tool) ?? createPolicy();
    policies.set(tool, policy);
    return policy;
  }

  function takeOut({ entry, onBroken, onMended }: Watched): void {
    registry.setBroken(entry, performance.now() + openMs);
    onBroken({ failures, openMs });
    const letIn = (): void => {
      registry.setBroken(entry, undefined);
      onMended();
    };
    setTimeout(letIn, openMs).unref();
  }

  return {
    openMs,
    async run(watched) {
      const policy = await policyOf(watched.entry.tool);
      const opened = policy.onBreak(() => takeOut(watched));
      try {
        return await policy.execute(async () => watched.run());
      } catch (cause) {
        const { isBrokenCircuitError } = await import("cockatiel");
        if (isBrokenCircuitError(cause)) return undefined;
        throw cause;
      } finally {
        opened.dispose();
      }
    },
  };
}
