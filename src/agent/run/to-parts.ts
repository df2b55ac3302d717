import { estimateTokens } from "../../core/estimate-tokens.ts";
import type { Model } from "../../models/model.ts";
import { providerRow } from "../../models/providers.ts";
import { createDispatchTools } from "../../workspace/dispatch/create-dispatch-tools.ts";
import { withQuota } from "../../workspace/quotas/paid-model.ts";
import type { Quotas } from "../../workspace/quotas/quotas.ts";
import { toolDigest } from "../../workspace/registry/tool-digest.ts";
import type { Session } from "../../workspace/workspace.ts";
import type { ExposureName, RunLimits } from "../agent-options.ts";
import type { AgentParts } from "../agent-parts.ts";
import type { UsageCounter } from "../cost/usage-counter.ts";
import { announceTools, exposeDirectly } from "../exposure/announce-tools.ts";
import type { Exposure, ExposureParts, ModelView } from "../exposure/exposure.ts";
import { renderSystem } from "../exposure/render-system.ts";
import { tellActivation } from "../exposure/tell-activation.ts";
import { toDispatchModelTool } from "../exposure/to-model-tools.ts";
import type { RunLog } from "../log/run-log.ts";
import type { OpenConversation } from "../memory/conversations/open-conversation.ts";
import { createMemory } from "../memory/create-memory.ts";
import type { Memory } from "../memory/memory-options.ts";
import { canAfford, type ReadyModel, requirePrice } from "../model-source.ts";
import { withAnswerCache } from "./answer-cache.ts";
import { type BeforeHandoff, inheritParts } from "./inherit-parts.ts";
import { createPromptDigest } from "./prompt-digest.ts";
import type { OutputRule, RunParts, RunStart } from "./run-state.ts";

/** What was found and made for a run. */
export interface MadeParts {
  readonly ready: ReadyModel;
  readonly session: Session;
  readonly log: RunLog;
  readonly output: OutputRule | undefined;
  readonly conversation?: OpenConversation | undefined;
  /** Finds the model of an agent that goes on with the conversation. */
  readonly findModel: RunParts["findModel"];
  /** Set when the conversation was handed over. */
  readonly before?: BeforeHandoff;
}

/** Opens the session of a run: that of a sub-agent calls on behalf of the call that it is. */
export function openRunSession({ options, limit }: AgentParts, { inside }: Pick<RunStart, "inside">): Session {
  const session = options.workspace.openSession({ isAgent: true, ...(inside && { inside: inside.call }) });
  return limit === undefined ? session : limit(session);
}

/** Makes the parts that a run works with. @throws {KitbagError} `price-unknown`, `option-invalid`, `user-unknown`. */
export function toParts(agent: AgentParts, start: RunStart, made: MadeParts): RunParts {
  const { options: given } = agent;
  const { options, id, feed, signal, trace } = start;
  const { session, log, output, conversation, findModel } = made;
  const { user } = options;
  const taken = inheritParts(agent, start, made.before);
  const { limits, counter, quotas } = taken;
  const pay = (model: ReadyModel): ReadyModel => payFor(model, user, quotas);
  const ready = pay(withAnswers(agent, made.ready, { user, session }));
  const settings = options.settings === undefined ? (given.settings ?? {}) : { ...given.settings, ...options.settings };
  checkPrice(ready, { limits, quotas, user });
  return {
    ...taken,
    id,
    agent,
    start,
    askedModel: options.model ?? given.model,
    findModel,
    model: ready.model,
    modelName: ready.name,
    session,
    exposure: createExposure({ session, model: ready.model, instructions: given.instructions, name: given.exposure }),
    memory: toMemory(agent, { ready, limits, counter, pay, maxOutputTokens: settings.maxOutputTokens }),
    log,
    feed,
    hooks: options.hooks ?? given.hooks ?? {},
    givenHooks: options.hooks,
    settings,
    digest: createPromptDigest(),
    user,
    output,
    conversation,
    longTerm: given.memory?.longTerm,
    trace,
    signal,
    priceOf: ready.priceOf,
  };
}

/** @throws {KitbagError} `price-unknown` if there is a limit in dollars, of the run or of its user, and the price of the model is not known. */
export function checkPrice(
  ready: ReadyModel,
  { limits, quotas, user }: Pick<RunParts, "limits" | "quotas" | "user">,
): void {
  requirePrice(ready, Math.min(limits.maxCost, ...quotas.map((one) => one.of(user)?.limits.dollars ?? Infinity)));
}

interface MemoryParts {
  readonly ready: ReadyModel;
  readonly limits: RunLimits;
  readonly counter: UsageCounter;
  readonly pay: (ready: ReadyModel) => ReadyModel;
  readonly maxOutputTokens: number | undefined;
}

function toMemory(
  { options, models }: AgentParts,
  { ready, limits, counter, pay, maxOutputTokens }: MemoryParts,
): Memory {
  const { summaryModel } = options.memory ?? {};
  return createMemory({
    options: options.memory,
    model: ready.model,
    maxOutputTokens,
    findModel: async () => (summaryModel === undefined ? ready : pay(await models.get(summaryModel))),
    mayAsk: (model, text) => limits.maxCost === Infinity || canAfford(model, text, limits.maxCost - counter.spent()),
  });
}

/** Has answers given again that were given before, if the agent was told to. */
function withAnswers(
  { answers, options: { cache } }: AgentParts,
  ready: ReadyModel,
  { user, session }: Pick<RunParts, "user" | "session">,
): ReadyModel {
  if (answers === undefined || cache === undefined) return ready;
  const tools = (): readonly string[] => session.getAvailableTools().map(({ tool }) => toolDigest(tool));
  return { ...ready, model: withAnswerCache(ready.model, answers, cache, { user, tools }) };
}

/** What the model answers counts towards the quotas of the user whose run it is. */
function payFor(ready: ReadyModel, user: string | undefined, quotas: readonly Quotas[]): ReadyModel {
  if (user === undefined) return ready;
  const findPrice = (): ReadyModel["priceOf"] => ready.priceOf;
  const pay = (model: Model, one: Quotas): Model => withQuota(model, { quotas: one, user, findPrice });
  return { ...ready, model: quotas.reduce(pay, ready.model) };
}

/** Makes the way in which the model of one run sees tools. */
export function createExposure(parts: ExposureParts & { readonly name: ExposureName | undefined }): Exposure {
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
