import { billPrompt, type PromptPart } from "../../agent/cost/prompt-bill.ts";
import type { ExposureName } from "../../agent/agent-options.ts";
import type { ModelCall, ModelMessage } from "../../models/model.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { renderTable } from "../render.ts";
import { nameModel } from "./agent-options.ts";
import type { OpenAgent } from "./open-agent.ts";
import { showCount, showDollars } from "./view/describe-end.ts";

/** What the first prompt of a run is made of. */
export interface ShowTokensOptions {
  readonly message: ModelMessage;
  /** Skills that are open from the beginning. */
  readonly skills: readonly string[];
  readonly exposure: ExposureName | undefined;
}

/** Shows how many tokens the first prompt of a run has, part by part. No model is asked, and no run is kept. */
export async function showTokens(
  { terminal }: Pick<Invocation, "terminal">,
  { workspace, model: given }: OpenAgent,
  { message, skills, exposure }: ShowTokensOptions,
): Promise<Answer> {
  const [{ createAgent }, { createModelSource }, { contextWindowOf }] = await Promise.all([
    import("../../agent/create-agent.ts"),
    import("../../agent/model-source.ts"),
    import("../../models/tokens/context-window.ts"),
  ]);
  let call: ModelCall | undefined;
  const beforeModel = (asked: ModelCall): never => {
    call = asked;
    throw new Error("the prompt is known");
  };
  const options = { model: given, workspace, hooks: { beforeModel }, ...(exposure !== undefined && { exposure }) };
  const result = await createAgent(options).run([message], { skills }).result;
  if (call === undefined)
    return { document: undefined, failure: result.error?.message ?? "There was no prompt", exitCode: 1 };
  const { model, priceOf } = await createModelSource(options).get(given);
  const parts = billPrompt(call, model);
  const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  const usage = {
    inputTokens: { total: tokens, noCache: tokens, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 0, text: 0, reasoning: 0 },
  };
  const facts = {
    model: nameModel(given),
    tokens,
    window: contextWindowOf(model),
    cost: priceOf(model.modelId, usage),
  };
  const document = { ...facts, parts };
  return { document, text: `${renderParts(parts, tokens, terminal)}\n\n${describe(facts)}` };
}

interface PromptFacts {
  readonly model: string;
  readonly tokens: number;
  readonly window: number | undefined;
  /** In US dollars. */
  readonly cost: number | undefined;
}

function describe({ model, tokens, window, cost }: PromptFacts): string {
  const share = window === undefined ? "" : ` of ${showCount(window)} that it reads (${showShare(tokens, window)})`;
  const price = cost === 0 ? "nothing" : `about ${showDollars(cost)}, without the answer`;
  const paid = cost === undefined ? "Its price is not known." : `Each question costs ${price}.`;
  return `${model}: about ${showCount(tokens)} tokens${share}. ${paid} Nothing was asked.`;
}

/** So many tools have a line of their own. */
const mostTools = 12;

const labels: Readonly<Record<PromptPart["kind"], string>> = {
  instructions: "instructions",
  skills: "the list of skills",
  skill: "the skill",
  tool: "the tool",
  conversation: "the conversation so far",
  task: "the task",
  images: "images",
};

function renderParts(parts: readonly PromptPart[], tokens: number, terminal: Invocation["terminal"]): string {
  const largest = parts.filter(({ kind }) => kind === "tool").toSorted((left, right) => right.tokens - left.tokens);
  const small = largest.slice(mostTools);
  const rest = small.reduce((sum, part) => sum + part.tokens, 0);
  const shown = parts.filter((part) => !small.includes(part));
  const rows = shown.map(
    ({ kind, name, tokens: own }) => [name === undefined ? labels[kind] : `${labels[kind]} ${name}`, own] as const,
  );
  const all = [
    ...rows,
    ...(rest > 0 ? [[`${small.length} smaller tools`, rest] as const] : []),
    ["together", tokens] as const,
  ];
  const cells = all.map(([label, own]) => [label, `≈ ${showCount(own)}`, showShare(own, tokens)]);
  return renderTable(["PART OF THE PROMPT", "TOKENS", "SHARE"], cells, terminal);
}

function showShare(part: number, whole: number): string {
  const share = Math.round((part / Math.max(1, whole)) * 100);
  return share === 0 && part > 0 ? "< 1 %" : `${share} %`;
}
