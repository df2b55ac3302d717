import type { JsonObject, JsonValue } from "../../core/json.ts";
import { type RunEntry, type RunEvent, type RunRecord, toRecord } from "../../records/runs/run-records.ts";
import type { ModelAnswered } from "../events.ts";

/** What one line of a journal says, in the words of {@link AgentEvent}. */
export interface JournalEvent {
  /** The position of the line. */
  readonly position: number;
  readonly type: string;
  /** The event, with `time` in milliseconds since 1970. */
  readonly event: JsonObject;
}

/** A call that a model asked for, as its answer names it. */
interface AskedCall {
  readonly id: string;
  readonly tool: string;
  readonly input: string;
}

/**
 * Reads a journal line by line as the events of a run: what a listener was told while it happened, but for the pieces of texts and the
 * events of running tools. Lines that only say who works on the run give nothing. Read it from the first line on, or the names of
 * calls are not known.
 */
export function createJournalReader(run: string): (entry: RunEntry) => JournalEvent | undefined {
  const asked = new Map<string, AskedCall>();

  return ({ position, time, value }) => {
    if (value.type === "model-answer") for (const [name, call] of findCalls(value)) asked.set(name, call);
    const record = toRecord(value);
    const event = record === undefined ? value : toEvent(record, (name) => asked.get(name));
    return event && { position, type: event.type, event: { time, run, ...event } };
  };
}

/** What one of Kitbag's own lines says; nothing if it only says who works on the run. */
function toEvent(record: RunRecord, find: (name: string) => AskedCall | undefined): RunEvent | undefined {
  switch (record.type) {
    case "step-intent":
      return { type: "tool-start", ...toCall(record.step, find), input: parse(find(record.step)?.input ?? "{}") };
    case "step-outcome":
      return { type: "tool-end", ...toCall(record.step, find), outcome: record.output };
    case "lease-end":
      return record.reason === "paused" ? { type: "run-paused" } : undefined;
    case "run-end":
      return { type: "run-end", outcome: record.outcome as unknown as JsonValue };
    case "run-start":
    case "lease-start":
    case "step-review":
    case "step-reset":
      return undefined;
  }
}

/** A call by its name, `step.call`. */
function toCall(name: string, find: (name: string) => AskedCall | undefined): JsonObject {
  const { id = "", tool = "" } = find(name) ?? {};
  return { step: Number.parseInt(name, 10), call: name, id, tool };
}

/** The calls of an answer by `step.call`. */
function findCalls(answer: RunEvent): readonly (readonly [string, AskedCall])[] {
  const { step, content } = answer as RunEvent & Partial<Pick<ModelAnswered, "step" | "content">>;
  if (!Array.isArray(content)) return [];
  const calls = (content as ModelAnswered["content"]).filter((part) => part.type === "tool-call");
  return calls
    .filter(({ providerExecuted }) => providerExecuted !== true)
    .map(({ toolCallId, toolName, input }, index) => [`${step}.${index}`, { id: toolCallId, tool: toolName, input }]);
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
