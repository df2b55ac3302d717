import { describeCause, KitbagError } from "../../core/errors.ts";
import { type Environment, providers } from "../providers.ts";
import { type ListedModel, loadModelTable, whyNotOffered } from "./listed-models.ts";

/** What a model must be able to do. */
export interface ModelNeeds {
  readonly vision?: boolean;
  readonly tools?: boolean;
  /** Whether it holds an answer to a schema. */
  readonly structuredOutput?: boolean;
  /** It runs on a server of your own (Ollama, LM Studio, llama.cpp, vLLM): the servers are asked what they have. @default false */
  readonly local?: boolean;
  /** How many tokens it must be able to read. */
  readonly context?: number;
  /** US dollars for a million tokens, three of four read and one written, in a prompt of `context` tokens (10,000 if not said). */
  readonly maxCost?: number;
  /** What decides among those that can. @default "quality" */
  readonly prefer?: "cost" | "quality" | "speed";
}

/** Among which models {@link choose} looks. */
export interface ChooseOptions {
  /**
   * Names of providers (`openai`) or of models (`openai/gpt-6-sol`), or `"all"`.
   *
   * @default the providers whose key is set and whose package is installed
   */
  readonly available?: "all" | readonly string[];
  /** @default process.env */
  readonly env?: Environment;
  /** Prices change with time. @default now */
  readonly now?: Date;
}

/** A model that was chosen, and why. */
export interface Choice {
  /** For `resolveModel`. */
  readonly name: string;
  readonly reasons: readonly string[];
  /** The others, the next best first, and why not they. */
  readonly passedOver: readonly { readonly name: string; readonly reason: string }[];
}

/**
 * Chooses a model by what it must be able to do, from a table that comes with the package.
 *
 * Context and prices are those of `@pydantic/genai-prices`; what is better or faster is our own judgement, by what their makers
 * call large and small. A model that is too new for that data reads what its family reads at the least, and costs an unknown price: it
 * comes last where the price decides, and is passed over if there is a `maxCost`. Nothing is sent, except with `local`: then the servers
 * of your own are asked which models they have, and a model is rated by how many weights it has, how they are rounded, and how much of
 * them is in the memory of the graphics card.
 *
 * @example
 * ```ts
 * import { choose } from "kitbag/models";
 *
 * const { name, passedOver } = await choose({ vision: true, prefer: "cost" }, { available: ["anthropic"] });
 *
 * console.assert(name === "anthropic/claude-haiku-4-5" && passedOver.length > 0);
 * ```
 *
 * @throws {KitbagError} (rejects) `model-unmatched` with the need that none can meet; `option-invalid`
 */
export async function choose(needs: ModelNeeds, options: ChooseOptions = {}): Promise<Choice> {
  checkNeeds(needs);
  const { prefer = "quality", context = 10_000 } = needs;
  const passed: Passed = [];
  let left = needs.local === true ? await takeLocal(options, passed) : await takeHosted(options, passed);
  for (const filter of toFilters(needs)) {
    const able = left.filter((model) => {
      const reason = filter.why(model);
      if (reason !== undefined) passed.push({ name: model.name, reason });
      return reason === undefined;
    });
    if (able.length === 0) throw unmatched(filter.need(left), passed);
    left = able;
  }
  // What is the same in all stays in the order of the table: the newest first.
  const [best, ...others] = left.toSorted(orders[prefer](context)) as [ListedModel, ...ListedModel[]];
  const behind = others.map((model) => ({ name: model.name, reason: `it can too; ${describe(model, context)}` }));
  const reasons = [`the first by ${prefer} of ${left.length} that can`, describe(best, context)];
  return { name: best.name, reasons, passedOver: [...behind, ...passed] };
}

function describe({ quality, speed, context, note, costAt }: ListedModel, prompt: number): string {
  const reads = context === undefined ? "an unknown number of" : context.toLocaleString("en-US");
  if (note !== undefined) return `${note}; quality ${quality} of 5, speed ${speed} of 5, reads ${reads} tokens`;
  const cost = costAt(prompt);
  const price = cost === undefined ? "its price is not known" : `${dollars(cost)} for a million`;
  return `quality ${quality} of 5, speed ${speed} of 5, reads ${reads} tokens, ${price}`;
}

function dollars(cost: number): string {
  return `$${Number(cost.toPrecision(3))}`;
}

type Order = (left: ListedModel, right: ListedModel) => number;

/** What comes first; where two are the same, the rest decides. */
const orders: Readonly<Record<"cost" | "quality" | "speed", (prompt: number) => Order>> = {
  quality: (prompt) => (left, right) => right.quality - left.quality || byCost(prompt)(left, right),
  cost: (prompt) => (left, right) => compareCosts(left, right, prompt) || right.quality - left.quality,
  speed: (prompt) => (left, right) =>
    right.speed - left.speed || right.quality - left.quality || byCost(prompt)(left, right),
};

function byCost(prompt: number): Order {
  return (left, right) => compareCosts(left, right, prompt);
}

/** One whose price is not known comes last. */
function compareCosts(left: ListedModel, right: ListedModel, prompt: number): number {
  const [first = Infinity, second = Infinity] = [left.costAt(prompt), right.costAt(prompt)];
  return first === second ? 0 : first - second;
}

interface Filter {
  /** Why a model cannot; `undefined` if it can. */
  why(model: ListedModel): string | undefined;
  /** What is missing when none of these can. */
  need(models: readonly ListedModel[]): string;
}

