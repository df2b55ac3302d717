import { isKitbagError, toFailure } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { ModelContent, ModelMessage } from "../../models/model.ts";
import type { RunEvent, RunOutcome } from "../../records/runs/run-records.ts";
import type { Run } from "../../records/runs/run.ts";
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
      | "call-spent"
      | "agent-changed"
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
  /** Whether the outcome is on disk before listeners and the model see it. If not, it is written together with the next entry. */
  readonly isAwaited: boolean;
  /** Makes the call, and calls `begin` right before. If it rejects before `begin`, the log treats the call as never requested. */
  readonly work: (begin: () => void) => Promise<ToolOutcome>;
}

/** The outcome of a call, and whether the log already had it. Later entries are not kept without it. */
export interface LoggedOutcome {
  readonly outcome: ToolOutcome;
  readonly recalled: boolean;
}

/**
 * Where a run writes down what happens before it counts.
 *
 * @throws {KitbagError} every method but `close`: `lease-lost` if another process works on the run, and what the store throws.
 */
export interface RunLog {
  /** Whether anything is kept: only then are digests worth their while. */
  readonly isKept: boolean;
  /** Aborted when another process has taken over the run. */
  readonly signal: AbortSignal | undefined;
  /** Answers with what to wait for before the event counts; `undefined` if there is nothing. */
  write(event: KeptEvent): Promise<unknown> | undefined;
  /** Writes an event without a wait: it goes to the disk with what is written in the same turn, and everything later waits for it. */
  send(event: KeptEvent): void;
  /** What to wait for until everything that was sent is on disk, if there is anything. */
  whenSent(): Promise<unknown> | undefined;
  /** Makes a call, or answers with its logged outcome if it was made before. */
  call(call: LoggedCall): Promise<LoggedOutcome>;
  end(result: RunResult): Promise<void> | undefined;
  /** Releases the run until a caller resumes it. */
  pause(): Promise<void> | undefined;
  /** Releases the run as it is, after a failure of the store or of Kitbag. */
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

/** Makes of an event what can be kept as JSON: bytes become base64, addresses become text. */
export function toKeptEvent(event: KeptEvent): RunEvent {
  switch (event.type) {
    case "task-start":
    case "memory-compacted":
      return toEvent({ ...event, messages: event.messages.map(toKeptMessage) });
    case "message-added":
      return toEvent({ ...event, message: toKeptMessage(event.message) });
    case "model-answer":
      return toEvent(event.content.some(isFile) ? { ...event, content: event.content.map(toKeptPart) } : event);
    case "call-changed":
    case "call-spent":
    case "agent-changed":
    case "approval-asked":
    case "approval-decided":
    case "guard-acted":
    case "answer-dropped":
      return toEvent(event);
  }
}

/** A message as it was before it was kept. */
export function fromKeptMessage(message: ModelMessage): ModelMessage {
  return hasFiles(message) ? withParts(message, fromKeptPart) : message;
}

/** A message as it is kept. */
export function toKeptMessage(message: ModelMessage): ModelMessage {
  return hasFiles(message) ? withParts(message, toKeptPart) : message;
}

function toEvent(event: object): RunEvent {
  return event as unknown as RunEvent;
}

function withParts(message: ModelMessage, convert: (part: Part) => Part): ModelMessage {
  return {
    ...message,
    content: (message.content as unknown as readonly Part[]).map(convert),
  } as unknown as ModelMessage;
}

/** A part that may have data. */
interface Part {
  readonly type: string;
  readonly data?: unknown;
}

interface FileData {
  readonly type?: string;
  readonly data?: unknown;
  readonly url?: unknown;
}

function hasFiles({ role, content }: ModelMessage): boolean {
  return role !== "system" && content.some(isFile);
}

function isFile({ type }: { readonly type: string }): boolean {
  return type === "file" || type === "reasoning-file";
}

function toKeptPart<Some extends Part | ModelContent>(part: Some): Some {
  if (!isFile(part)) return part;
  const data = (part as Part).data as FileData;
  if (data.data instanceof Uint8Array) {
    return { ...part, data: { ...data, data: Buffer.from(data.data).toString("base64") } };
  }
  return data.url instanceof URL ? { ...part, data: { ...data, url: data.url.href } } : part;
}

function fromKeptPart(part: Part): Part {
  if (!isFile(part)) return part;
  const data = part.data as FileData;
  return typeof data.url === "string" ? { ...part, data: { ...data, url: new URL(data.url) } } : part;
}

/** Makes the log of a run whose lease this process has. */
export function createRunLog(run: Run): RunLog {
  /** The last write that was not waited for: nothing that follows from it counts before it is on disk, with all before it. */
  let sent: Promise<unknown> | undefined;

  function note(next: Promise<unknown>): void {
    sent = next;
    // The run hears of the failure where it waits for `sent`.
    next.catch(() => undefined);
  }

  async function withSent<Value>(next: Promise<Value>): Promise<Value> {
    const value = await next;
    await sent;
    return value;
  }

  return {
    isKept: true,
    signal: run.signal,
    write: (event) => withSent(run.append([toKeptEvent(event)])),
    send: (event) => note(run.append([toKeptEvent(event)])),
    whenSent: () => sent,
    call: (call) => callOnce(run, call, sent, note),
    end: (result) => withSent(run.end(toOutcome(result))),
    pause: () => withSent(run.pause()),
    close: () => run.close(),
  };
}

async function callOnce(
  run: Run,
  { name, tool, idempotent, isAwaited, work }: LoggedCall,
  answer: Promise<unknown> | undefined,
  note: (kept: Promise<unknown>) => void,
): Promise<LoggedOutcome> {
  let recalled = true;
  let hasBegun = false;
  try {
    const begin = (): void => void (hasBegun = true);
    const options = isAwaited ? { idempotent } : { idempotent, onSent: note };
    const outcome = await run.step(name, options, () => {
      recalled = false;
      // A call without the answer that asks for it would be that of another answer after a crash.
      return answer === undefined ? work(begin) : answer.then(() => work(begin));
    });
    return { outcome, recalled };
  } catch (cause) {
    if (!recalled && !hasBegun) await run.resolve(name, "again").catch(() => undefined);
    if (!isKitbagError(cause, "step-uncertain")) throw cause;
    // The call may have happened and must not happen twice. Nothing more is known, so the journal records exactly that.
    const outcome = {
      status: "failed",
      error: toFailure("call-uncertain", { tool }),
    } as const;
    await run.resolve(name, { output: outcome as unknown as JsonObject });
    return { outcome, recalled: true };
  }
}

const endStatuses: Readonly<Record<string, RunResult["status"]>> = {
  "run-stopped": "stopped",
  "answer-cut": "cut",
  "answer-refused": "refused",
};

/** How a run ended whose journal ends with this error. */
export function toEndStatus(code: string | undefined): RunResult["status"] {
  return endStatuses[code ?? ""] ?? "failed";
}

/** What a journal says at its end. The conversation is in the lines before. */
export function toOutcome({ status, messages: _messages, output, error, ...rest }: RunResult): RunOutcome {
  const facts = rest as unknown as JsonObject;
  if (status === "ok") return { status, output: { ...facts, output: output ?? null } };
  const { code, message } =
    error ?? toFailure("run-stopped", { run: rest.run, reason: rest.reason ?? "cancelled", text: rest.text });
  return { status: "failed", error: { code, message, ...facts } };
}
