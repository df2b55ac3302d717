import { toFailure } from "../../core/errors.ts";
import { isObject, type JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Model, ModelMessage } from "../../models/model.ts";
import { beginJournal, toStepLines } from "../../records/runs/create-runs.ts";
import type { RunEntry, RunEvent } from "../../records/runs/run-records.ts";
import { type Expectations, findWrongOption } from "../../workspace/options/find-wrong-option.ts";
import type { AgentOptions } from "../agent-options.ts";
import { type AgentParts, needStore, readJournal } from "../agent-parts.ts";
import type { ModelAnswered, TaskStart } from "../events.ts";
import { anObject, aText, refuse, refuseFound, refuseIf } from "../expectations.ts";
import { findModel } from "../run/prepare-run.ts";
import { isCut } from "../run/to-assistant-message.ts";
import { isOutcome } from "../run/call-hook.ts";
import { guardMessages, guardOutcome, guardText, toGuards } from "../run/run-guards.ts";
import { toMessages } from "../run/task-messages.ts";
import { toCallChanged } from "../run/parse-input.ts";
import { followPath } from "../sub-agents/open-child.ts";
import { taskOf } from "../sub-agents/run-tree.ts";
import { takeSound } from "./check-journal.ts";
import { type AskedCall, callsOf, foldLines } from "./fold-journal.ts";
import { toKeptEvent } from "./run-log.ts";

/** Which run a fork is made from, up to which step, and who answers from there on if it is another model. */
export interface ForkPlace {
  readonly id: string;
  readonly step: number;
  readonly model?: Model | string | undefined;
  /** Whose run it is. @default that of the user who began the other */
  readonly user?: string | undefined;
  /** The run that waits for the fork. @default none: the fork of the run of a sub-agent is a run of its own */
  readonly parent?: TaskStart["parent"];
}

/**
 * Writes the journal of a run that is the same as another up to a step, with the calls of that step; 0 is before the first. Answers with
 * its id: resume it to go on.
 *
 * @throws {KitbagError} `run-not-found`; `run-damaged` if a line up to this step is not what it should be; `option-invalid` if there
 * is no such step, or no such call, or the id is taken.
 */
export async function forkRun(
  outermost: AgentParts,
  { id, step, model, user, parent }: ForkPlace,
  given: ForkChanges = {},
): Promise<string> {
  checkForkChanges(given);
  const store = needStore(outermost);
  const entries = takeSound(id, await readJournal(outermost, id), step);
  const { start: whole, answers, outcomes } = foldLines(id, entries);
  const { parent: _waits, ...start } = whole;
  const agent = followPath(outermost, id, start.path ?? []);
  const changes = await guardChanges(given, agent.options);
  checkStep(step, answers);
  const calls = findCalls(answers.filter((answer) => answer.step <= step));
  checkOutcomes(calls, changes);
  const forkId = changes.id ?? crypto.randomUUID();
  const begun: TaskStart = {
    ...(model === undefined ? start : await withModel(start, agent, model)),
    run: forkId,
    ...(user !== undefined && { user }),
    // All of it is new, whatever was there before the run.
    ...(changes.messages && { messages: changes.messages, earlier: 0 }),
    ...(parent && { parent }),
    forkOf: { run: id, step },
    time: Date.now(),
  };
  const open = [...calls].filter(([name]) => !outcomes.has(name));
  const lines = [
    toKeptEvent(begun),
    ...copyLines(forkId, entries, step, changes),
    ...toInputs(forkId, calls, changes),
    ...open.flatMap(([name, { name: tool }]) => complete(forkId, name, toLeft(tool, hasBegun(entries, name)), changes)),
    ...(changes.say === undefined ? [] : [toSaid(forkId, step, changes.say)]),
  ];
  if (changes.say === undefined) {
    const unfinished = open.map(([name]) => name).filter((name) => changes.outcomes?.[name] === undefined);
    await forkChildren(outermost, { id, forkId, user }, unfinished);
  }
  // In one go: half of it would be another run.
  if (!(await beginJournal(store, forkId, lines))) refuse("changes.id", forkId, "an id that no run has");
  return forkId;
}

