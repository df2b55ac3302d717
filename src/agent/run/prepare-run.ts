import { KitbagError } from "../../core/errors.ts";
import type { GuardAct } from "../../core/guards.ts";
import { type JsonObject, showValue } from "../../core/json.ts";
import type { Model, ModelMessage } from "../../models/model.ts";
import { autoOptionsOf } from "../../models/route/auto-options.ts";
import type { Runs } from "../../records/runs/create-runs.ts";
import type { Session } from "../../workspace/workspace.ts";
import type { RunLimits, RunOptions, Task } from "../agent-options.ts";
import type { AgentParts } from "../agent-parts.ts";
import { checkRunOptions } from "../check-agent-options.ts";
import type { TaskStart } from "../events.ts";
import { createRunLog, noLog, type RunLog, toKeptEvent } from "../log/run-log.ts";
import type { OpenConversation } from "../memory/conversations/open-conversation.ts";
import { type ReadyModel } from "../model-source.ts";
import { callHook } from "./call-hook.ts";
import type { ChosenModel, RunFacts } from "./choose-model.ts";
import { toRule } from "./output-rule.ts";
import { guardMessages, toGuards } from "./run-guards.ts";
import { type RunParts, type RunStart, RunState } from "./run-state.ts";
import { openRunSession, toParts } from "./to-parts.ts";
import { addImages, toMessages } from "./task-messages.ts";
import { splitSkills } from "./told-skills.ts";

/** Makes a new run ready. @throws {KitbagError} what is wrong with what it was given. */
export async function prepareRun(agent: AgentParts, task: Task, start: RunStart): Promise<RunState> {
  const { options } = start;
  checkRunOptions(options);
  const text = toMessages(task);
  const whole = options.images === undefined ? text : await addImages(text, options.images);
  const { asked, acts } = await guardTask(agent, start, whole);
  const output = options.output && toRule(options.output);
  const { conversation: name } = options;
  const conversation = name === undefined ? undefined : await openNamed(agent, name);
  const { earlier, messages } = await collectMessages(agent, start, conversation, asked);
  const model = options.model ?? agent.options.model;
  const hasOutput = output !== undefined;
  const { ready, chosen } = await findModel(agent, model, { messages, options, hasOutput });
  const session = openRunSession(agent, start);
  let log: RunLog | undefined;
  try {
    const { untold, told } = splitSkills(skillsOf(options, conversation), messages);
    await openSkills(session, untold, options);
    const parts = toParts(agent, start, { ready, session, log: noLog, output, conversation, findModel: findOwn });
    await openSkills(session, told, options);
    if (told.length > 0) parts.exposure.announcement();
    const { origin } = agent.options;
    const begun = toTaskStart(parts, chosen === undefined ? options : { ...options, model: chosen }, {
      messages,
      earlier,
      origin,
    });
    if (agent.runs !== undefined) log = await openLog(agent.runs, begun);
    const run = new RunState(log === undefined ? parts : { ...parts, log }, [...messages]);
    run.earlier = run.saidFrom = begun.earlier;
    run.begunWith = messages.length;
    await tellStart(run, begun);
    for (const act of acts) await run.keep({ type: "guard-acted", run: run.id, step: 0, ...act });
    return run;
  } catch (cause) {
    await Promise.all([session.close(), log?.close()]);
    throw cause;
  }
}

async function openNamed({ options }: AgentParts, name: string): Promise<OpenConversation> {
  const { openConversation } = await import("../memory/conversations/open-conversation.ts");
  return openConversation(options.store, name);
}

/** The model of an agent that goes on with a conversation. */
async function findOwn(agent: AgentParts): Promise<ReadyModel> {
  const facts = { messages: [], options: {}, hasOutput: false };
  return (await findModel(agent, agent.options.model, facts)).ready;
}

/** Finds the model of a run: one of `auto` is chosen by what the run needs. */
export async function findModel(
  agent: AgentParts,
  model: Model | string,
  facts: RunFacts,
): Promise<Pick<ChosenModel, "ready"> & Partial<ChosenModel>> {
  const auto = autoOptionsOf(model);
  if (auto === undefined) {
    const given = agent.models.get(model);
    return { ready: given instanceof Promise ? await given : given };
  }
  const { chooseModel } = await import("./choose-model.ts");
  return chooseModel(agent, auto, facts);
}

