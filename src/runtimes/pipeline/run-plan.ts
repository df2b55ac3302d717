import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { showValue, type JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { ToolContext, Tool } from "../../core/tool.ts";

/** What the functions of a step see: the input of the pipeline, the values of the steps that have run, and the item of a list. */
export interface StepScope {
  readonly input: unknown;
  /** By the index of the step. */
  readonly values: readonly unknown[];
  /** Why steps with `continueOnError` failed, by id; `null` if they did not. */
  readonly errors: Readonly<Record<string, JsonValue>>;
  readonly each?: { readonly item: unknown; readonly index: number };
}

/** One step as it runs. Builders write its functions; for a pipeline that is data they evaluate its templates. */
export interface RunnableStep {
  /** Names it in failures. */
  readonly label: string;
  /** Reported as progress when the step begins. @default nothing is reported */
  readonly message?: string;
  /** The indexes of the steps that must have run before. */
  readonly after: readonly number[];
  /** @default none: the input is the value of the step */
  readonly tool?: Tool | string;
  readonly toInput: (scope: StepScope) => unknown;
  /** Unless it holds, the step does not run and its value is `null`. */
  readonly when?: (scope: StepScope) => boolean;
  /** Runs the step for each item; its value is the list of outputs. */
  readonly list?: StepList;
  /** A failure does not end the pipeline: the value (of the item) is `null`. */
  readonly continueOnError?: boolean;
  /** Under which its failure is kept. */
  readonly id?: string;
}

/** The items of a step. */
export interface StepList {
  readonly toItems: (scope: StepScope) => unknown;
  /** Names it in failures. */
  readonly label: string;
  /** What the message about a wrong list begins with. */
  readonly prefix: string;
  readonly maxItems: number;
  /** How many items are worked on at once. */
  readonly maxConcurrent: number;
  /** The condition of the step is checked for each item. */
  readonly isFiltered: boolean;
  /** Each item is reported as progress. */
  readonly reportsItems: boolean;
}

/** Steps, and what is made of their values. */
export interface RunnablePlan {
  /** The name of the tool. */
  readonly name: string;
  readonly steps: readonly RunnableStep[];
  /** How many steps run at once. @default 32 */
  readonly maxConcurrent?: number;
  /** The code of a failure of a step's own functions. */
  readonly errorCode: "tool-failed" | "input-invalid";
  /** @default the value of the last step */
  readonly toOutput?: (scope: StepScope) => unknown;
}

type PlanContext = Pick<ToolContext, "call" | "progress" | "signal">;

interface Run {
  readonly plan: RunnablePlan;
  readonly context: PlanContext;
  readonly scope: StepScope & { readonly values: unknown[]; readonly errors: Record<string, JsonValue> };
}

/**
 * Runs each step as soon as the steps before it have run. Each tool is called through the context, so the call is checked, approved,
 * limited and recorded like any other.
 *
 * @throws {KitbagError} `step-failed` if a step fails that has no `continueOnError`; nothing more is started then.
 */
export async function runPlan(plan: RunnablePlan, input: unknown, context: PlanContext): Promise<unknown> {
  const { steps, maxConcurrent = 32, toOutput } = plan;
  const tolerant = steps.flatMap(({ id, continueOnError }) => (continueOnError === true ? (id ?? []) : []));
  const errors = Object.fromEntries(tolerant.map((id) => [id, null]));
  const run: Run = { plan, context, scope: { input, values: [], errors } };
  const graph = steps.map(({ after }) => after);
  let done = 0;
  await runGraph(graph, { maxConcurrent, signal: context.signal }, async (index) => {
    const step = steps[index];
    if (step === undefined) return;
    if (step.message !== undefined) context.progress({ message: step.message, done, total: steps.length });
    run.scope.values[index] = await runStep(run, step);
    done += 1;
  });
  if (toOutput === undefined) return run.scope.values[steps.length - 1] ?? null;
  return attempt(run, "output", () => toOutput(run.scope));
}

function runStep(run: Run, step: RunnableStep): Promise<unknown> {
  const { scope } = run;
  return tolerate(run, step, keepError(run, step), async () => {
    const { when, list } = step;
    const isChecked = when !== undefined && list?.isFiltered !== true;
    if (isChecked && !(await attempt(run, step.label, () => when(scope)))) return null;
    return list === undefined ? callStep(run, step, scope) : runForEach(run, step, list);
  });
}

async function runForEach(run: Run, step: RunnableStep, list: StepList): Promise<unknown> {
  const { context, scope, plan } = run;
  const { label, prefix, maxItems, maxConcurrent } = list;
  const items: unknown = await attempt(run, label, () => list.toItems(scope));
  if (!Array.isArray(items) || items.length > maxItems) {
    const reason = `${prefix}expected a list of at most ${maxItems} items, found ${showValue(items)}`;
    throw new KitbagError("step-failed", { tool: plan.name, step: label, code: "input-invalid", reason });
  }
  const errors = new Map<number, StepError>();
  const options = { maxConcurrent, signal: context.signal };
  const values = await mapBounded(items as readonly unknown[], options, (item, index) => {
    if (list.reportsItems) context.progress({ message: `item ${index + 1}`, done: index, total: items.length });
    const itemScope = { ...scope, each: { item, index } };
    return tolerate(
      run,
      step,
      (error) => void errors.set(index, error),
      async () => {
        const isWanted = !list.isFiltered || (await attempt(run, step.label, () => step.when?.(itemScope) ?? true));
        return isWanted ? callStep(run, step, itemScope, `${step.label}[${index}]`) : null;
      },
    );
  });
  const inOrder = [...errors].toSorted(([left], [right]) => left - right);
  if (errors.size > 0) keepError(run, step)(inOrder.map(([index, error]) => ({ index, ...error })));
  return values;
}

async function callStep(run: Run, step: RunnableStep, scope: StepScope, label: string = step.label): Promise<unknown> {
  const input = await attempt(run, label, () => step.toInput(scope));
  if (step.tool === undefined) return input;
  const outcome = await run.context.call(step.tool as string, input);
  return takeOutput(outcome, { tool: run.plan.name, step: label }) ?? null;
}

/** What is known of a failure that did not end the pipeline. */
type StepError = Readonly<Record<"code" | "message", string>>;

function keepError({ scope }: Run, { id }: RunnableStep): (error: JsonValue) => void {
  return (error) => {
    if (id !== undefined) scope.errors[id] = error;
  };
}

async function tolerate(
  { context }: Run,
  { continueOnError }: RunnableStep,
  report: (error: StepError) => void,
  work: () => Promise<unknown>,
): Promise<unknown> {
  try {
    return await work();
  } catch (cause) {
    // A caller that cancels the pipeline does not want the next step either.
    if (continueOnError !== true || !isKitbagError(cause, "step-failed") || context.signal.aborted) throw cause;
    report({ code: cause.details.code, message: cause.details.reason });
    return null;
  }
}

/** Runs a function of a step. What it throws becomes `step-failed`. */
async function attempt<Result>({ plan }: Run, step: string, work: () => Result): Promise<Awaited<Result>> {
  try {
    return await work();
  } catch (cause) {
    const code = isKitbagError(cause) ? cause.code : plan.errorCode;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new KitbagError("step-failed", { tool: plan.name, step, code, reason }, { cause });
  }
}

/** Where in a composed tool a step is, for its failure. */
export interface StepPlace {
  /** The name of the composed tool. */
  readonly tool: string;
  readonly step: string;
}

/**
 * Takes the output of a step's call.
 *
 * @throws {KitbagError} `step-failed` if the call failed, or its output was cut: a cut output is not data for the next step.
 */
export function takeOutput<Output>(outcome: ToolOutcome<Output>, place: StepPlace): Output {
  if (outcome.status === "failed") {
    const { error } = outcome;
    // Steps inside steps: the code says what went wrong at the bottom, the message which steps led there.
    const code = error.code === "step-failed" ? error.details.code : error.code;
    throw new KitbagError("step-failed", { ...place, code, reason: error.message });
  }
  if (outcome.capped === undefined) return outcome.output;
  const reason = `its output of ${outcome.capped.bytes} bytes is too large to be handed on; ask the tool for less, or raise "maxOutputBytes"`;
  throw new KitbagError("step-failed", { ...place, code: "output-too-large", reason });
}

interface Bounds {
  /** How many may run at once. */
  readonly maxConcurrent: number;
  readonly signal: AbortSignal;
}

/**
 * Runs every node once, as soon as all that it depends on has run. `dependsOn` holds for each node the nodes before it, and must
 * have no cycle.
 *
 * **Contract**: the first failure rejects at once, and nothing more is started; neither is anything after an abort.
 */
export async function runGraph(
  dependsOn: readonly (readonly number[])[],
  { maxConcurrent, signal }: Bounds,
  run: (node: number) => Promise<void>,
): Promise<void> {
  const waitsFor = dependsOn.map((nodes) => new Set(nodes).size);
  const followers = dependsOn.map((): number[] => []);
  for (const [node, nodes] of dependsOn.entries()) for (const before of new Set(nodes)) followers[before]?.push(node);
  const ready = waitsFor.flatMap((count, node) => (count === 0 ? [node] : []));
  const running = new Map<number, Promise<number>>();
  for (let next = 0; ;) {
    for (; next < ready.length && running.size < maxConcurrent; next += 1) {
      signal.throwIfAborted();
      const node = ready[next] ?? 0;
      const result = run(node).then(() => node);
      // It is awaited below, but not if another one fails or an abort comes first.
      result.catch(() => {});
      running.set(node, result);
    }
    if (running.size === 0) return;
    const done = await Promise.race(running.values());
    running.delete(done);
    for (const node of followers[done] ?? []) {
      const left = (waitsFor[node] ?? 0) - 1;
      waitsFor[node] = left;
      if (left === 0) ready.push(node);
    }
  }
}

/**
 * Runs `run` on every item, at most `maxConcurrent` at once, and answers with the results in the order of the items.
 *
 * **Contract**: the first failure rejects at once, and nothing more is started; neither is anything after an abort.
 */
export async function mapBounded<Item, Result>(
  items: readonly Item[],
  bounds: Bounds,
  run: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const independent = items.map(() => []);
  await runGraph(independent, bounds, async (index) => {
    results[index] = await run(items[index] as Item, index);
  });
  return results;
}
