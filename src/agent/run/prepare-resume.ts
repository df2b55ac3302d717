import { KitbagError, quote } from "../../core/errors.ts";
import { autoOptionsOf } from "../../models/route/auto-options.ts";
import type { RunEntry } from "../../records/runs/run-records.ts";
import { type AgentParts, needRuns, readJournal } from "../agent-parts.ts";
import type { RunOptions } from "../agent-options.ts";
import { checkResumeOptions } from "../check-agent-options.ts";
import type { TaskStart } from "../events.ts";
import { refuse as refuseOption } from "../expectations.ts";
import { type Folded, foldJournal } from "../log/fold-journal.ts";
import { createRunLog } from "../log/run-log.ts";
import { rejoinConversation } from "../memory/conversations/open-conversation.ts";
import type { ReadyModel } from "../model-source.ts";
import { adoptAgent } from "../sub-agents/adopt-agent.ts";
import { followPath } from "../sub-agents/open-child.ts";
import { listBelow } from "../sub-agents/run-tree.ts";
import { countAnswer, countOther } from "./ask-model.ts";
import { toRule } from "./output-rule.ts";
import { isReadOnly, planCalls, recallInputs } from "./plan-calls.ts";
import { findModel } from "./prepare-run.ts";
import { type RunParts, type RunStart, RunState } from "./run-state.ts";
import { ShownTools } from "./shown-tools.ts";
import { isCut, noteText } from "./to-assistant-message.ts";
import { openRunSession, toParts } from "./to-parts.ts";
import { openAgain, splitSkills } from "./told-skills.ts";

/**
 * Prepares a stored run to be resumed in its last state.
 *
 * @throws {KitbagError} `run-not-found`, `run-damaged`, `run-leased`, `run-ended`, `run-incomplete`, and the codes of invalid options.
 */
export async function prepareResume(outermost: AgentParts, start: RunStart): Promise<RunState> {
  const { options, id } = start;
  checkResumeOptions(options);
  const runs = needRuns(outermost.runs);
  // Before the lease is taken: opening an unknown id would create a run, and nothing may be written into a damaged journal.
  const found = await readJournal(outermost, id);
  const { audit } = outermost.options;
  const before = foldJournal(id, found, audit);
  const agent = findAgent(outermost, before.start, start);
  const ready = await findKept(agent, before, options);
  // Looking at the runs below starts the watch of their leases: those of a dead process end together.
  const below = await listBelow(runs, id);
  const kept = await runs.open(id);
  const session = openRunSession(agent, start);
  try {
    const folded = kept.past.length === found.length ? before : foldJournal(id, kept.past, audit);
    const { untold } = splitSkills(folded.start.skills, folded.start.messages);
    for (const skill of untold) await session.activateSkill(skill);
    const parts = toResumed(agent, start, { folded, ready, session, log: createRunLog(kept) });
    const run = new RunState(parts, folded.messages);
    run.isResumed = true;
    run.hasChildren = below.length > 0;
    run.done = folded.outcomes;
    run.changed = new Map(folded.changed);
    run.redacted = folded.redacted;
    const handoffs = folded.handoffs.map(({ tool }) => tool);
    if (handoffs.length > 0) await adoptAgent(run, followPath(agent, id, handoffs), handoffs);
    await reopen(run, folded);
    requireSkills(run, folded);
    requireTools(run, folded);
    restore(run, folded);
    run.startedAt -= toWorkedMs(kept.past);
    return run;
  } catch (cause) {
    await Promise.all([session.close(), kept.close()]);
    throw cause;
  }
}

/** The model of a run that goes on. What `auto` chose for it stays its model. */
async function findKept(agent: AgentParts, { start, messages }: Folded, options: RunOptions): Promise<ReadyModel> {
  const { requestedModel, output, user } = start;
  const { model: mine } = agent.options;
  const wanted = options.model ?? (autoOptionsOf(mine) === undefined ? (requestedModel ?? mine) : mine);
  const hasOutput = (options.output ?? output) !== undefined;
  const asUserOf = { ...options, ...(user !== undefined && { user }) };
  const { ready } = await findModel(agent, wanted, { messages, options: asUserOf, hasOutput, before: requestedModel });
  return ready;
}

