import type { Progress } from "./events.ts";
import type { JsonValue } from "./json.ts";
import type { ToolOutcome } from "./outcome.ts";
import type { Tool, TypedTool } from "./tool-data.ts";
import type { ToolState } from "./tool-state.ts";

/** What a tool gets beside its input. */
export interface ToolContext<Injected = Readonly<Record<string, unknown>>> {
  /** The id of this call. */
  readonly id: string;
  /** Aborted at the deadline and when the caller cancels; pass it on to whatever takes one. */
  readonly signal: AbortSignal;
  /** The values that the tool declared with `inject`; the model never sees them. */
  readonly injected: Injected;
  /** Who made the outermost call, as `CallOptions.user` says; nothing if it says nothing. */
  readonly user?: string | undefined;
  /** What the tool keeps for itself and this user from one call to the next. */
  readonly state: ToolState;
  /**
   * What the tools of one skill, or of one component, share for this user. A tool of the workspace itself shares with nobody: there it is the
   * same as `state`.
   */
  readonly skillState: ToolState;
  /** Tells how far the work is. */
  progress(progress: string | Progress): void;
  /**
   * Says something about the work, for whoever watches or looks for a mistake; the model does not see it. Never throws: a text
   * is cut at 10,000 characters, data that is no JSON or more than 64 KiB is only described.
   */
  log(message: string, data?: JsonValue): void;
  /**
   * Says that this call has cost so much, or so much more: a paid service, a model. In US dollars; what is no cost does not count.
   * The call's end tells the sum, without the calls inside it, and so do the stats of its tool and skill.
   */
  spend(costUsd: number): void;
  /**
   * Calls another tool, the same way every call takes, for whoever made the outermost call; it is cancelled with this one. Never
   * throws.
   */
  call<Input, Output>(
    tool: TypedTool<Input, Output>,
    input: Input,
    options?: InsideOptions,
  ): Promise<ToolOutcome<Output>>;
  call(tool: string, input?: unknown, options?: InsideOptions): Promise<ToolOutcome>;
  /** The tools that are available now to the workspace or the session that the call is made for, and that whoever made it may call. */
  availableTools(): readonly { readonly address: string; readonly tool: Tool }[];
}

/** What may be said with a call inside another one. */
export interface InsideOptions {
  /** Cancels it before the call around it is over. */
  readonly signal?: AbortSignal;
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