function toFilters({ vision, tools, structuredOutput, context, maxCost }: ModelNeeds): Filter[] {
  const prompt = context ?? 10_000;
  const filters: Filter[] = [];
  if (vision === true) {
    filters.push({ why: (model) => (model.vision ? undefined : "it sees no images"), need: () => "none sees images" });
  }
  if (tools === true) {
    filters.push({ why: (model) => (model.tools ? undefined : "it calls no tools"), need: () => "none calls tools" });
  }
  if (structuredOutput === true) {
    filters.push({
      why: (model) => (model.structuredOutput ? undefined : "it holds no answer to a schema"),
      need: () => "none holds an answer to a schema",
    });
  }
  if (context !== undefined) {
    filters.push({
      why: (model) => whyTooSmall(model, context),
      need: (models) =>
        `none is known to read ${context} tokens; the most is ${Math.max(0, ...models.map((model) => model.context ?? 0))}`,
    });
  }
  if (maxCost !== undefined) {
    const cheapest = (models: readonly ListedModel[]): string =>
      dollars(Math.min(...models.map(({ costAt }) => costAt(prompt) ?? Infinity)));
    filters.push({
      why: ({ costAt }) => {
        const cost = costAt(prompt);
        if (cost === undefined) return "its price is not known";
        return cost <= maxCost ? undefined : `it costs ${dollars(cost)} for a million tokens`;
      },
      need: (models) => `none costs at most ${dollars(maxCost)} for a million tokens; the least is ${cheapest(models)}`,
    });
  }
  return filters;
}

function whyTooSmall({ context: reads }: ListedModel, context: number): string | undefined {
  if (reads === undefined) return "it is not known how much it reads";
  return reads >= context ? undefined : `it reads ${reads} tokens`;
}

type Passed = { name: string; reason: string }[];

/** The models of servers of one's own, without those that are not asked for. */
async function takeLocal({ available, env = process.env }: ChooseOptions, passed: Passed): Promise<ListedModel[]> {
  const { loadLocalTable } = await import("./local-models.ts");
  const { models, missing } = await loadLocalTable(env);
  const isListed = ({ name, provider }: ListedModel): boolean =>
    available === undefined || available === "all" || available.includes(provider) || available.includes(name);
  for (const model of models) if (!isListed(model)) passed.push({ name: model.name, reason: notAvailable });
  const left = models.filter(isListed);
  if (left.length > 0) return left;
  if (passed.length > 0)
    throw unmatched("none of the models of your servers is among those that are available", passed);
  throw new KitbagError("model-unmatched", { need: "no server of your own has a model", reasons: toCures(missing) });
}

const notAvailable = "it is not among those that are available";

async function takeHosted(options: ChooseOptions, passed: Passed): Promise<ListedModel[]> {
  const { available, env = process.env } = options;
  const table = await loadModelTable(options.now ?? new Date());
  if (available === "all") return [...table];
  const missing = new Map<string, string | undefined>();
  for (const { provider } of table) {
    if (!missing.has(provider))
      missing.set(provider, available === undefined ? whyUnavailable(provider, env) : undefined);
  }
  const left = table.filter(({ name, provider }) => {
    const isListed = available === undefined || available.includes(provider) || available.includes(name);
    const reason = isListed ? missing.get(provider) : notAvailable;
    if (reason !== undefined) passed.push({ name, reason });
    return reason === undefined;
  });
  if (left.length > 0) return left;
  if (available === undefined)
    throw new KitbagError("model-unmatched", { need: "no provider can be used", reasons: toCures(missing) });
  const named = available.flatMap((name) => {
    const reason = whyNotOffered(name);
    return reason === undefined ? [] : [{ name, reason }];
  });
  throw unmatched(`none of the table is called ${available.join(" or ") || "nothing"}`, [...named, ...passed]);
}

function whyUnavailable(provider: string, env: Environment): string | undefined {
  const known = providers.get(provider);
  if (known === undefined) return "its provider is not known";
  if (!known.keys.some((key) => (env[key] ?? "").trim() !== "")) return `no key: set ${known.keys.join(" or ")}`;
  return known.isInstalled() ? undefined : `its package is not installed: npm install ${known.peer ?? ""}`;
}

function toCures(missing: ReadonlyMap<string, string | undefined>): string[] {
  return [...missing].map(([provider, reason]) => `${provider}: ${reason ?? "nothing is missing"}`);
}

function unmatched(need: string, passed: readonly { name: string; reason: string }[]): KitbagError {
  const reasons = passed.slice(0, 20).map(({ name, reason }) => `${name}: ${reason}`);
  return new KitbagError("model-unmatched", { need, reasons });
}

const needNames = "vision, tools, structuredOutput, local, context, maxCost, prefer";

function checkNeeds(needs: ModelNeeds): void {
  const check = (option: string, isRight: boolean, found: unknown, expected: string): void => {
    if (!isRight) throw new KitbagError("option-invalid", { option, found: describeCause(found), expected });
  };
  for (const [name, value] of Object.entries(needs) as [string, unknown][]) {
    if (value === undefined) continue;
    if (name === "vision" || name === "tools" || name === "structuredOutput" || name === "local")
      check(name, typeof value === "boolean", value, "true or false");
    else if (name === "prefer")
      check(name, typeof value === "string" && Object.hasOwn(orders, value), value, "quality, cost or speed");
    else if (name === "context" || name === "maxCost")
      check(name, typeof value === "number" && value > 0 && value < Infinity, value, "a number above 0");
    else check(name, false, value, `a need that there is: ${needNames}`);
  }
}
