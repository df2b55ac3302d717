import type { ToolOutcome } from "../../core/outcome.ts";
import type { AgentEvent } from "../events.ts";
import type { RunResult } from "../run-result.ts";

/** Events that are written down as they are told. */
export type KeptEvent = Extract<
  AgentEvent,
  {
    readonly type:
      | "task-start"
      | "model-answer"
      | "message-added"
      | "call-changed"
      | "approval-asked"
      | "approval-decided"
      | "guard-acted"
      | "memory-compacted"
      | "answer-dropped";
  }
>;

/** One call, on its way into a log. */
export interface LoggedCall {
  /** `step.call`: with the run it is the idempotency key. */
  readonly name: string;
  readonly tool: string;
  readonly idempotent: boolean;
  /** Whether what came of it is on disk before anybody hears of it. If not, it is written with what follows it. */
  readonly isAwaited: boolean;
  /** Makes the call, and says right before that it begins. One that rejects before it has begun is as if nobody had asked for it. */
  readonly work: (begin: () => void) => Promise<ToolOutcome>;
}

/** What came of it, and whether that was known before. What is logged later is not kept without it. */
export interface LoggedOutcome {
  readonly outcome: ToolOutcome;
  readonly recalled: boolean;
}

/**
 * Where a run writes down what happens before it counts.
 *
 * @throws {KitbagError} every method but `close`: `lease-lost` if somebody else works on the run, and what the store throws.
 */
export interface RunLog {
  /** Whether anything is kept: only then are digests worth their while. */
  readonly isKept: boolean;
  /** Aborted when somebody else has taken the run over. */
  readonly signal: AbortSignal | undefined;
  /** Answers with what to wait for before the event counts; `undefined` if there is nothing. */
  write(event: KeptEvent): Promise<unknown> | undefined;
  /** Writes an event without a wait: it goes to the disk with what is written in the same turn, and everything later waits for it. */
  send(event: KeptEvent): void;
  /** What to wait for until everything that was sent is on disk, if there is anything. */
  whenSent(): Promise<unknown> | undefined;
  /** Makes a call, or answers with what came of it when it was made before. */
  call(call: LoggedCall): Promise<LoggedOutcome>;
  end(result: RunResult): Promise<void> | undefined;
  /** Gives the run back until somebody resumes it. */
  pause(): Promise<void> | undefined;
  /** Gives the run back as it is, after a failure of the store or of Kitbag. */
  close(): Promise<void> | undefined;
}

const nobodyNotes = (): void => undefined;

const toNew = (outcome: ToolOutcome): LoggedOutcome => ({ outcome, recalled: false });

/** The log of a run that is not kept. */
export const noLog: RunLog = {
  isKept: false,
  signal: undefined,
  write: () => undefined,
  send: () => undefined,
  whenSent: () => undefined,
  call: ({ work }) => work(nobodyNotes).then(toNew),
  end: () => undefined,
  pause: () => undefined,
  close: () => undefined,
};
