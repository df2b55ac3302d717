import type { GuardAct } from "./guards.ts";
import type { JsonValue } from "./json.ts";
import type { CappedOutput, Recalled, ToolOutcome } from "./outcome.ts";
import type { Coercion } from "./schema/coerce.ts";

/** Where a tool comes from. Component and global tools are always available, skill tools only while their skill is open. */
export type ToolSource = "component" | "skill" | "global";

/** What is said of progress: in words, in numbers, or both. */
export interface Progress {
  readonly message?: string;
  readonly done?: number;
  readonly total?: number;
}

/** What happened during a call, in order. Named noun-verb: read top to bottom, it is a log. Secrets are already taken out. */
export type CallEvent =
  | CallStart
  | { readonly type: "input-replaced"; readonly call: string; readonly input: JsonValue }
  | { readonly type: "input-coerced"; readonly call: string; readonly coerced: readonly Coercion[] }
  | { readonly type: "approval-request"; readonly call: string; readonly tool: string; readonly input: JsonValue }
  | { readonly type: "approval-granted"; readonly call: string; readonly changed: boolean; readonly input: JsonValue }
  | { readonly type: "approval-denied"; readonly call: string; readonly reason: string }
  | ({ readonly type: "guard-acted"; readonly call: string } & GuardAct)
  | { readonly type: "call-progress"; readonly call: string; readonly progress: Progress }
  | CallLog
  | { readonly type: "call-chunk"; readonly call: string; readonly chunk: JsonValue }
  | { readonly type: "call-retry"; readonly call: string; readonly attempt: number }
  | { readonly type: "call-kept"; readonly call: string; readonly letter: string }
  | ToolBroken
  | ToolMended
  | { readonly type: "call-recalled"; readonly call: string; readonly from: Recalled }
  | { readonly type: "output-capped"; readonly call: string; readonly capped: CappedOutput }
  | CallEnd
  | { readonly type: "result-dropped"; readonly call: string; readonly tool: string; readonly afterMs: number };

/** A call begins. */
export interface CallStart {
  readonly type: "call-start";
  readonly call: string;
  /** The call that made this one, if a tool did. */
  readonly parent?: string;
  /** Who asked, if the caller said so. */
  readonly user?: string;
  /** The trace that it belongs to, if telemetry is on: 32 hexadecimal digits. */
  readonly trace?: string;
  /** The tool's address; what was asked for if there is no such tool. */
  readonly tool: string;
  /** Of the tool, if it has one: the live one, or the earlier one that was asked for. */
  readonly version?: string;
  readonly source?: ToolSource;
  readonly owner?: string;
  /** As the caller gave it; `null` if it is no JSON at all. */
  readonly input: JsonValue;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** A tool says something about its work. Both may hold line breaks and control characters: escape them where you print them. */
export interface CallLog {
  readonly type: "call-log";
  readonly call: string;
  readonly message: string;
  readonly data?: JsonValue;
}

/** A tool failed so often that it is disabled for a while; `call` is the last that failed. */
export interface ToolBroken {
  readonly type: "tool-broken";
  readonly call: string;
  readonly tool: string;
  /** How many calls have failed in a row. */
  readonly failures: number;
  readonly openMs: number;
}

/** A tool that was disabled works again: `call` has tried it. */
export interface ToolMended {
  readonly type: "tool-mended";
  readonly call: string;
  readonly tool: string;
}

/** A call is over. The outcome is the one that the caller gets: do not change it. */
export interface CallEnd {
  readonly type: "call-end";
  readonly call: string;
  readonly tool: string;
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
  /** How much of that it waited for a place and for limits, if it did. */
  readonly queuedMs?: number;
  /** What the tool says that it cost, in US dollars, without the calls inside it; not there if it says nothing. */
  readonly costUsd?: number;
}