/** Runs of sub-agents that had not ended go on in the fork where they were. */
async function forkChildren(
  outermost: AgentParts,
  { id, forkId, user }: { readonly id: string; readonly forkId: string; readonly user: string | undefined },
  calls: readonly string[],
): Promise<void> {
  for (const call of calls) {
    const child = `${id}~${call}`;
    const entries = await readJournal(outermost, child);
    if (taskOf(entries) === undefined) continue;
    const step = foldLines(child, entries).answers.length;
    const place = { id: child, step, user, parent: { run: forkId, call } };
    await forkRun(outermost, place, { id: `${forkId}~${call}` });
  }
}

/** A later resume of the fork asks the fork's own model, not the model of the original run. */
async function withModel(
  { requestedModel: _before, ...start }: Omit<TaskStart, "parent">,
  agent: AgentParts,
  model: Model | string,
): Promise<TaskStart> {
  const facts = { messages: start.messages, options: {}, hasOutput: start.output !== undefined };
  const { ready, chosen = model } = await findModel(agent, model, facts);
  return { ...start, model: ready.name, ...(typeof chosen === "string" && { requestedModel: chosen }) };
}

/** The calls that answers ask for, by `step.call`. */
function findCalls(answers: readonly ModelAnswered[]): ReadonlyMap<string, AskedCall> {
  const asked = answers.filter((answer) => !isCut(answer));
  return new Map(asked.flatMap((answer) => callsOf(answer).map((call, index) => [`${answer.step}.${index}`, call])));
}

function checkStep(step: number, answers: readonly ModelAnswered[]): void {
  if (!Number.isInteger(step) || step < 0 || step > answers.length) {
    const expected = `a whole number from 0 to ${answers.length}, which is the last step of the run`;
    refuseFound("step", String(step), expected);
  }
}

function checkOutcomes(calls: ReadonlyMap<string, AskedCall>, { outcomes = {}, inputs = {} }: ForkChanges): void {
  for (const [option, changed] of Object.entries({ outcomes, inputs })) {
    for (const name of Object.keys(changed)) {
      if (calls.has(name)) continue;
      const known = [...calls.keys()];
      const expected =
        known.length === 0 ? "none: no call was asked for up to this step" : `one of ${known.join(", ")}`;
      refuseFound(`changes.${option}`, name, expected);
    }
  }
}

/**
 * Completes a call that had not finished in the original run. Without a given outcome, the call is made when the fork continues;
 * but a new message cannot be sent to a model that still waits for a tool result.
 */
function complete(
  run: string,
  name: string,
  left: ToolOutcome,
  { outcomes = {}, say }: ForkChanges,
): readonly RunEvent[] {
  const outcome = outcomes[name] ?? (say === undefined ? undefined : left);
  return outcome === undefined ? [] : toStepLines(run, name, outcome as unknown as JsonValue);
}

/** No approvals: what was approved there was not approved here, where it would happen a second time. */
const copiedTypes = new Set([
  "model-answer",
  "answer-dropped",
  "message-added",
  "call-changed",
  "call-spent",
  "agent-changed",
  "memory-compacted",
]);

function copyLines(run: string, entries: readonly RunEntry[], step: number, changes: ForkChanges): readonly RunEvent[] {
  const { outcomes = {} } = changes;
  const changedAt = firstChange(changes);
  const lines: RunEvent[] = [];
  let now = 0;
  for (const { value } of entries) {
    if (value.type === "model-answer") now = (value as unknown as ModelAnswered).step;
    if (now > step) break;
    if (value.type === "step-outcome") {
      const name = value["step"] as string;
      const output = outcomes[name] ?? value["output"];
      lines.push(...toStepLines(run, name, output as unknown as JsonValue));
    } else if (copiedTypes.has(value.type) && Number(value["step"]) <= step && !isReplaced(value, outcomes)) {
      const copied = Number(value["step"]) <= changedAt ? value : behindChange(value);
      if (copied !== undefined) lines.push({ ...copied, run });
    }
  }
  return lines;
}

/** The first step whose calls came to something else; 0 if the task is another one. */
function firstChange({ outcomes = {}, messages }: ForkChanges): number {
  if (messages !== undefined) return 0;
  return Math.min(...Object.keys(outcomes).map((name) => Number(name.split(".")[0])));
}

/**
 * Adapts an event that follows a changed one. A compaction summarises the unchanged history, so it is left out; a prompt digest is
 * removed, because the model would be shown another prompt now.
 */
function behindChange({ prompt: _prompt, ...value }: RunEvent): RunEvent | undefined {
  return value.type === "memory-compacted" ? undefined : value;
}