/** What was said before, the task, and behind it what the long-term memory has for the task. */
async function collectMessages(
  { options: { memory } }: AgentParts,
  { options }: RunStart,
  conversation: OpenConversation | undefined,
  asked: readonly ModelMessage[],
): Promise<{ readonly earlier: number; readonly messages: readonly ModelMessage[] }> {
  const earlier = conversation?.messages.length ?? 0;
  const messages = conversation === undefined ? asked : [...conversation.messages, ...asked];
  const { longTerm, recallTokens: maxTokens = usualRecallTokens } = memory ?? {};
  if (longTerm === undefined) return { earlier, messages };
  const { recallForTask } = await import("../memory/long-term/run-memory.ts");
  const skills = skillsOf(options, conversation);
  const recalled = await recallForTask(longTerm, { user: options.user }, { messages, skills, maxTokens });
  return { earlier, messages: recalled === undefined ? messages : [...messages, recalled] };
}

const usualRecallTokens = 800;

/** Applies the guards to the task. Returns it with what the guards did. @throws {KitbagError} `guard-refused` */
async function guardTask(
  { options: given }: AgentParts,
  { id, options, signal }: RunStart,
  messages: readonly ModelMessage[],
): Promise<{ readonly asked: readonly ModelMessage[]; readonly acts: readonly GuardAct[] }> {
  const acts: GuardAct[] = [];
  const { user, approve = given.approve } = options;
  const facts = { run: id, step: 0, ...(user !== undefined && { user }) };
  const note = (act: GuardAct): unknown => acts.push(act);
  const asked = await guardMessages({ ...facts, guards: toGuards(given), approve, signal, note }, messages);
  return { asked, acts };
}

/** The skills that are to be open: those that the conversation had open at its end, and those that this run wants. */
function skillsOf({ skills = [] }: RunOptions, conversation: OpenConversation | undefined): readonly string[] {
  return conversation === undefined ? skills : [...new Set([...conversation.skills, ...skills])];
}

/** Opens skills. One of the conversation that is gone, or is not trusted any more, stays closed. */
async function openSkills(
  session: Session,
  skills: readonly string[],
  { skills: wanted = [] }: RunOptions,
): Promise<void> {
  for (const skill of skills) await (wanted.includes(skill) ? openSkill(session, skill) : session.activateSkill(skill));
}

/** Begins the journal of a run. @throws {KitbagError} `option-invalid` if there is one of this id. */
async function openLog(runs: Runs, start: TaskStart): Promise<RunLog> {
  const event = toKeptEvent(start);
  const kept = await runs.open(start.run, { events: [event] });
  if (kept.past.length === 0) return createRunLog(kept);
  if (kept.past.every(({ value }) => value.type !== "task-start")) {
    // One that was taken and never begun is new.
    await kept.append([event]);
    return createRunLog(kept);
  }
  await kept.close();
  const expected = "an id that no run has: resume goes on with a run, fork makes one from it";
  throw new KitbagError("option-invalid", { option: "id", found: showValue(start.run), expected });
}

/** The task, how many messages of it were there before the run, and where the run comes from. */
interface Given {
  readonly messages: readonly ModelMessage[];
  readonly earlier: number;
  readonly origin: JsonObject | undefined;
}

function toTaskStart(parts: RunParts, options: RunOptions, { messages, earlier, origin }: Given): TaskStart {
  const { id, output, modelName, session, user, start, path } = parts;
  return {
    type: "task-start",
    run: id,
    model: modelName,
    ...(typeof options.model === "string" && { requestedModel: options.model }),
    ...(options.limits && { limits: toKeptLimits(options.limits) }),
    messages,
    earlier,
    ...(options.conversation !== undefined && { conversation: options.conversation }),
    ...(user !== undefined && { user }),
    skills: session.getActiveSkills(),
    ...(output && { output: output.json as JsonObject }),
    ...(origin && { origin }),
    ...(start.parent && { parent: { run: start.parent.run.id, call: start.parent.call } }),
    ...(path.length > 0 && { path }),
    time: Date.now(),
  };
}

async function tellStart({ parts }: RunState, start: TaskStart): Promise<void> {
  const { hooks, feed, signal } = parts;
  feed.tell(start);
  if (hooks.onRunStart !== undefined) await callHook(signal, "onRunStart", () => hooks.onRunStart?.(start));
}

/** No limit at all is nothing that JSON can say. */
function toKeptLimits(limits: Partial<RunLimits>): Partial<RunLimits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => Number.isFinite(value)));
}

/** Opens a skill for a session. @throws {KitbagError} what keeps it closed. */
async function openSkill(session: Session, skill: string): Promise<void> {
  const outcome = await session.activateSkill(skill);
  if (outcome.status === "failed") throw new KitbagError(outcome.error.code, outcome.error.details);
}
