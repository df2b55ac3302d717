import type { ModelAnswered } from "../../agent/events.ts";
import type { Folded } from "../../agent/log/fold-journal.ts";
import { KitbagError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Model, ModelCall } from "../../models/model.ts";
import type { RunEntry } from "../../records/runs/run-records.ts";
import { type Expectations, findWrongOption } from "../../workspace/options/find-wrong-option.ts";
import { checkFixture, toShownBeside, type RunFixture, type Shown } from "./run-fixture.ts";
import { renderMessages } from "./render-messages.ts";

/** Where a model was shown something else than when the run was recorded. */
export interface RecordingDivergence {
  /** Which question, counted from 1. */
  readonly step: number;
  /** What differs, in words. */
  readonly what: string;
  /** Lines: `-` was, `+` is. */
  readonly difference: string;
}

/** What may be said about a recorded model. */
export interface RecordedModelOptions {
  /** What to do when it is shown something else than when the run was recorded. @default "throw" */
  readonly onDivergence?: "throw" | "go-on";
}

const expectations: Expectations<RecordedModelOptions> = {
  onDivergence: [(value) => value === "throw" || value === "go-on", '"throw" or "go-on"'],
};

/** A model that answers from a fixture. */
export interface RecordedModel extends Model {
  /** Where it was shown something else for the first time. */
  readonly divergence: RecordingDivergence | undefined;
}

/**
 * Makes a model that gives the answers of a recorded run again, one after the other. It compares what it is shown with what was shown
 * when the run was recorded: the conversation, and the system text and the tools if the fixture has them.
 *
 * @throws {KitbagError} `option-invalid` if the value is not a fixture, or an option is wrong; questions fail with `recording-diverged`
 * and the lines that differ, or with `model-failed` if the run has no more answers.
 *
 * @example
 * ```ts
 * import { createWorkspace } from "kitbag";
 * import { createAgent } from "kitbag/agent";
 * import { mockModel, recordedModel, recordRun } from "kitbag/testing";
 *
 * const workspace = createWorkspace();
 * const fixture = await recordRun(createAgent({ model: mockModel(["Hello"]), workspace }).run("Hi"));
 *
 * const { status, error } = await createAgent({ model: recordedModel(fixture), workspace }).run("Bye").result;
 * console.assert(status === "failed" && error?.message.includes("- user: Hi\n+ user: Bye"));
 * ```
 */
export function recordedModel(fixture: RunFixture, options: RecordedModelOptions = {}): RecordedModel {
  const { events } = checkFixture(fixture);
  const wrong = findWrongOption(options, expectations);
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
  const { onDivergence = "throw" } = options;
  const answers = events.filter(({ type }) => type === "model-answer") as unknown as readonly ModelAnswered[];
  const [provider = "recorded", ...rest] = (answers[0]?.model ?? "recorded/model").split("/");
  const shown = listShown(events);
  let next = 0;
  let divergence: RecordingDivergence | undefined;
  let made: Promise<{ readonly folded: Folded; readonly inner: Model }> | undefined;

  async function take(call: ModelCall): Promise<Model> {
    const { folded, inner } = await (made ??= load(events, answers));
    const index = next++;
    const found = divergence === undefined ? compare(folded, shown[index], index, call) : undefined;
    divergence ??= found;
    if (found !== undefined && onDivergence === "throw") throw toError(found);
    return inner;
  }

  return {
    specificationVersion: "v4",
    provider,
    modelId: rest.join("/"),
    supportedUrls: {},
    get divergence() {
      return divergence;
    },
    doGenerate: async (call) => (await take(call)).doGenerate(call),
    doStream: async (call) => (await take(call)).doStream(call),
  };
}

/** Only who asks pays for what reads journals. */
async function load(
  events: readonly JsonObject[],
  answers: readonly ModelAnswered[],
): Promise<{ readonly folded: Folded; readonly inner: Model }> {
  const { foldLines } = await import("../../agent/log/fold-journal.ts");
  const { recordedModel: answerAgain } = await import("../../agent/log/recorded-model.ts");
  const entries = events.map((value, index) => ({ position: index + 1, time: 0, value }) as unknown as RunEntry);
  return { folded: foldLines("recorded", entries), inner: answerAgain(answers) };
}

/** What was shown beside the conversation with each question, as far as it is known. */
function listShown(events: readonly JsonObject[]): readonly (Shown | undefined)[] {
  const list: (Shown | undefined)[] = [];
  let now: Shown | undefined;
  for (const event of events) {
    if (event["type"] === "model-shown") now = event as unknown as Shown;
    if (event["type"] === "model-answer") list.push(now);
  }
  return list;
}

function compare(
  { questions }: Folded,
  shown: Shown | undefined,
  index: number,
  call: ModelCall,
): RecordingDivergence | undefined {
  const question = questions[index];
  // That there is no such answer says the model that gives them.
  if (question === undefined) return undefined;
  const { messages, count } = question;
  const now = toShownBeside(call);
  const conversation = call.prompt[0]?.role === "system" ? call.prompt.slice(1) : call.prompt;
  const difference = (
    what: string,
    before: readonly string[],
    after: readonly string[],
  ): RecordingDivergence | undefined => {
    const lines = diffLines(before, after);
    return lines === "" ? undefined : { step: index + 1, what, difference: lines };
  };
  return (
    difference("another conversation", renderMessages(messages.slice(0, count)), renderMessages(conversation)) ??
    (shown && difference("another system text", shown.system.split("\n"), now.system.split("\n"))) ??
    (shown && difference("other tools", renderTools(shown), renderTools(now)))
  );
}

function renderTools({ tools }: Shown): readonly string[] {
  return tools.map((tool) => JSON.stringify(tool));
}

function toError({ step, what, difference }: RecordingDivergence): KitbagError {
  return new KitbagError("recording-diverged", {
    what: `with question ${step} the model is shown ${what}`,
    difference,
  });
}

/** How many lines are shown before and behind what differs. */
const around = 2;

/** Shows where two texts differ, from the first line that does to the last: `-` was, `+` is. Empty if they are the same. */
function diffLines(before: readonly string[], now: readonly string[]): string {
  const least = Math.min(before.length, now.length);
  let start = 0;
  while (start < least && before[start] === now[start]) start += 1;
  if (start === before.length && start === now.length) return "";
  let end = 0;
  while (end < least - start && before[before.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  return [
    ...before.slice(Math.max(0, start - around), start).map((line) => `  ${line}`),
    ...before.slice(start, before.length - end).map((line) => `- ${line}`),
    ...now.slice(start, now.length - end).map((line) => `+ ${line}`),
    ...now.slice(now.length - end, now.length - end + around).map((line) => `  ${line}`),
  ].join("\n");
}