interface ResumedParts extends Pick<RunParts, "session" | "log"> {
  readonly folded: Folded;
  readonly ready: ReadyModel;
}

/** The parts of a run that goes on: those that it began with, where the caller says nothing else. */
function toResumed(agent: AgentParts, start: RunStart, { folded, ready, session, log }: ResumedParts): RunParts {
  const { options } = start;
  const { user, limits, output: kept, conversation: name, forkOf, path } = folded.start;
  checkUser(user, options.user);
  const schema = options.output ?? kept;
  const output = schema && toRule(schema);
  // A run that was made from another goes its own way.
  const isPart = name !== undefined && forkOf === undefined;
  const conversation = isPart ? rejoinConversation(agent.options.store, name) : undefined;
  const asBegun = { ...options, ...(user !== undefined && { user }), limits: { ...limits, ...options.limits } };
  const given = { ...start, options: asBegun, ...(path && { path }) };
  const findModelOf = (next: AgentParts): Promise<ReadyModel> => findNext(next, options.model);
  return toParts(agent, given, { ready, session, log, output, conversation, findModel: findModelOf });
}

/** The agent of a run. @throws {KitbagError} `option-invalid` if it is that of a sub-agent, with which the run above goes on. */
function findAgent(outermost: AgentParts, { run, parent, path = [] }: TaskStart, start: RunStart): AgentParts {
  if (start.parent !== undefined) return outermost;
  if (parent !== undefined) refuseOption("id", run, `the run ${quote(parent.run)}, which goes on with this one`);
  return followPath(outermost, run, path);
}

/** The model of an agent that has the conversation, or the one that the caller names for the rest of the run. */
async function findNext(agent: AgentParts, named: RunOptions["model"]): Promise<ReadyModel> {
  const facts = { messages: [], options: {}, hasOutput: false };
  return (await findModel(agent, named ?? agent.options.model, facts)).ready;
}

/** A resumed run keeps the user who began it: the caller may not name another. @throws {KitbagError} `option-invalid` */
function checkUser(begun: string | undefined, given: string | undefined): void {
  if (begun === undefined || given === undefined || begun === given) return;
  refuseOption("user", given, `${quote(begun)}, who began the run, or nothing`);
}

/** Opens what was open when the model was asked last, and what its calls have opened since, unless they are recalled. */
async function reopen(run: RunState, folded: Folded): Promise<void> {
  const { session, exposure } = run.parts;
  const { start, answers, unfinished, toldSince } = folded;
  const last = answers.at(-1);
  // What the agent before had open is of no use to the next one.
  if (isHandedOver(folded)) return;
  const open = new Set(last?.skills ?? start.skills);
  for (const skill of session.getActiveSkills()) if (!open.has(skill)) await session.deactivateSkill(skill);
  for (const skill of open) {
    const opened = await session.activateSkill(skill);
    if (opened.status === "failed") refuse(run, `the skill ${skill}`, opened.error.message);
  }
  // The conversation says it already.
  exposure.announcement();
  if (last === undefined || last === unfinished || isCut(last)) return;
  for (const call of recallInputs(run, last.step, planCalls(last, session, exposure))) {
    const outcome = folded.outcomes.get(`${last.step}.${call.index}`);
    if (outcome !== undefined) await openAgain(run, call, outcome);
  }
  if (toldSince.has("tools")) exposure.announcement();
}

/** Whether the agent that has the conversation has not answered yet. */
function isHandedOver({ answers, handoffs }: Folded): boolean {
  const last = handoffs.at(-1);
  return last !== undefined && last.step === answers.at(-1)?.step;
}

/** Makes sure that the skills are there which calls of the last answer have opened. */
function requireSkills(run: RunState, folded: Folded): void {
  const { answers, outcomes } = folded;
  const last = answers.at(-1);
  if (last === undefined || isCut(last) || isHandedOver(folded)) return;
  const { session, exposure } = run.parts;
  const calls = recallInputs(run, last.step, planCalls(last, session, exposure));
  for (const { index, name, input } of calls) {
    if (name !== "activate_skill" || outcomes.get(`${last.step}.${index}`)?.status !== "ok") continue;
    const { name: skill } = input as { readonly name?: unknown };
    if (session.getSkills().some((known) => known.skill.name === skill)) continue;
    refuse(run, `the skill ${String(skill)}`, "the model has opened it, and there is no such skill now");
  }
}

