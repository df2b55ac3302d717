import { KitbagError } from "../../core/errors.ts";
import { estimateTokens } from "../../core/estimate-tokens.ts";
import type { GuardAct } from "../../core/guards.ts";
import { type JsonObject, showValue } from "../../core/json.ts";
import type { Model, ModelMessage } from "../../models/model.ts";
import { providerRow } from "../../models/providers.ts";
import { autoOptionsOf } from "../../models/route/auto-options.ts";
import type { Runs } from "../../records/runs/create-runs.ts";
import { findScopes } from "../../workspace/call/authority.ts";
import { createDispatchTools } from "../../workspace/dispatch/create-dispatch-tools.ts";
import { withQuota } from "../../workspace/quotas/paid-model.ts";
import type { Quotas } from "../../workspace/quotas/quotas.ts";
import { toolDigest } from "../../workspace/registry/tool-digest.ts";
import type { Session } from "../../workspace/workspace.ts";
import type { ExposureName, RunLimits, RunOptions, Task } from "../agent-options.ts";
import type { AgentParts } from "../agent-parts.ts";
import { checkRunOptions } from "../check-agent-options.ts";
import { createUsageCounter } from "../cost/usage-counter.ts";
import type { TaskStart } from "../events.ts";
import { announceTools, exposeDirectly } from "../exposure/announce-tools.ts";
import type { Exposure, ExposureParts, ModelView } from "../exposure/exposure.ts";
import { renderSystem } from "../exposure/render-system.ts";
import { tellActivation } from "../exposure/tell-activation.ts";
import { toDispatchModelTool } from "../exposure/to-model-tools.ts";
import { createRunLog, noLog, type RunLog, toKeptEvent } from "../log/run-log.ts";
import type { OpenConversation } from "../memory/conversations/open-conversation.ts";
import { createMemory } from "../memory/create-memory.ts";
import { canAfford, type ReadyModel, requirePrice } from "../model-source.ts";
import { withAnswerCache } from "./answer-cache.ts";
import { callHook } from "./call-hook.ts";
import type { ChosenModel, RunFacts } from "./choose-model.ts";
import { createLoopDetector } from "./loop-detector.ts";
import { toRule } from "./output-rule.ts";
import { createPromptDigest } from "./prompt-digest.ts";
import { guardMessages, toGuards } from "./run-guards.ts";
import { type OutputRule, type RunParts, RunState } from "./run-state.ts";
import type { RunStart } from "./started-run.ts";
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
  const session = agent.options.workspace.openSession();
  let log: RunLog | undefined;
  try {
    const { untold, told } = splitSkills(skillsOf(options, conversation), messages);
    await openSkills(session, untold, options);
    const parts = toParts(agent, start, { ready, session, log: noLog, output, conversation });
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
  const { id, output, modelName, session, user } = parts;
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

/** What was found and made for a run. */
export interface MadeParts {
  readonly ready: ReadyModel;
  readonly session: Session;
  readonly log: RunLog;
  readonly output: OutputRule | undefined;
  readonly conversation?: OpenConversation | undefined;
}

/** Makes the parts that a run works with. @throws {KitbagError} `price-unknown`, `option-invalid`, `user-unknown`. */
export function toParts(agent: AgentParts, start: RunStart, made: MadeParts): RunParts {
  const { options: given } = agent;
  const { options, id, feed, signal, trace } = start;
  const { session, log, output, conversation } = made;
  const ready = payFor(withAnswers(agent, made.ready, start, session), start, given.workspace.quotas);
  const limits = { ...defaultLimits, ...given.limits, ...options.limits };
  const settings = options.settings === undefined ? (given.settings ?? {}) : { ...given.settings, ...options.settings };
  requirePrice(ready, Math.min(limits.maxCost, given.workspace.quotas.of(options.user)?.limits.dollars ?? Infinity));
  const counter = createUsageCounter({ total: agent.total });
  return {
    id,
    model: ready.model,
    modelName: ready.name,
    session,
    exposure: createExposure({ session, model: ready.model, instructions: given.instructions, name: given.exposure }),
    memory: createMemory({
      options: given.memory,
      model: ready.model,
      maxOutputTokens: settings.maxOutputTokens,
      findModel: async () =>
        given.memory?.summaryModel === undefined
          ? ready
          : payFor(await agent.models.get(given.memory.summaryModel), start, given.workspace.quotas),
      mayAsk: (model, text) => limits.maxCost === Infinity || canAfford(model, text, limits.maxCost - counter.spent()),
    }),
    log,
    feed,
    hooks: options.hooks ?? given.hooks ?? {},
    limits,
    settings,
    counter,
    digest: createPromptDigest(),
    detector: createLoopDetector(),
    approve: options.approve ?? given.approve,
    user: options.user,
    scopes: options.user === undefined || !given.scopesOf ? undefined : findScopes(options.user, given.scopesOf),
    guards: toGuards(given),
    output,
    conversation,
    longTerm: given.memory?.longTerm,
    trace,
    signal,
    priceOf: ready.priceOf,
  };
}

/** Has answers given again that were given before, if the agent was told to. */
function withAnswers(
  { answers, options: { cache } }: AgentParts,
  ready: ReadyModel,
  { options: { user } }: RunStart,
  session: Session,
): ReadyModel {
  if (answers === undefined || cache === undefined) return ready;
  const tools = (): readonly string[] => session.getAvailableTools().map(({ tool }) => toolDigest(tool));
  return { ...ready, model: withAnswerCache(ready.model, answers, cache, { user, tools }) };
}

/** What the model answers counts towards the quotas of the user whose run it is. */
function payFor(ready: ReadyModel, { options: { user } }: RunStart, quotas: Quotas): ReadyModel {
  if (user === undefined) return ready;
  return { ...ready, model: withQuota(ready.model, { quotas, user, findPrice: () => ready.priceOf }) };
}

const defaultLimits: RunLimits = {
  maxSteps: 50,
  maxTokens: Infinity,
  maxCost: Infinity,
  maxMs: Infinity,
  maxCalls: 1000,
  maxParallel: 8,
  maxContinuations: 3,
};

/** Opens a skill for a session. @throws {KitbagError} what keeps it closed. */
async function openSkill(session: Session, skill: string): Promise<void> {
  const outcome = await session.activateSkill(skill);
  if (outcome.status === "failed") throw new KitbagError(outcome.error.code, outcome.error.details);
}

/** Makes the way in which the model of one run sees tools. */
function createExposure(parts: ExposureParts & { readonly name: ExposureName | undefined }): Exposure {
  const { name = "auto" } = parts;
  switch (name === "auto" ? chooseExposure(parts) : name) {
    case "announce":
      return announceTools(parts);
    case "dispatch":
      return dispatchTools(parts);
    case "direct":
      return exposeDirectly(parts);
  }
}

/** A few tools that never change, with which a model finds, opens and calls everything else. */
export function dispatchTools({ session, instructions = "" }: ExposureParts): Exposure {
  const own = new Map(createDispatchTools(session).map((tool) => [tool.name, tellActivation(tool)]));
  const view: ModelView = {
    system: renderSystem(session, instructions, howTo),
    tools: [...own.values()].map(toDispatchModelTool),
  };
  return { name: "dispatch", view: () => view, announcement: () => undefined, find: (name) => own.get(name) };
}

const howTo =
  "Only a few tools are listed. To use any other: find it with search_tools, or open its skill with activate_skill, which answers with the tools of the skill; then call it with call_tool({ name, input }).";

/** Lists of tools that cost less than this, in tokens, may change as they like. */
const fewTokens = 4000;

/**
 * Chooses how a model sees tools. A short list is best shown as it is. A long one is not shown at all, and does not change when a
 * skill opens, so that the provider's cache stays good: tools are announced where the provider can, and else found by searching.
 */
function chooseExposure({ session, model }: ExposureParts): Exposure["name"] {
  const { longExposure = "dispatch" } = providerRow(model);
  if (longExposure === "direct") return "direct";
  let tokens = 0;
  for (const { skill } of session.getSkills()) {
    for (const tool of skill.tools) {
      tokens += estimateTokens(`${tool.name} ${tool.description} ${JSON.stringify(tool.inputSchema)}`);
      if (tokens > fewTokens) return longExposure;
    }
  }
  return "direct";
}
