import { isKitbagError, type ErrorCode } from "../../core/errors.ts";
import { countImages } from "../../models/images/count-images.ts";
import type { ModelMessage } from "../../models/model.ts";
import { chooseName } from "../../models/route/auto.ts";
import type { AutoOptions } from "../../models/route/auto-options.ts";
import type { ModelNeeds } from "../../models/table/choose.ts";
import { estimatePromptTokens } from "../../models/tokens/estimate-tokens.ts";
import type { AgentParts } from "../agent-parts.ts";
import type { RunOptions } from "../agent-options.ts";
import type { ReadyModel } from "../model-source.ts";

/** The model that was chosen for a run, and its name. */
export interface ChosenModel {
  readonly ready: ReadyModel;
  readonly chosen: string;
}

/** What says what the model of a run must be able to do. */
export interface RunFacts {
  readonly messages: readonly ModelMessage[];
  readonly options: Pick<RunOptions, "limits" | "settings" | "user">;
  /** Whether the answer has a schema. */
  readonly hasOutput: boolean;
  /** The model that was chosen when the run began. */
  readonly before?: string | undefined;
}

/** Why a model that was chosen earlier cannot be asked any more. */
const gone: readonly ErrorCode[] = ["model-key-missing", "model-name-invalid", "provider-missing", "provider-unknown"];

/** Chooses the model of a run by what the run needs. A run that goes on keeps its model, unless that is gone. */
export async function chooseModel(agent: AgentParts, auto: AutoOptions, facts: RunFacts): Promise<ChosenModel> {
  const { models } = agent;
  if (facts.before !== undefined) {
    try {
      return { ready: await models.get(facts.before), chosen: facts.before };
    } catch (cause) {
      if (!gone.some((code) => isKitbagError(cause, code))) throw cause;
    }
  }
  const chosen = await chooseName(auto, needsOf(agent, facts));
  return { ready: await models.get(chosen), chosen };
}

/** How many tokens the answers and results of some steps add to a prompt, at a guess. */
const growth = 8000;
const someSteps = 5;

function needsOf({ options: agent }: AgentParts, { messages, options, hasOutput }: RunFacts): ModelNeeds {
  const system = agent.instructions ?? "";
  const prompt = estimatePromptTokens({ system, messages }, { provider: "", modelId: "" });
  const { maxOutputTokens = growth } = { ...agent.settings, ...options.settings };
  const { maxCost = Infinity } = { ...agent.limits, ...options.limits };
  const quota = agent.workspace.quotas.of(options.user)?.limits.dollars ?? Infinity;
  const million = (someSteps * (prompt + growth)) / 1e6;
  const budget = Math.min(maxCost, quota) / million;
  return {
    vision: countImages([...messages]) > 0,
    tools: true,
    structuredOutput: hasOutput,
    context: prompt * 2 + maxOutputTokens,
    ...(budget < Infinity && { maxCost: budget }),
  };
}
