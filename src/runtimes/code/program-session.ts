import { createSemaphore } from "../../core/async.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { RuntimeContext } from "../../core/runtime.ts";
import type { CodeLimits } from "./code-limits.ts";

/** One call that a program made. What it gave back is not in it: that stays with the program. */
export interface CodeCall {
  readonly tool: string;
  /** `unfinished` if the program ended before it. */
  readonly status: "ok" | "failed" | "unfinished";
  /** Why it failed. */
  readonly code?: string;
  readonly durationMs: number;
}

/** What happens while one program runs: its calls, and what it prints. */
export interface ProgramSession {
  /** Calls a tool the same way every call takes, at most so many at once. Rejects if the program must stop while the call waits. */
  call(address: string, input: unknown): Promise<ToolOutcome>;
  print(text: string): void;
  /** In the order in which they were asked for. */
  calls(): CodeCall[];
  /** All that was printed, a line for each time. */
  printed(): string;
}

interface OpenCall {
  readonly tool: string;
  readonly startedAt: number;
  outcome?: ToolOutcome;
  durationMs?: number;
}

/** Makes the session of one program, within the call that runs it. */
export function createProgramSession(context: RuntimeContext, { maxParallel }: CodeLimits): ProgramSession {
  const calls: OpenCall[] = [];
  const lines: string[] = [];
  const permits = createSemaphore(maxParallel);

  return {
    async call(address, input) {
      const call: OpenCall = { tool: address, startedAt: performance.now() };
      calls.push(call);
      const outcome = await permits.run(() => context.call(address, input), context.signal);
      call.outcome = outcome;
      call.durationMs = performance.now() - call.startedAt;
      return outcome;
    },
    print(text) {
      lines.push(text);
      context.log(text);
    },
    calls: () => calls.map(toCodeCall),
    printed: () => lines.join("\n"),
  };
}

function toCodeCall({ tool, startedAt, outcome, durationMs = performance.now() - startedAt }: OpenCall): CodeCall {
  const rounded = Math.round(durationMs * 10) / 10;
  if (outcome === undefined) return { tool, status: "unfinished", durationMs: rounded };
  const { status } = outcome;
  return { tool, status, ...(status === "failed" && { code: outcome.error.code }), durationMs: rounded };
}
