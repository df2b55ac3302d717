import type { AgentRun } from "../../agent/agent-run.ts";
import type { AgentEvent, ModelAnswered } from "../../agent/events.ts";
import { type KeptEvent, toKeptEvent } from "../../agent/log/run-log.ts";
import type { RunResult } from "../../agent/run-result.ts";
import { KitbagError } from "../../core/errors.ts";
import { type JsonObject, type JsonValue, showValue } from "../../core/json.ts";
import type { ModelCall } from "../../models/model.ts";
import type { RunEntry } from "../../records/runs/run-records.ts";
import { type Expectations, findWrongOption } from "../../workspace/options/find-wrong-option.ts";
import { addShown, type RunFixture, type RunFixtureEnd, sortOutcomes, toEnd } from "./run-fixture.ts";

/** What may be said about a recording. */
export interface RecordRunOptions {
  /**
   * The questions to the model, as `mockModel` and `watchedModel` keep them. With them the fixture also holds the system text and the
   * tools that the model was shown, so that a change of these is found too.
   */
  readonly asked?: readonly ModelCall[];
}

const expectations: Expectations<RecordRunOptions> = {
  asked: [Array.isArray, "the questions to the model, as a list"],
};

/**
 * Makes a fixture of a run: of one that has just been started, which it waits for, or of the lines of a journal. It is JSON: keep it in a
 * file, and have `recordedModel` and `recordedTools` answer from it.
 *
 * Not in it are ids of runs, times, durations and costs. What models and tools said is in it as it is: look at it before you publish it.
 *
 * @throws {KitbagError} (rejects) `option-invalid` if it is no run, or its beginning is missing.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool } from "kitbag";
 * import { createAgent } from "kitbag/agent";
 * import { mockModel, recordedModel, recordedTools, recordRun } from "kitbag/testing";
 *
 * const roll = defineTool({ name: "roll", description: "Rolls a die", run: () => Math.ceil(Math.random() * 6) });
 * const model = mockModel([{ calls: [{ tool: "roll" }] }, "Rolled"]);
 * const recorded = createAgent({ model, workspace: createWorkspace({ tools: [roll] }) });
 * const fixture = await recordRun(recorded.run("Roll a die"), { asked: model.asked });
 *
 * const workspace = createWorkspace({ tools: [roll] });
 * workspace.use(recordedTools(fixture));
 * const agent = createAgent({ model: recordedModel(fixture), workspace });
 * const { text } = await agent.run("Roll a die");
 * console.assert(text === "Rolled");
 * ```
 */
export async function recordRun(
  source: AgentRun | readonly RunEntry[],
  options: RecordRunOptions = {},
): Promise<RunFixture> {
  const wrong = findWrongOption(options, expectations);
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
  const { asked } = options;
  const { events, end } = Array.isArray(source)
    ? readEntries(source as readonly RunEntry[])
    : await readRun(source as AgentRun);
  if (events[0]?.["type"] !== "task-start") {
    const expected = "a run that was started in the same turn, or the whole journal of one";
    throw new KitbagError("option-invalid", { option: "run", found: showValue(source), expected });
  }
  const sorted = sortOutcomes(events);
  return { kitbag: "run", version: 1, events: asked === undefined ? sorted : addShown(sorted, asked), end };
}

interface Read {
  readonly events: readonly JsonObject[];
  readonly end: RunFixtureEnd;
}

const keptTypes = new Set([
  "task-start",
  "model-answer",
  "message-added",
  "memory-compacted",
  "approval-asked",
  "approval-decided",
  "step-outcome",
]);

function readEntries(entries: readonly RunEntry[]): Read {
  const values = entries.map(({ value }) => value);
  const events = values.flatMap((value) => (keptTypes.has(value?.type) ? [toStable(value)] : []));
  return { events, end: toEnd(values) };
}

async function readRun(run: AgentRun): Promise<Read> {
  const events: JsonObject[] = [];
  const order = new Map<string, string>();
  if (typeof run?.[Symbol.asyncIterator] !== "function") return { events, end: { status: "unfinished" } };
  for await (const event of run) {
    if (event.type === "model-answer") noteCalls(order, event);
    const kept = toEvent(event, order);
    if (kept !== undefined) events.push(toStable(kept));
  }
  return { events, end: fromResult(await run.result) };
}

/** Which place a call has among those of its answer: the journal knows it by that. */
function noteCalls(order: Map<string, string>, { step, content }: ModelAnswered): void {
  let index = 0;
  for (const item of content) {
    if (item.type === "tool-call" && item.providerExecuted !== true) order.set(item.toolCallId, `${step}.${index++}`);
  }
}

function toEvent(event: AgentEvent, order: ReadonlyMap<string, string>): JsonObject | undefined {
  if (event.type === "tool-end") {
    const { id, step, outcome } = event;
    return { type: "step-outcome", step: order.get(id) ?? `${step}.0`, output: outcome as unknown as JsonValue };
  }
  return keptTypes.has(event.type) ? toKeptEvent(event as KeptEvent) : undefined;
}

/** What is not the same in each run, or says something about the machine. */
const unstable = new Set(["run", "time", "durationMs", "cost", "user", "conversation", "forkOf", "prompt", "tools"]);

function toStable(event: object): JsonObject {
  const copy = JSON.parse(JSON.stringify(event)) as JsonObject;
  const entries = Object.entries(copy).filter(([name]) => !unstable.has(name));
  return Object.fromEntries(
    entries.map(([name, value]) => [name, name === "approval" ? toPlace(value as string) : value]),
  );
}

/** Of `run:step.call`: the run is another one each time. */
function toPlace(approval: string): string {
  return approval.slice(approval.lastIndexOf(":") + 1);
}

function fromResult({ status, output, reason, error }: RunResult): RunFixtureEnd {
  return {
    status,
    ...(output !== undefined && { output }),
    ...(reason !== undefined && { reason }),
    ...(error !== undefined && { error: { code: error.code, message: error.message } }),
  };
}
