import type { Progress } from "./events.ts";
import type { ToolOutcome } from "./outcome.ts";
import type { TypedTool } from "./tool-data.ts";

/** What a tool gets beside its input. */
export interface ToolContext<Injected = Readonly<Record<string, unknown>>> {
  /** The id of this call. */
  readonly id: string;
  /** Aborted at the deadline and when the caller cancels; pass it on to whatever takes one. */
  readonly signal: AbortSignal;
  /** The values that the tool declared with `inject`; the model never sees them. */
  readonly injected: Injected;
  /** Tells how far the work is. */
  progress(progress: string | Progress): void;
  /** Calls another tool, the same way every call takes; it is cancelled with this one. Never throws. */
  call<Input, Output>(tool: TypedTool<Input, Output>, input: Input): Promise<ToolOutcome<Output>>;
  call(tool: string, input?: unknown): Promise<ToolOutcome>;
}

/** What a generator may yield to tell progress, beside chunks of its output. */
export class ProgressMark {
  readonly progress: Progress;

  constructor(progress: Progress) {
    this.progress = progress;
  }
}

/**
 * Makes a value that a generator tool yields to tell progress. Everything else that it yields is a chunk of its output.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool, progress } from "kitbag";
 *
 * const count = defineTool({
 *   name: "count",
 *   description: "Counts to three, out loud",
 *   async *run() {
 *     yield progress({ done: 0, total: 3 });
 *     yield "one two three";
 *     return 3;
 *   },
 * });
 * const outcome = await createWorkspace({ tools: [count] }).call("count", {});
 * console.assert(outcome.status === "ok" && outcome.output === 3);
 * ```
 */
export function progress(state: string | Progress): ProgressMark {
  return new ProgressMark(typeof state === "string" ? { message: state } : state);
}
