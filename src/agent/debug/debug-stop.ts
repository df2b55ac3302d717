import type { JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { ModelMessage } from "../../models/model.ts";
import type { ModelAnswered } from "../events.ts";
import type { AgentCall } from "../hooks.ts";

/** Where a run is to stop: all that is said must hold. */
export interface Breakpoint {
  /** Before the model is asked for the so manieth time. */
  readonly step?: number;
  /** Before and after calls of this tool, by its address. */
  readonly tool?: string;
  /** Anything else. */
  readonly when?: (stop: DebugStop) => boolean;
}

/** A run that has stopped, and what can be seen there. */
export interface DebugStop {
  /** Before the model is asked, after it has answered, before a call, after one. */
  readonly where: "model" | "answer" | "call" | "outcome";
  readonly run: string;
  readonly step: number;
  /** What the model sees, or has seen. */
  readonly messages: readonly ModelMessage[];
  /** The names of the tools that it sees. */
  readonly tools: readonly string[];
  readonly answer?: ModelAnswered;
  readonly call?: AgentCall;
  readonly outcome?: ToolOutcome;
}

/** What is to happen next. */
export type DebugAction =
  /** Goes on to the next breakpoint. */
  | { readonly action: "continue" }
  /** Goes on to the next place where one can stop. */
  | { readonly action: "step" }
  /** Before a call: makes it with another input. */
  | { readonly action: "step" | "continue"; readonly input: JsonValue }
  /** Before or after a call: this came of it. */
  | { readonly action: "step" | "continue"; readonly outcome: ToolOutcome }
  /** After an answer: asks the model again. After a call: makes it again, with another input if there is one. */
  | { readonly action: "retry"; readonly input?: JsonValue }
  /** Ends the run; it can be resumed. */
  | { readonly action: "stop" };

/** What a debugger is made of. */
export interface DebuggerOptions {
  readonly breakpoints?: readonly Breakpoint[];
  /** Whether it stops at the first place there is. @default true without breakpoints */
  readonly stopAtStart?: boolean;
  /** Asked at each stop, and never about two at a time; the run waits for the answer. */
  readonly onStop: (stop: DebugStop) => DebugAction | Promise<DebugAction>;
  /** Ends the run: `run.stop`. */
  readonly stop: () => void;
}
