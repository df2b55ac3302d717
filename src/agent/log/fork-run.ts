import { KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Model, ModelMessage } from "../../models/model.ts";
import type { Run } from "../../store/runs/run.ts";
import type { RunEntry, RunEvent } from "../../store/runs/run-records.ts";
import { needRuns, type AgentParts } from "../agent-parts.ts";
import type { ModelAnswered, TaskStart } from "../events.ts";
import { toKeptEvent } from "./kept-files.ts";
import { foldJournal } from "./fold-journal.ts";
import { readJournal } from "./replay-run.ts";

/** What is different in a run that is made from another. */
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
  const entries = await readJournal(agent, id);
  const { start, answers, outcomes } = foldJournal(id, entries);
  check(step, answers, outcomes, changes);
  const forkId = changes.id ?? crypto.randomUUID();
  const run = await needRuns(agent.runs).open(forkId);
  try {
    if (run.past.length > 0) throw new KitbagError("run-ended", { run: forkId });
    const begun: TaskStart = {
      ...(model === undefined ? start : await withModel(start, agent, model)),
      run: forkId,
      ...(changes.messages && { messages: changes.messages }),
      forkOf: { run: id, step },
      time: Date.now(),
    };
    await run.append([toKeptEvent(begun)]);
    await copy(run, entries, step, changes);
    if (changes.say !== undefined) await run.append([toSaid(forkId, step, changes.say)]);
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
    throw new KitbagError("option-invalid", {
      option: "outcomes",
      found: name,
      expected: `one of ${known.join(", ")}`,
    });
  }
}

/** No approvals: what was approved there was not approved here, where it would happen a second time. */
const copiedTypes = new Set(["model-answer", "message-added", "memory-compacted"]);

async function copy(
  run: Run,
  entries: readonly RunEntry[],
  step: number,
  { outcomes = {} }: ForkChanges,
): Promise<void> {
  let now = 0;
  for (const { value } of entries) {
    if (value.type === "model-answer") now = (value as unknown as ModelAnswered).step;
    if (now > step) return;
    if (value.type === "step-outcome") {
      const name = value["step"] as string;
      const output = (outcomes[name] as unknown as JsonValue | undefined) ?? value["output"];
      await run.step(name, { idempotent: true }, () => output);
    } else if (copiedTypes.has(value.type) && Number(value["step"]) <= step) {
      await run.append([{ ...value, run: run.id }]);
    }
  }
}

function toSaid(run: string, step: number, text: string): RunEvent {
  const message: ModelMessage = { role: "user", content: [{ type: "text", text }] };
  return toKeptEvent({ type: "message-added", run, step, reason: "steering", message });
}
