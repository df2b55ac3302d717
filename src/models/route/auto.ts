import type { Model, ModelCall } from "../model.ts";
import { machineClock } from "../../platform/clock.ts";
import { checkOptionNames } from "../check-option-names.ts";
import { countImages } from "../images/count-images.ts";
import { wrapParts } from "../shims/wrap-model.ts";
import type { ModelNeeds } from "../table/choose.ts";
import { estimatePromptTokens } from "../tokens/estimate-tokens.ts";
import { type AutoOptions, setAutoOptions } from "./auto-options.ts";
import { askCandidate, type Candidate, generateCandidate, toCandidates } from "./candidate.ts";

const described = { provider: "kitbag", modelId: "auto", supportedUrls: {} };
/** The least that a chosen model must be able to read, since a prompt grows. Models of one's own are often loaded with less. */
const leastContext = 32_000;

/**
 * Makes a model that is chosen by what is needed: images, length, tools, structured output and a budget, among the providers whose key
 * is set and whose package is installed. What `options` says is needed too.
 *
 * An agent chooses once for each run, and a resumed run keeps the model that was chosen. Asked in another way, it is chosen for each
 * question. {@link choose} is the same choice, made once and explicitly.
 *
 * @example
 * ```ts
 * import { createAgent } from "kitbag/agent";
 * import { createWorkspace } from "kitbag";
 * import { auto } from "kitbag/models";
 *
 * const agent = createAgent({ model: auto({ prefer: "cost" }), workspace: createWorkspace() });
 *
 * console.assert(agent !== undefined);
 * ```
 *
 * @throws {KitbagError} `option-invalid`; when it is asked (rejects) `model-unmatched` with the need that no model can meet
 */
export function auto(options: AutoOptions = {}): Model {
  checkOptionNames(options, [
    "vision",
    "tools",
    "structuredOutput",
    "local",
    "context",
    "maxCost",
    "prefer",
    "available",
  ]);
  const models = new Map<string, Candidate>();
  const asking = { clock: machineClock, limits: {} };
  const find = async (call: ModelCall): Promise<Candidate> => {
    const name = await chooseName(options, needsOf(call));
    const known = models.get(name);
    if (known !== undefined) return known;
    const { resolveModel } = await import("../resolve/resolve-model.ts");
    const [made] = toCandidates([await resolveModel(name)]) as [Candidate];
    models.set(name, made);
    return made;
  };
  const made = wrapParts(described, {
    doGenerate: async (call) => generateCandidate(await find(call), call, asking),
    ask: async (call) => askCandidate(await find(call), call, asking),
  });
  return setAutoOptions(made, options);
}

/** The name of the model that {@link auto} chooses for these needs. @throws {KitbagError} (rejects) `model-unmatched` */
export async function chooseName({ available, ...own }: AutoOptions, needs: ModelNeeds): Promise<string> {
  const { choose } = await import("../table/choose.ts");
  const { name } = await choose(mergeNeeds(own, needs), available === undefined ? {} : { available });
  return name;
}

/** Both together: what either needs, the longer prompt, the smaller budget. */
function mergeNeeds(own: ModelNeeds, needs: ModelNeeds): ModelNeeds {
  const { context: least = 0, maxCost: most = Infinity } = own;
  const { context = 1, maxCost = Infinity } = needs;
  const budget = Math.min(most, maxCost);
  return {
    ...own,
    context: Math.max(least, context, own.local === true ? 1 : leastContext),
    ...(budget < Infinity && { maxCost: budget }),
    ...((own.vision === true || needs.vision === true) && { vision: true }),
    ...((own.tools === true || needs.tools === true) && { tools: true }),
    ...((own.structuredOutput === true || needs.structuredOutput === true) && { structuredOutput: true }),
  };
}

function needsOf({ prompt, tools = [], responseFormat, maxOutputTokens = 0 }: ModelCall): ModelNeeds {
  return {
    vision: countImages(prompt) > 0,
    tools: tools.length > 0,
    structuredOutput: responseFormat?.type === "json",
    context: estimatePromptTokens({ messages: prompt }, described) + maxOutputTokens,
  };
}