/**
 * Makes sure that the tools of the unfinished calls still exist: a call of a missing tool would fail, and the journal would keep that
 * failure as its outcome. A name that was no tool at the time need not be one now.
 */
function requireTools(run: RunState, folded: Folded): void {
  const { session, exposure } = run.parts;
  const { unfinished, outcomes, asked, shownTools } = folded;
  if (unfinished === undefined || isCut(unfinished)) return;
  for (const { index, name, address, tool, dispatch } of planCalls(unfinished, session, exposure)) {
    const place = `${unfinished.step}.${index}`;
    if (tool !== undefined || dispatch !== undefined || outcomes.has(place)) continue;
    if (!asked.has(`${run.id}:${place}`) && !shownTools.has(name)) continue;
    refuse(run, `the tool ${address}`, "the model has called it, and there is no such tool now");
  }
}

function refuse({ id }: RunState, missing: string, reason: string): never {
  throw new KitbagError("run-incomplete", { run: id, missing, reason });
}

/** Puts a run where it was. */
function restore(run: RunState, folded: Folded): void {
  restoreCosts(run, folded);
  run.askedAgain = folded.dropped;
  run.earlier = folded.start.earlier;
  if (folded.start.forkOf === undefined) run.begunWith = folded.start.messages.length;
  run.restoreSaid(folded);
  run.isCompacted = folded.isCompacted;
  run.step = run.answered = folded.answers.at(-1)?.step ?? 0;
  run.calls = folded.calls;
  run.unfinished = folded.unfinished;
  run.saidMeanwhile.push(...folded.saidMeanwhile);
  run.mended = folded.told.get("output") ?? 0;
  run.shownTools = new ShownTools(folded.shownTools);
  for (const [approval, asked] of folded.asked) run.asked.set(approval, asked);
  for (const [approval, decided] of folded.decided) run.decided.set(approval, decided);
  for (const answer of folded.answers) {
    if (answer !== folded.unfinished) noteText(run, answer);
    // Also answers that the model is no longer shown: they stay in the journal, and providers refuse two calls with one id.
    for (const part of answer.content) if (part.type === "tool-call") run.callIds.add(part.toolCallId);
  }
  // The model may go on with its answer as often as in a new run.
  run.interrupted = run.continued = 0;
  noteCalls(run, folded);
}

/** Counts what a run has used so far. */
function restoreCosts(run: RunState, { questions, others, spent, outcomes }: Folded): void {
  const { counter } = run.parts;
  for (const question of questions) countAnswer(run, question, "past");
  for (const answer of others) countOther(run, answer, "past");
  counter.add({ usage: { toolCalls: outcomes.size }, cost: 0 }, "past");
  for (const one of spent) {
    counter.add({ cost: one.cost, ...(one.usage && { usage: one.usage }) }, "past");
    run.spent.push(one);
  }
}

/** The number of latest answers from which the loop detector gets its state again. */
const noted = 32;

function noteCalls(
  { parts: { detector, session, exposure } }: RunState,
  { answers, unfinished, outcomes }: Folded,
): void {
  for (const answer of answers.slice(-noted)) {
    if (answer === unfinished || isCut(answer)) continue;
    for (const call of planCalls(answer, session, exposure)) {
      const { index, address: tool, inputText } = call;
      const outcome = outcomes.get(`${answer.step}.${index}`);
      if (outcome !== undefined) detector.note({ tool, inputText, outcome, readOnly: isReadOnly(call) });
    }
    detector.check();
  }
}

/** The working time of a run, without the time in which it waited to be resumed. */
function toWorkedMs(entries: readonly RunEntry[]): number {
  let worked = 0;
  for (const [index, { time, value }] of entries.entries()) {
    const before = entries[index - 1];
    if (before !== undefined && value.type !== "lease-start") worked += Math.max(0, time - before.time);
  }
  return worked;
}
