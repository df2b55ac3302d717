import { KitbagError } from "../../core/errors.ts";
import { showValue, type JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Model, ModelMessage } from "../../models/model.ts";
import type { Run } from "../../store/runs/run.ts";
import type { RunEntry, RunEvent } from "../../store/runs/run-records.ts";
import { findWrongOption, isObject, type Expectations } from "../../workspace/find-wrong-option.ts";
import { needRuns, type AgentParts } from "../agent-parts.ts";
import type { ModelAnswered, TaskStart } from "../events.ts";
import { createInputRedactor, type InputRedactor } from "../run/input-redactor.ts";
import { isOutcome } from "../run/is-outcome.ts";
import { toMessages } from "../run/task-messages.ts";
import { toKeptEvent } from "./kept-files.ts";
import { foldJournal } from "./fold-journal.ts";
import { readJournal } from "./replay-run.ts";

/**
 * What is different in a run that is made from another. Where earlier messages were left out since, they are there again, as changed:
 * the memory is compacted anew if need be.
 */
export interface ForkChanges {
  /** Of the new run. @default made up */
  readonly id?: string;
  /** Said to the model before it goes on. */
  readonly say?: string;
  /** What came of calls, by `step.call`, in the place of what came of them. */
  readonly outcomes?: Readonly<Record<string, ToolOutcome>>;
  /** What the task is, in the place of what it was. */
  readonly messages?: readonly ModelMessage[];
}

/** Which run a fork is made from, up to which step, and who answers from there on if it is another model. */
export interface ForkPlace {
  readonly id: string;
  readonly step: number;
  readonly model?: Model | string | undefined;
}

/**
 * Writes the journal of a run that is the same as another up to a step, with the calls of that step; 0 is before the first. Answers with
 * its id: resume it to go on.
 *
 * @throws {KitbagError} `run-not-found`; `option-invalid` if there is no such step, or no such call; `run-ended` if the id is taken.
 */
export async function forkRun(
  agent: AgentParts,
  { id, step, model }: ForkPlace,
  changes: ForkChanges = {},
): Promise<string> {
  checkChanges(changes);
  const entries = await readJournal(agent, id);
  const { start, answers, outcomes } = foldJournal(id, entries);
  check(step, answers, outcomes, changes);
  const redactor = createInputRedactor(agent.options.redactInput);
  const forkId = changes.id ?? crypto.randomUUID();
  const run = await needRuns(agent.runs).open(forkId);
  try {
    if (run.past.length > 0) throw new KitbagError("run-ended", { run: forkId });
    const begun: TaskStart = {
      ...(model === undefined ? start : await withModel(start, agent, model)),
      run: forkId,
      // All of it is new, whatever was there before the run.
      ...(changes.messages && { messages: redacted(changes.messages, redactor), earlier: 0 }),
      forkOf: { run: id, step },
      time: Date.now(),
    };
    await run.append([toKeptEvent(begun)]);
    await copy(run, entries, step, changes);
    if (changes.say !== undefined) {
      await run.append([toSaid(forkId, step, redactor?.text(changes.say) ?? changes.say)]);
    }
  } finally {
    await run.pause();
  }
  return forkId;
}

/** Whoever goes on with the fork later asks the model that it has, and not that of the run that it was made from. */
async function withModel(
  { requestedModel: _before, ...start }: TaskStart,
  { models }: AgentParts,
  model: Model | string,
): Promise<TaskStart> {
  const { name } = await models.get(model);
  return { ...start, model: name, ...(typeof model === "string" && { requestedModel: model }) };
}

const expectations: Expectations<ForkChanges> = {
  id: [(value) => typeof value === "string" && value !== "", "a text"],
  say: [(value) => typeof value === "string", "a text"],
  outcomes: [isObject, "an object with outcomes by step.call"],
  messages: [Array.isArray, "a list of messages"],
};

/** @throws {KitbagError} `option-invalid` */
function checkChanges(changes: ForkChanges): void {
  const wrong = findWrongOption(changes, expectations, "changes");
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
  if (changes.messages !== undefined) toMessages(changes.messages, "changes.messages");
  for (const [name, outcome] of Object.entries(changes.outcomes ?? {})) {
    if (isOutcome(outcome)) continue;
    const expected = '{ status: "ok", output } or { status: "failed", error }';
    throw new KitbagError("option-invalid", {
      option: `changes.outcomes["${name}"]`,
      found: showValue(outcome),
      expected,
    });
  }
}

function redacted(messages: readonly ModelMessage[], redactor: InputRedactor | undefined): readonly ModelMessage[] {
  return redactor?.messages(messages) ?? messages;
}

function check(
  step: number,
  answers: readonly ModelAnswered[],
  outcomes: ReadonlyMap<string, ToolOutcome>,
  { outcomes: changed = {} }: ForkChanges,
): void {
  if (!Number.isInteger(step) || step < 0 || step > answers.length) {
    const expected = `a whole number from 0 to ${answers.length}, which is the last step of the run`;
    throw new KitbagError("option-invalid", { option: "step", found: String(step), expected });
  }
  for (const name of Object.keys(changed)) {
    if (outcomes.has(name) && Number(name.split(".")[0]) <= step) continue;
    const known = [...outcomes.keys()].filter((one) => Number(one.split(".")[0]) <= step);
    const expected = known.length === 0 ? "none: no call was made up to this step" : `one of ${known.join(", ")}`;
    throw new KitbagError("option-invalid", { option: "changes.outcomes", found: name, expected });
  }
}

/** No approvals: what was approved there was not approved here, where it would happen a second time. */
const copiedTypes = new Set(["model-answer", "message-added", "memory-compacted"]);

async function copy(run: Run, entries: readonly RunEntry[], step: number, changes: ForkChanges): Promise<void> {
  const { outcomes = {} } = changes;
  const changedAt = firstChange(changes);
  let now = 0;
  for (const { value } of entries) {
    if (value.type === "model-answer") now = (value as unknown as ModelAnswered).step;
    if (now > step) return;
    if (value.type === "step-outcome") {
      const name = value["step"] as string;
      const output = (outcomes[name] as unknown as JsonValue | undefined) ?? value["output"];
      await run.step(name, { idempotent: true }, () => output);
    } else if (copiedTypes.has(value.type) && Number(value["step"]) <= step) {
      const copied = Number(value["step"]) <= changedAt ? value : behindChange(value);
      if (copied !== undefined) await run.append([{ ...copied, run: run.id }]);
    }
  }
}

/** The first step whose calls came to something else; 0 if the task is another one. */
function firstChange({ outcomes = {}, messages }: ForkChanges): number {
  if (messages !== undefined) return 0;
  return Math.min(...Object.keys(outcomes).map((name) => Number(name.split(".")[0])));
}

/**
 * An event behind something that was changed. What a compaction left in its place is what it was before, so that it is left out; and
 * what a model was shown is not what it would be shown now.
 */
function behindChange({ prompt: _prompt, ...value }: RunEvent): RunEvent | undefined {
  return value.type === "memory-compacted" ? undefined : value;
}

function toSaid(run: string, step: number, text: string): RunEvent {
  const message: ModelMessage = { role: "user", content: [{ type: "text", text }] };
  return toKeptEvent({ type: "message-added", run, step, reason: "steering", message });
}
