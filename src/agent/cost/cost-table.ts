import type { ModelContent } from "../../models/model.ts";
import { countPart, countTool } from "../../models/tokens/count-content.ts";
import { type CountingModel, estimatePromptTokens, toTokens } from "../../models/tokens/estimate-tokens.ts";
import { familyOf, type TokenFamily } from "../../models/providers.ts";
import type { RunEntry } from "../../records/runs/run-records.ts";
import type { CallSpent } from "../events.ts";
import type { ModelView } from "../exposure/exposure.ts";
import { foldJournal } from "../log/fold-journal.ts";
import {
  conversation,
  type CostTarget,
  targetOfCall,
  targetOfTool,
  instructions,
  keyOf,
  ShownCounter,
  type ShownTokens,
  skillTextsIn,
} from "./shown-tokens.ts";
import { type CostRow, isPaid, type Question, toTokenCount } from "./usage-counter.ts";

/** A token that is written costs as much as this many that are read: the median of the models of OpenAI, Anthropic and Google. */
const writtenWeight = 5;

/** Divides what questions used by what it was spent on; `spent` is what calls cost besides. */
export function toCostRows(questions: readonly Question[], spent: readonly CallSpent[] = []): readonly CostRow[] {
  const table = new CostTable();
  for (const question of questions) table.add(question);
  for (const one of spent) table.addSpent(one);
  return table.rows();
}

interface Draft {
  readonly target: CostTarget;
  calls: number;
  input: number;
  schemas: number;
  results: number;
  output: number;
  cost: number;
  isPriced: boolean;
}

/** The tokens that the provider counted for one question, and the price of an input token. */
interface Scale {
  readonly input: number;
  readonly output: number;
  /** In US dollars for an input token. */
  readonly rate: number;
}

/** A system text and tools that were shown with one or more questions in a row. */
interface ShownView {
  readonly view: ModelView;
  readonly model: CountingModel;
  /** Of all these questions together. */
  scale: number;
  /** In US dollars for an estimated token. */
  paid: number;
}

class CostTable {
  readonly #models = new Map<string, Draft>();
  readonly #parts = new Map<string, Draft>();
  readonly #shown = new ShownCounter();
  readonly #views: ShownView[] = [];
  #isPriced = true;

  add({ answer, messages, count, view }: Question): void {
    const { usage, cost } = answer;
    const model = toModel(answer.model);
    const input = toTokenCount(usage.inputTokens?.total);
    const output = toTokenCount(usage.outputTokens?.total);
    this.#addModel(answer.model, { input, output, cost });
    if (cost === undefined) this.#isPriced = false;
    const weight = input + output * writtenWeight;
    const rate = weight === 0 ? 0 : (cost ?? 0) / weight;
    this.#addInput([...this.#shown.of(messages, count, model)], { input, output, rate }, { model, view });
    this.#addOutput(answer.content, { input, output, rate }, familyOf(model));
  }

