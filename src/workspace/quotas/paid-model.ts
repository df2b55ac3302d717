import { KitbagError } from "../../core/errors.ts";
import type { Model, ModelAnswer, ModelCall, ModelPart, ModelUsage } from "../../models/model.ts";
import { estimateCost, toUsage, type CostEstimate } from "../../models/prices/estimate-cost.ts";
import type { PriceOf } from "../../models/prices/price-of.ts";
import type { PartAnswer, PartSource } from "../../models/shims/part-source.ts";
import { askForParts, wrapParts } from "../../models/shims/wrap-model.ts";
import { estimateTokens } from "../../core/estimate-tokens.ts";
import type { Spent } from "./day-counters.ts";
import type { Account } from "../../core/quotas.ts";
import type { Quotas } from "./quotas.ts";

/** For whom a model is asked, and what it costs. */
export interface Payer {
  readonly quotas: Quotas;
  readonly user: string | undefined;
  /** Looked for only if a quota is in dollars. */
  readonly findPrice: () => PriceOf | Promise<PriceOf>;
}

/**
 * A model whose answers count towards the quotas of a user, tokens and dollars. What a question costs at the least is counted before it
 * is asked, and what it cost in the end after: so the last answer may go over a quota, and nothing after it is asked.
 *
 * It rejects with `quota-reached`, and with `price-unknown` if there is a quota in dollars and the price of the model is not known. A
 * user without such quotas is asked for nothing.
 */
export function withQuota(model: Model, payer: Payer): Model {
  return wrapParts(model, {
    async doGenerate(call) {
      const payment = await begin(model, call, payer);
      if (payment === undefined) return model.doGenerate(call);
      try {
        const answer = await model.doGenerate(call);
        payment.seeAnswer(answer);
        return answer;
      } finally {
        await payment.end();
      }
    },
    async ask(call) {
      const payment = await begin(model, call, payer);
      if (payment === undefined) return askForParts(model, call);
      try {
        const answer = await askForParts(model, call);
        return { ...answer, source: follow(answer, payment) };
      } catch (cause) {
        await payment.end();
        throw cause;
      }
    },
  });
}

/** Sees all parts of an answer, and ends the payment with the last one. */
function follow({ source }: PartAnswer, payment: Payment): PartSource {
  return {
    async next() {
      try {
        const part = await source.next();
        if (part === undefined) await payment.end();
        else payment.seePart(part);
        return part;
      } catch (cause) {
        await payment.end();
        throw cause;
      }
    },
    async cancel(reason) {
      try {
        await source.cancel(reason);
      } finally {
        await payment.end();
      }
    },
    isOpened: source.isOpened === true,
  };
}

async function begin(model: Model, call: ModelCall, { quotas, user, findPrice }: Payer): Promise<Payment | undefined> {
  const account = quotas.of(user);
  const { tokens, dollars } = account?.limits ?? {};
  if (account === undefined || (tokens === undefined && dollars === undefined)) return undefined;
  const priceOf = dollars === undefined ? () => 0 : await findPrice();
  const { prompt: messages, tools, maxOutputTokens } = call;
  const functions = tools?.filter((tool) => tool.type === "function");
  const estimate = estimateCost(model, priceOf, { messages, ...(functions && { tools: functions }), maxOutputTokens });
  if (estimate.least === undefined) {
    throw new KitbagError("price-unknown", { model: `${model.provider}/${model.modelId}` });
  }
  const spent = await spendBoth(quotas, account, estimate);
  return new Payment({ model, priceOf, maxDollars: dollars ?? 0, inputTokens: estimate.inputTokens, ...spent });
}

const leastDollars = 1e-9;

interface SpentParts {
  readonly tokens: Spent | undefined;
  readonly dollars: Spent | undefined;
}

/** Takes of both quotas, or of none. */
async function spendBoth(
  quotas: Quotas,
  account: Account,
  { inputTokens, least = 0 }: CostEstimate,
): Promise<SpentParts> {
  const { limits } = account;
  const tokens = limits.tokens === undefined ? undefined : await quotas.spend(account, "tokens", inputTokens);
  try {
    // A model that is several may look as if it cost nothing: something is always taken, so that nothing is left means nothing.
    const taken = Math.max(least, leastDollars);
    return {
      tokens,
      dollars: limits.dollars === undefined ? undefined : await quotas.spend(account, "dollars", taken),
    };
  } catch (cause) {
    await tokens?.settle(0);
    throw cause;
  }
}

interface PaymentParts extends SpentParts {
  readonly model: Model;
  readonly priceOf: PriceOf;
  /** The whole quota. */
  readonly maxDollars: number;
  /** As estimated. */
  readonly inputTokens: number;
}

/** What is paid for one answer. */
class Payment {
  readonly #parts: PaymentParts;
  #usage: ModelUsage | undefined;
  #by: string | undefined;
  #modelId: string | undefined;
  /** What the model has said, for one that does not say how many tokens that are. */
  #text = "";
  #hasBegun = false;
  #isOver = false;

  constructor(parts: PaymentParts) {
    this.#parts = parts;
  }

  seePart(part: ModelPart): void {
    this.#hasBegun ||= part.type !== "error" && part.type !== "stream-start";
    if ("delta" in part) this.#text += part.delta;
    if (part.type === "response-metadata") this.#modelId = part.modelId;
    if (part.type === "finish") this.#seeEnd(part.usage, part.providerMetadata);
  }

  seeAnswer({ content, usage, providerMetadata, response }: ModelAnswer): void {
    this.#hasBegun = true;
    this.#text = content.map((part) => (part.type === "text" ? part.text : JSON.stringify(part))).join("");
    this.#modelId = response?.modelId;
    this.#seeEnd(usage, providerMetadata);
  }

  #seeEnd(usage: ModelUsage | undefined, metadata: ModelAnswer["providerMetadata"]): void {
    this.#usage = usage;
    const by = metadata?.["kitbag"]?.["model"];
    if (typeof by === "string") this.#by = by;
  }

  /**
   * Counts what the answer cost; nothing without an answer. Never rejects: an answer that was paid is not lost because the store failed.
   * Then what was taken before the question stays counted, and the next question meets the same store.
   */
  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const { tokens, dollars } = this.#parts;
    const usage = this.#toUsage();
    const cost = this.#hasBegun && dollars !== undefined ? this.#toCost(usage) : 0;
    await Promise.allSettled([tokens?.settle(this.#hasBegun ? countTokens(usage) : 0), dollars?.settle(cost)]);
  }

  /** As the provider says; else as it looks. */
  #toUsage(): ModelUsage {
    if (this.#usage !== undefined && countTokens(this.#usage) > 0) return this.#usage;
    return toUsage({ input: this.#parts.inputTokens, cacheRead: 0, output: estimateTokens(this.#text) });
  }

  #toCost(usage: ModelUsage): number {
    const { model, priceOf, maxDollars } = this.#parts;
    const by = this.#by;
    const modelId = this.#modelId ?? by?.slice(by.indexOf("/") + 1) ?? model.modelId;
    // Of a model that is several, one has answered whose price is not known: nothing more is asked today.
    return priceOf(modelId, usage, by) ?? (by === undefined ? priceOf(model.modelId, usage) : undefined) ?? maxDollars;
  }
}

/** Input and output together, as far as a provider says them; what it says may be anything. */
function countTokens({ inputTokens, outputTokens }: ModelUsage): number {
  const counts = [inputTokens?.total, outputTokens?.total];
  return counts.reduce<number>((sum, count) => sum + (Number.isSafeInteger(count) ? Math.max(0, Number(count)) : 0), 0);
}
