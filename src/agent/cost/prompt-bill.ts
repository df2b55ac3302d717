import type { ModelCall, ModelMessage } from "../../models/model.ts";
import { countPart, countTool } from "../../models/tokens/count-content.ts";
import { type CountingModel, estimateMessageTokens, toTokens } from "../../models/tokens/estimate-tokens.ts";
import { familyOf, type TokenFamily } from "../../models/providers.ts";
import { ShownCounter, skillTextsIn, targetOfTool } from "./shown-tokens.ts";

/** A part of a prompt, and about how many tokens it has. */
export interface PromptPart {
  /**
   * `instructions`: the system text, without the parts below; `skills`: the list of the skills that there are; `skill`: the instructions
   * of one that is open; `tool`: its definition; `task`: the last message of the user, and `images` in it; `conversation`: all messages
   * before, with the results of calls.
   */
  readonly kind: "conversation" | "images" | "instructions" | "skill" | "skills" | "task" | "tool";
  /** Of a skill or a tool. */
  readonly name?: string;
  readonly tokens: number;
}

/**
 * The bill of a prompt: what it consists of, and about how many tokens each part has, in the order in which a model is shown them. Parts
 * of nothing are left out.
 *
 * @example
 * ```ts
 * import { createWorkspace } from "kitbag";
 * import { billPrompt, createAgent, type PromptPart } from "kitbag/agent";
 *
 * const bills: (readonly PromptPart[])[] = [];
 * const agent = createAgent({
 *   model: "local",
 *   workspace: createWorkspace(),
 *   instructions: "Be brief.",
 *   hooks: { beforeModel: (call) => void bills.push(billPrompt(call)) },
 * });
 * await agent.run("Hello");
 *
 * console.assert(bills[0]?.map(({ kind }) => kind).join() === "instructions,task");
 * ```
 */
export function billPrompt(
  { prompt, tools = [] }: Pick<ModelCall, "prompt" | "tools">,
  model: CountingModel = { provider: "", modelId: "" },
): readonly PromptPart[] {
  const family = familyOf(model);
  const [first, ...rest] = prompt;
  const system = first?.role === "system" ? first.content : "";
  const messages = first?.role === "system" ? rest : prompt;
  const last = messages.findLastIndex(({ role }) => role === "user");
  const before = messages.filter((_, index) => index !== last);
  const parts: PromptPart[] = [
    ...billSystem(system, family),
    ...tools.flatMap((tool) =>
      tool.type === "function"
        ? [{ kind: "tool", name: toName(tool.name), tokens: toTokens(countTool(tool), family) } as const]
        : [],
    ),
    { kind: "conversation", tokens: countAll(before, model) },
    ...billTask(messages[last], model, family),
  ];
  return parts.filter(({ tokens }) => tokens > 0);
}

/** The address of a tool, whose name on the wire has other characters. */
function toName(name: string): string {
  const { kind, name: found } = targetOfTool(name);
  return kind === "tool" ? found : name;
}

/** How the list of skills begins and ends, in both of its forms. */
const catalog =
  /<available_skills>[\s\S]*?<\/available_skills>|^Skills that can be opened with .*:\n(?:- .*(?:\n|$))+/mu;

function billSystem(system: string, family: TokenFamily): readonly PromptPart[] {
  if (system === "") return [];
  const countOf = (text: string): number => toTokens(countPart({ type: "text", text }), family);
  const [list = ""] = catalog.exec(system) ?? [];
  const skills = skillTextsIn(system).map(({ target, count }) => ({
    kind: "skill" as const,
    name: target.name,
    tokens: toTokens(count, family),
  }));
  const listed = list === "" ? 0 : countOf(list);
  const known = skills.reduce((sum, { tokens }) => sum + tokens, listed);
  return [
    { kind: "instructions", tokens: Math.max(0, countOf(system) - known) },
    { kind: "skills", tokens: listed },
    ...skills,
  ];
}

function countAll(messages: readonly ModelMessage[], model: CountingModel): number {
  let tokens = 0;
  for (const { input } of new ShownCounter().of(messages, messages.length, model)) tokens += input;
  return tokens;
}

function billTask(message: ModelMessage | undefined, model: CountingModel, family: TokenFamily): readonly PromptPart[] {
  if (message?.role !== "user") return [];
  const files = message.content.filter(({ type }) => type === "file");
  const images = files.reduce((sum, part) => sum + toTokens(countPart(part), family), 0);
  return [
    { kind: "task", tokens: Math.max(0, estimateMessageTokens(message, model) - images) },
    { kind: "images", tokens: images },
  ];
}