  addSpent({ tool: name, cost, usage }: CallSpent): void {
    const draft = find(this.#models, { kind: usage === undefined ? "service" : "agent", name });
    draft.calls += 1;
    draft.input += usage?.inputTokens ?? 0;
    draft.output += usage?.outputTokens ?? 0;
    if (cost === undefined) draft.isPriced = false;
    else draft.cost += cost;
  }

  /** Only once. */
  rows(): readonly CostRow[] {
    for (const shown of this.#views) this.#chargeView(shown);
    const parts = [...this.#parts.values()];
    for (const part of parts) part.isPriced = this.#isPriced;
    return [...toRows([...this.#models.values()]), ...toRows(parts)];
  }

  #addModel(
    name: string,
    used: { readonly input: number; readonly output: number; readonly cost: number | undefined },
  ): void {
    const draft = find(this.#models, { kind: "model", name });
    draft.calls += 1;
    draft.input += used.input;
    draft.output += used.output;
    if (used.cost === undefined) draft.isPriced = false;
    else draft.cost += used.cost;
  }

  #addInput(
    shown: readonly ShownTokens[],
    { input, rate }: Scale,
    { model, view }: { readonly model: CountingModel; readonly view: ModelView | undefined },
  ): void {
    const said = shown.reduce((sum, part) => sum + part.input, 0);
    const around = view && estimatePromptTokens({ system: view.system, messages: [], tools: view.tools }, model);
    // Without the view, what the messages do not explain is the view.
    const scale = around === undefined ? Math.min(1, divide(input, said)) : divide(input, said + around);
    for (const part of shown) {
      const draft = find(this.#parts, part.target);
      draft.schemas += part.schemas * scale;
      draft.results += part.results * scale;
      this.#charge(draft, part.input * scale, rate);
    }
    if (view !== undefined) this.#addView(view, model, scale, rate);
    const rest = around === undefined ? input - said * scale : said + around === 0 ? input : 0;
    // Without messages it was a question about the conversation: for a summary.
    if (rest > 0) this.#charge(find(this.#parts, shown.length === 0 ? conversation : instructions), rest, rate);
  }

  /** Remembers that a view was shown; a thousand tools are counted once, and not with every model request. */
  #addView(view: ModelView, model: CountingModel, scale: number, rate: number): void {
    let shown = this.#views.at(-1);
    if (shown?.view !== view || familyOf(shown.model) !== familyOf(model)) {
      this.#views.push((shown = { view, model, scale: 0, paid: 0 }));
    }
    shown.scale += scale;
    shown.paid += scale * rate;
  }

  #chargeView({ view: { system, tools }, model, scale, paid }: ShownView): void {
    const family = familyOf(model);
    const charge = (target: CostTarget, tokens: number): Draft => {
      const draft = find(this.#parts, target);
      draft.input += tokens * scale;
      draft.cost += tokens * paid;
      return draft;
    };
    let own = estimatePromptTokens({ system, messages: [] }, model);
    for (const { target, count } of skillTextsIn(system)) {
      const tokens = toTokens(count, family);
      charge(target, tokens).results += tokens * scale;
      own -= tokens;
    }
    charge(instructions, Math.max(0, own));
    for (const tool of tools) {
      const tokens = toTokens(countTool(tool), family);
      charge(targetOfTool(tool.name), tokens).schemas += tokens * scale;
    }
  }

  #charge(draft: Draft, tokens: number, rate: number): void {
    draft.input += tokens;
    draft.cost += tokens * rate;
  }

  #addOutput(content: readonly ModelContent[], { output, rate }: Scale, family: TokenFamily): void {
    const written = content.map((part) => {
      const isCall = part.type === "tool-call";
      const draft = find(this.#parts, isCall ? targetOfCall(part.toolName, part.input) : conversation);
      if (isCall && part.providerExecuted !== true) draft.calls += 1;
      return { draft, tokens: toTokens(countPart(part), family) };
    });
    const estimate = written.reduce((sum, { tokens }) => sum + tokens, 0);
    if (estimate === 0) written.push({ draft: find(this.#parts, conversation), tokens: 1 });
    const scale = output / (estimate === 0 ? 1 : estimate);
    for (const { draft, tokens } of written) {
      draft.output += tokens * scale;
      draft.cost += tokens * scale * writtenWeight * rate;
    }
  }
}

function divide(whole: number, part: number): number {
  return part === 0 ? 0 : whole / part;
}

function find(drafts: Map<string, Draft>, target: CostTarget): Draft {
  const key = keyOf(target);
  let draft = drafts.get(key);
  if (draft === undefined) {
    draft = { target, calls: 0, input: 0, schemas: 0, results: 0, output: 0, cost: 0, isPriced: true };
    drafts.set(key, draft);
  }
  return draft;
}

function toModel(name: string): CountingModel {
  const end = name.indexOf("/");
  return { provider: name.slice(0, Math.max(0, end)), modelId: name.slice(end + 1) };
}

/** Rounds each row so that the sum is the sum that was rounded. */
function toRows(drafts: readonly Draft[]): readonly CostRow[] {
  const input = createRounding();
  const output = createRounding();
  return drafts.map((draft) => {
    const { target, calls, cost, isPriced } = draft;
    const inputTokens = input(draft.input);
    const schemaTokens = Math.min(inputTokens, Math.round(draft.schemas));
    return {
      ...target,
      calls,
      inputTokens,
      schemaTokens,
      resultTokens: Math.min(inputTokens - schemaTokens, Math.round(draft.results)),
      outputTokens: output(draft.output),
      ...(isPriced && { cost }),
      isEstimate: !isPaid(target),
    };
  });
}

function createRounding(): (value: number) => number {
  let sum = 0;
  let given = 0;
  return (value) => {
    sum += value;
    const rounded = Math.round(sum) - given;
    given += rounded;
    return rounded;
  };
}

/**
 * Reads from the journal of a run what its tokens were spent on, like `run.breakdown()`. A journal does not say which tools
 * were in a model's list: their definitions are in the row `instructions`.
 *
 * @throws {KitbagError} `run-not-found` if it is not the journal of an agent's run; `run-damaged` if a line is not what it should be.
 *
 * @example
 * ```ts
 * import { createWorkspace, memoryStore } from "kitbag";
 * import { createAgent, readRunCosts } from "kitbag/agent";
 * import { createRuns } from "kitbag/store";
 *
 * const store = memoryStore();
 * const agent = createAgent({ model: "local", workspace: createWorkspace(), store });
 * const { run, usage } = await agent.run("Hello");
 *
 * const rows = readRunCosts(await createRuns({ store }).read(run));
 * console.assert(rows[0]?.kind === "model" && rows[0].inputTokens === usage.inputTokens);
 * ```
 */
export function readRunCosts(entries: readonly RunEntry[]): readonly CostRow[] {
  const { questions, spent } = foldJournal(idOf(entries), entries);
  return toCostRows([...questions, ...entries.flatMap(toOther)], spent);
}

function idOf(entries: readonly RunEntry[]): string {
  const run = entries.find(({ value }) => value?.type === "task-start")?.value["run"];
  return typeof run === "string" ? run : "";
}

/** The question for an answer that is no part of the conversation: for a summary, or that a hook did not want. */
function toOther({ value }: RunEntry): readonly Question[] {
  const { type, answer } = value as { readonly type: string; readonly answer?: Omit<Question["answer"], "content"> };
  if ((type !== "memory-compacted" && type !== "answer-dropped") || answer === undefined) return [];
  return [{ answer: { ...answer, content: [] }, messages: [], count: 0 }];
}
