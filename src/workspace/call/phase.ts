import type { JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Tool } from "../../core/tool.ts";

/** The phases of a call, in order. Each is a file beside this one. */
export const phaseNames = [
  "record",
  "resolve",
  "check-input",
  "authorise",
  "admit",
  "redact",
  "cap",
  "check-output",
  "run",
] as const;

/** The name of a phase. */
export type PhaseName = (typeof phaseNames)[number];

/** What a middleware sees of a call. */
export interface PublicCall {
  readonly id: string;
  /** What the caller asked for, and after `resolve` the address of the tool. */
  readonly address: string;
  /** Known after `resolve`. */
  readonly tool: Tool | undefined;
  /** As the caller gave it; after `check-input` with defaults and lenient changes. */
  readonly input: unknown;
  readonly parent: string | undefined;
  readonly depth: number;
  readonly user: string | undefined;
  readonly signal: AbortSignal;
  /**
   * Puts another input in the place of the caller's; it is checked like any other.
   *
   * @throws {KitbagError} `middleware-failed` after `check-input`: what was checked and approved is what runs.
   */
  setInput(input: unknown): void;
}

/**
 * One step around a call: does something, calls `next`, does something with the outcome.
 *
 * **Contract**: answers with an outcome; may answer without `next`, and then nothing behind it happens; calls `next` at most
 * once. One that throws makes the call fail with `middleware-failed`.
 */
export type Middleware = (call: PublicCall, next: () => Promise<ToolOutcome>) => ToolOutcome | Promise<ToolOutcome>;

/** What a running tool sends before its output. */
export type Chunk = JsonValue;