const aboutCalls: ReadonlySet<string> = new Set(["call-changed", "call-spent", "agent-changed"]);

/** Tells whether a line is about a call of whose outcome another is made. */
function isReplaced(value: RunEvent, outcomes: NonNullable<ForkChanges["outcomes"]>): boolean {
  return aboutCalls.has(value.type) && Object.hasOwn(outcomes, value["call"] as string);
}

/** What the calls were made with whose outcomes are others now. */
function toInputs(run: string, calls: ReadonlyMap<string, AskedCall>, { inputs = {} }: ForkChanges): RunEvent[] {
  return Object.entries(inputs).map(([call, input]) => {
    const { id = "", name: tool = "" } = calls.get(call) ?? {};
    return toKeptEvent(toCallChanged({ run, step: Number.parseInt(call, 10), call, id, tool }, input));
  });
}

function toLeft(tool: string, isUncertain: boolean): ToolOutcome {
  const cancelled = { tool, reason: "the run went another way before it was made" };
  const error = isUncertain ? toFailure("call-uncertain", { tool }) : toFailure("call-cancelled", cancelled);
  return { status: "failed", error };
}

const begins: ReadonlySet<string> = new Set(["step-intent", "step-reset"]);

function hasBegun(entries: readonly RunEntry[], name: string): boolean {
  // A call that was stopped before it began counts as never requested.
  const last = entries.findLast(({ value }) => begins.has(value.type) && value["step"] === name);
  return last?.value.type === "step-intent";
}

function toSaid(run: string, step: number, text: string): RunEvent {
  const message: ModelMessage = { role: "user", content: [{ type: "text", text }] };
  return toKeptEvent({ type: "message-added", run, step, reason: "steering", message });
}

/**
 * What is different in a run that is made from another. Where earlier messages were left out since, they are there again, as changed:
 * the memory is compacted anew if need be.
 */
export interface ForkChanges {
  /** Of the new run. @default made up */
  readonly id?: string;
  /** Said to the model before it goes on. */
  readonly say?: string;
  /** Outcomes of calls, by `step.call`. They replace the recorded outcomes, or fill in those that are unknown. */
  readonly outcomes?: Readonly<Record<string, ToolOutcome>>;
  /** Inputs of the calls in `outcomes`, by `step.call`, where they differ from what the model gave. */
  readonly inputs?: Readonly<Record<string, JsonValue>>;
  /** What the task is, in the place of what it was. */
  readonly messages?: readonly ModelMessage[];
}

const expectations: Expectations<ForkChanges> = {
  id: [(value) => typeof value === "string" && value !== "", "a text"],
  say: aText,
  outcomes: [isObject, "an object with outcomes by step.call"],
  inputs: anObject,
  messages: [Array.isArray, "a list of messages"],
};

/** Applies the guards to what is different in a fork. @throws {KitbagError} `guard-refused` */
async function guardChanges(changes: ForkChanges, options: AgentOptions): Promise<ForkChanges> {
  const guards = toGuards(options);
  if (guards.length === 0) return changes;
  const signal = new AbortController().signal;
  const context = { guards, approve: options.approve, signal, note: () => undefined };
  const { say, outcomes = {}, messages } = changes;
  const guarded: [string, ToolOutcome][] = [];
  for (const [name, outcome] of Object.entries(outcomes)) {
    guarded.push([name, await guardOutcome(context, name, outcome)]);
  }
  return {
    ...changes,
    ...(say !== undefined && { say: await guardText(context, say) }),
    outcomes: Object.fromEntries(guarded),
    ...(messages && { messages: await guardMessages(context, messages) }),
  };
}

/** Checks what is to be different in a fork: it would be in its journal for ever. @throws {KitbagError} `option-invalid` */
function checkForkChanges(changes: ForkChanges): void {
  refuseIf(findWrongOption(changes, expectations, "changes"));
  if (changes.messages !== undefined) toMessages(changes.messages, "changes.messages");
  for (const [name, outcome] of Object.entries(changes.outcomes ?? {})) {
    if (isOutcome(outcome)) continue;
    refuse(`changes.outcomes["${name}"]`, outcome, '{ status: "ok", output } or { status: "failed", error }');
  }
  for (const found of Object.keys(changes.inputs ?? {})) {
    if (Object.hasOwn(changes.outcomes ?? {}, found)) continue;
    refuseFound("changes.inputs", found, 'a call whose outcome is in "changes.outcomes"');
  }
}
