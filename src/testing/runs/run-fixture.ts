import { toEndStatus } from "../../agent/log/run-log.ts";
import type { RunResult } from "../../agent/run-result.ts";
import { KitbagError } from "../../core/errors.ts";
import { showValue, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { ModelCall, ModelTool } from "../../models/model.ts";

/** How a run ended, as a fixture keeps it. */
export interface RunFixtureEnd {
  readonly status: RunResult["status"] | "unfinished";
  readonly output?: JsonValue | undefined;
  readonly reason?: string | undefined;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/**
 * A run as a test keeps it in a file: JSON, without ids of runs, times, durations and costs, so that the same run gives the same file.
 */
export interface RunFixture {
  readonly kitbag: "run";
  readonly version: 1;
  /** What happened, as the journal of a run says it. */
  readonly events: readonly JsonObject[];
  readonly end: RunFixtureEnd;
}

/** Tells whether a value is what `recordRun` makes. */
export function isRunFixture(value: unknown): value is RunFixture {
  const { kitbag, version, events, end } = (value ?? {}) as Partial<Record<keyof RunFixture, unknown>>;
  return kitbag === "run" && version === 1 && Array.isArray(events) && typeof end === "object" && end !== null;
}

/** @throws {KitbagError} `option-invalid` if it is no fixture. */
export function checkFixture(value: unknown): RunFixture {
  if (isRunFixture(value)) return value;
  throw new KitbagError("option-invalid", {
    option: "fixture",
    found: showValue(value),
    expected: "what recordRun made, of this version of Kitbag",
  });
}

/** How a journal ends. */
export function toEnd(values: readonly JsonObject[]): RunFixtureEnd {
  const last = values.at(-1);
  if (last?.["type"] === "lease-end" && last["reason"] === "paused") return { status: "paused" };
  if (last?.["type"] !== "run-end") return { status: "unfinished" };
  const { status, output, error } = last["outcome"] as JsonObject;
  if (status === "ok") return { status, output: (output as JsonObject)["output"] ?? null };
  const { code, message, reason } = error as { code: string; message: string; reason?: string };
  if (reason !== undefined) return { status: "stopped", reason };
  return { status: toEndStatus(code), error: { code, message } };
}

/** Puts what came of the calls of one answer into the order in which it asked for them: which was over first says nothing. */
export function sortOutcomes(events: readonly JsonObject[]): readonly JsonObject[] {
  const sorted: JsonObject[] = [];
  for (const event of events) {
    let place = sorted.length;
    while (place > 0 && isBefore(event, sorted[place - 1])) place -= 1;
    sorted.splice(place, 0, event);
  }
  return sorted;
}

function isBefore(event: JsonObject, other: JsonObject | undefined): boolean {
  if (event["type"] !== "step-outcome" || other?.["type"] !== "step-outcome") return false;
  const [step, call] = toPlace(event);
  const [otherStep, otherCall] = toPlace(other);
  return step === otherStep && call < otherCall;
}

/** Of `step.call`. */
function toPlace(event: JsonObject): readonly [step: number, call: number] {
  const [step, call] = (event["step"] as string).split(".").map(Number);
  return [step ?? 0, call ?? 0];
}

/** What a model is shown beside the conversation. */
export interface Shown {
  readonly system: string;
  readonly tools: readonly JsonObject[];
}

/** Takes from a question what is shown beside the conversation. */
export function toShownBeside({ prompt, tools = [] }: ModelCall): Shown {
  const [first] = prompt;
  return {
    system: first?.role === "system" ? first.content : "",
    tools: (tools as readonly ModelTool[]).map(({ name, description = "", inputSchema }) => ({
      name,
      description,
      // A tool of the provider's own has no schema.
      inputSchema: (inputSchema ?? {}) as JsonValue as JsonObject,
    })),
  };
}

/** Writes before each answer what its question showed, where it is not what the one before showed. */
export function addShown(events: readonly JsonObject[], asked: readonly ModelCall[]): readonly JsonObject[] {
  const questions = withoutRepeats(asked).values();
  let last: string | undefined;
  return events.flatMap((event) => {
    if (event["type"] !== "model-answer") return [event];
    const { value: call } = questions.next();
    if (call === undefined) return [event];
    const shown = JSON.stringify(toShownBeside(call));
    if (shown === last) return [event];
    last = shown;
    return [{ type: "model-shown", ...(JSON.parse(shown) as JsonObject) }, event];
  });
}

/** A question that was asked again, because it was not answered, is one question. */
function withoutRepeats(asked: readonly ModelCall[]): readonly ModelCall[] {
  let last: string | undefined;
  return asked.filter(({ prompt }) => {
    const text = JSON.stringify(prompt);
    const isNew = text !== last;
    last = text;
    return isNew;
  });
}
