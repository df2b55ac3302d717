import type { ModelMessage, ModelUsage } from "../../models/model.ts";
import type { CountedAnswer, ModelAnswered } from "../events.ts";
import type { ModelView } from "../exposure/exposure.ts";
import type { RunUsage } from "../run-result.ts";

/** What a model, a tool or a sub-agent used. */
export interface Used {
  readonly usage?: Partial<RunUsage>;
  /** In US dollars; `undefined` if a price is not known. */
  readonly cost: number | undefined;
  /** What it counts as against a limit of dollars if its price is not known. @default more than any limit */
  readonly assumedCost?: number | undefined;
  /** What it counts as against a limit of tokens, beside `usage`: an answer whose tokens the provider does not say. @default 0 */
  readonly assumedTokens?: number;
}

/** Whether something is used now, or a journal says that it was: the totals of agents have counted that already. */
export type When = "now" | "past";

/** Counts what a run uses. */
export interface UsageCounter {
  add(used: Used, when?: When): void;
  usage(): RunUsage;
  /** Input and output together. */
  tokens(): number;
  /** What counts against a limit of tokens. */
  spentTokens(): number;
  /** In US dollars; `undefined` as soon as one price is not known. */
  cost(): number | undefined;
  /** What counts against a limit of dollars. */
  spent(): number;
}

/** Where else a counter counts. */
export interface CounterOptions {
  /** That of the run which waits for this one: it counts everything, too. */
  readonly around?: UsageCounter | undefined;
  /** That of the agent, for all its runs: it counts what is used now. */
  readonly total?: UsageCounter | undefined;
}

/** What a run used that has not begun. */
export const nothingUsed: RunUsage = {
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  modelCalls: 0,
  toolCalls: 0,
};

const usageKeys = Object.keys(nothingUsed) as readonly (keyof RunUsage)[];

/** Makes a counter. */
export function createUsageCounter({ around, total }: CounterOptions = {}): UsageCounter {
  const counts: { -readonly [Key in keyof RunUsage]: number } = { ...nothingUsed };
  let sum: number | undefined = 0;
  let spent = 0;
  let assumed = 0;

  return {
    add(used, when = "now") {
      const { usage = {}, cost, assumedCost, assumedTokens = 0 } = used;
      for (const key of usageKeys) counts[key] += usage[key] ?? 0;
      sum = cost === undefined || sum === undefined ? undefined : sum + cost;
      spent += cost ?? assumedCost ?? Infinity;
      assumed += assumedTokens;
      around?.add(used, when);
      if (when === "now") total?.add(used);
    },
    usage: () => ({ ...counts }),
    tokens: () => counts.inputTokens + counts.outputTokens,
    spentTokens: () => counts.inputTokens + counts.outputTokens + assumed,
    cost: () => sum,
    spent: () => spent,
  };
}

/** What one answer of a model used. */
export function toRunUsage({ inputTokens, outputTokens }: ModelUsage): RunUsage {
  return {
    inputTokens: toTokenCount(inputTokens.total),
    cacheReadTokens: toTokenCount(inputTokens.cacheRead),
    cacheWriteTokens: toTokenCount(inputTokens.cacheWrite),
    outputTokens: toTokenCount(outputTokens.total),
    reasoningTokens: toTokenCount(outputTokens.reasoning),
    modelCalls: 1,
    toolCalls: 0,
  };
}

/** Tokens as a provider says them; nothing if it does not, or says what is no number of tokens. */
export function toTokenCount(tokens: number | undefined): number {
  return typeof tokens === "number" && tokens >= 0 && tokens <= Number.MAX_SAFE_INTEGER ? tokens : 0;
}

/** What tokens and money are spent on. */
export type CostKind = "model" | "agent" | "service" | "instructions" | "conversation" | "skill" | "tool";

/** Tells whether a row says what was paid, and is not a part of another row. */
export function isPaid({ kind }: Pick<CostRow, "kind">): boolean {
  return kind === "model" || kind === "agent" || kind === "service";
}

/**
 * One row of what a run used.
 *
 * The rows of kind `model` (as the providers say), `agent` (the runs of a sub-agent) and `service` (what a tool says that it paid) add
 * up to what the run used. All other rows divide the tokens of the models by purpose, and add up to the same sum; they are estimates, to
 * be shown with "≈". A message is paid for again with every later question: a result of 100 tokens before 9 questions costs 900.
 */
export interface CostRow {
  readonly kind: CostKind;
  /** `provider/model`, the address of a tool (also of a sub-agent), the name of a skill. */
  readonly name: string;
  /** Of a tool: the skill or component that it belongs to. */
  readonly skill?: string;
  /** How often the model was asked, the tool called, the skill opened, closed or read. */
  readonly calls: number;
  readonly inputTokens: number;
  /** Of the input: the definitions of tools. */
  readonly schemaTokens: number;
  /** The part of the input for results of calls; for a skill, its instructions. */
  readonly resultTokens: number;
  /** What the model wrote: of a tool, the input of its calls. */
  readonly outputTokens: number;
  /** In US dollars; not there if the price of an answer is not known. */
  readonly cost?: number;
  readonly isEstimate: boolean;
}

/** A question that was asked: only references, so that it costs nothing until a cost report is requested. */
export interface Question {
  readonly answer: Pick<ModelAnswered, "model" | "content" | "usage" | "cost"> & Pick<CountedAnswer, "estimate">;
  /** What the model was shown of the conversation: the first `count` of these. */
  readonly messages: readonly ModelMessage[];
  readonly count: number;
  /** The system text and the tools; absent where they were not kept, as in a journal. */
  readonly view?: ModelView;
}
