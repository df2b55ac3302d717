/** Where and when a script shall stop. */
export interface BreakpointRequest {
  /** From 1. */
  readonly line: number;
  /** Stops only where this expression of the script's language is true. */
  readonly condition?: string;
}

/** A breakpoint that was asked for, and what became of it. */
export interface Breakpoint {
  readonly file: string;
  /** Where it really is; it moves to the next line with code. */
  readonly line: number;
  readonly requestedLine: number;
  readonly condition?: string;
  /** The script will stop there. */
  readonly verified: boolean;
  /** Why it will not, or not yet. */
  readonly message?: string;
}

/** One call on the stack, the innermost first. */
export interface StackFrame {
  /** For `scopes` and `evaluate`, until the script goes on. */
  readonly id: number;
  readonly name: string;
  /** Relative to the skill's folder; absolute, as it is inside, if it is elsewhere. */
  readonly file: string;
  readonly line: number;
  /** Whether the file is of the skill itself. */
  readonly isOwn: boolean;
}

/** A group of variables. */
export interface Scope {
  readonly name: string;
  /** For `variables`, until the script goes on. */
  readonly reference: number;
}

/** A variable, or a part of one. */
export interface Variable {
  readonly name: string;
  /** As text, shortened. */
  readonly value: string;
  readonly type?: string;
  /** For `variables`, if it has parts. */
  readonly reference?: number;
}

/** What an expression gave: a value, or why it failed. */
export type Evaluation =
  | { readonly ok: true; readonly value: string; readonly type?: string; readonly reference?: number }
  | { readonly ok: false; readonly message: string };

/** Why a script stopped: before its first line, at a breakpoint, after a step, on request, at an uncaught exception, or at `debugger;`. */
export type StopReason = "start" | "breakpoint" | "step" | "pause" | "exception" | "statement";

/** What happened to a script that is debugged, in order. */
export type DebugEvent =
  | { readonly type: "started"; readonly language: "node" | "python" }
  | {
      readonly type: "stopped";
      readonly reason: StopReason;
      readonly file: string;
      readonly line: number;
      /** Of the exception. */
      readonly text?: string;
    }
  | { readonly type: "continued" }
  | { readonly type: "output"; readonly stream: "stdout" | "stderr"; readonly text: string }
  /** A breakpoint in a file that was loaded just now. */
  | { readonly type: "breakpoint"; readonly breakpoint: Breakpoint }
  | {
      readonly type: "ended";
      /** It ended by itself, was ended through the session, or the connection broke. */
      readonly reason: "exited" | "terminated" | "lost";
    };

/** What can be asked of a script, in the terms of its language's protocol. */
export interface DebugCommands {
  /** Sets all breakpoints of a file, in place of those that were there. */
  setBreakpoints(file: string, breakpoints: readonly BreakpointRequest[]): Promise<readonly Breakpoint[]>;
  continue(): Promise<void>;
  /** Stops at the next line that is run. */
  pause(): Promise<void>;
  stepOver(): Promise<void>;
  stepInto(): Promise<void>;
  stepOut(): Promise<void>;
  stack(): Promise<readonly StackFrame[]>;
  scopes(frame: number): Promise<readonly Scope[]>;
  variables(reference: number): Promise<readonly Variable[]>;
  /** Evaluates in a frame; in the innermost one if none is given. The expression may change the script's variables. */
  evaluate(expression: string, frame?: number): Promise<Evaluation>;
}

/**
 * A script that is debugged. It waits before its first line until `continue` is called.
 *
 * **Contract**: a command rejects with a {@link KitbagError} `debug-failed` if the script has ended, or is not stopped where it must
 * be. All texts come from the script: they may be anything. Values that the call hides are hidden here too.
 */
export interface DebugSession extends DebugCommands {
  readonly language: "node" | "python";
  /** The script, relative to the skill's folder. */
  readonly script: string;
  /** Whether it is stopped now; then where and why. */
  readonly stopped: Extract<DebugEvent, { type: "stopped" }> | undefined;
  readonly hasEnded: boolean;
  /** Hears everything from now on; answers with how to stop that. Listeners must not throw. */
  onEvent(listener: (event: DebugEvent) => void): () => void;
  /** The text of a file of the skill; nothing if it does not exist. */
  loadSource(file: string): string | undefined;
  /** Ends the script at once. */
  terminate(): void;
}
