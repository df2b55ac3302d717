import type { ToolOutcome } from "../../core/outcome.ts";
import type { Tool } from "../../core/tool.ts";

/**
 * The phases of a call, outermost first: each is a file beside this one. What a phase does before `next` happens in this
 * order, what it does with the outcome in the opposite one: check output, redact and cap, record.
 */
export const phaseNames = [
  "record",
  "cap",
  "resolve",
  "check-input",
  "guards",
  "files",
  "authorise",
  "admit",
  "recall",
  "try-again",
  "check-output",
  "run",
] as const;

/** The name of a phase. */
export type PhaseName = (typeof phaseNames)[number];

/**
 * The phases that a middleware may be put before. Not the outer two: whatever a middleware does is recorded, redacted and
 * capped.
 */
export type OpenPhaseName = Exclude<PhaseName, "record" | "cap">;

/** What may be said when a middleware is added. */
export interface UseOptions {
  /** @default "resolve", the first phase */
  readonly before?: OpenPhaseName;
}

/** What a middleware sees of a call. */
export interface PublicCall {
  readonly id: string;
  /** The address of the tool; what the caller asked for if there is no such tool. */
  readonly address: string;
  readonly tool: Tool | undefined;
  /** As the caller gave it; after `check-input` with defaults and lenient changes. A copy: changing it changes nothing. */
  readonly input: unknown;
  /** The id of the call that made this one. */
  readonly parentId: string | undefined;
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
 * once, and not after it has answered. If it answers before `next` does, what is behind it is cancelled. `next` never rejects.
 * One that throws, or answers what is no outcome, makes the call fail with `middleware-failed`. It is not stopped by the
 * deadline, which is the tool's: one that waits for something looks at `call.signal`.
 */
export type Middleware = (call: PublicCall, next: () => Promise<ToolOutcome>) => ToolOutcome | Promise<ToolOutcome>;
