import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { showValue, type JsonValue } from "../../core/json.ts";
import type { RuntimeContext } from "../../core/runtime.ts";
import { mapBounded } from "../compose/map-bounded.ts";
import { takeOutput } from "../compose/part.ts";
import { isTrue } from "./is-true.ts";
import type { Template } from "./parse-template.ts";
import type { PlannedStep } from "./plan.ts";
import { renderTemplate, type Scope } from "./render-template.ts";

/** One run of a pipeline: what came in, and what its steps have answered so far. */
export interface PipelineRun {
  readonly name: string;
  readonly context: RuntimeContext;
  readonly input: JsonValue;
  /** By the index of the step. */
  readonly values: (JsonValue | undefined)[];
  readonly indexes: ReadonlyMap<string, number>;
  /** Why steps with `continueOnError` failed, by id; `null` if they did not. */
  readonly errors: Record<string, JsonValue>;
}

/** How many items one step may have. */
const maxItems = 10_000;

/**
 * Runs one step and answers with its value.
 *
 * @throws {KitbagError} `step-failed`, unless the step has `continueOnError`.
 */
export function runStep(run: PipelineRun, step: PlannedStep): Promise<JsonValue> {
  const scope = createScope(run, step.index);
  const report = (error: StepError): void => setError(run, step, { ...error });
  return tolerate(run, step, report, async () => {
    if (!step.isFilter && !isWanted(run, step, scope)) return null;
    return step.forEach === undefined ? callTool(run, step, scope, step.label) : runForEach(run, step, step.forEach);
  });
}

async function runForEach(run: PipelineRun, step: PlannedStep, forEach: Template): Promise<JsonValue> {
  const list = render(run, forEach, createScope(run, step.index), step.label);
  if (!Array.isArray(list) || list.length > maxItems) {
    throw failed(run, step.label, `forEach: expected a list of at most ${maxItems} items, found ${showValue(list)}`);
  }
  const errors = new Map<number, StepError>();
  const options = { maxConcurrent: step.maxConcurrent, signal: run.context.signal };
  const values = await mapBounded(list as readonly JsonValue[], options, (item, index) => {
    const scope = createScope(run, step.index, { item, index });
    const report = (error: StepError): void => void errors.set(index, error);
    return tolerate(run, step, report, async () => {
      return isWanted(run, step, scope) ? callTool(run, step, scope, `${step.label}[${index}]`) : null;
    });
  });
  const inOrder = [...errors].toSorted(([left], [right]) => left - right);
  if (errors.size > 0)
    setError(
      run,
      step,
      inOrder.map(([index, error]) => ({ index, ...error })),
    );
  return values;
}

/** What is known of a failure that did not end the pipeline. */
interface StepError {
  readonly code: string;
  readonly message: string;
}

function setError(run: PipelineRun, { id }: PlannedStep, error: JsonValue): void {
  if (id !== undefined) run.errors[id] = error;
}

async function tolerate(
  run: PipelineRun,
  step: PlannedStep,
  report: (error: StepError) => void,
  work: () => Promise<JsonValue>,
): Promise<JsonValue> {
  try {
    return await work();
  } catch (cause) {
    const isStepFailure = isKitbagError(cause, "step-failed");
    // Whoever cancels the pipeline does not want the next step either.
    if (!step.continueOnError || !isStepFailure || run.context.signal.aborted) throw cause;
    report({ code: cause.details.code, message: cause.details.reason });
    return null;
  }
}

function isWanted(run: PipelineRun, { condition, label }: PlannedStep, scope: Scope): boolean {
  return condition === undefined || attempt(run, label, () => isTrue(condition, scope));
}

async function callTool(run: PipelineRun, step: PlannedStep, scope: Scope, label: string): Promise<JsonValue> {
  const args = render(run, step.args, scope, label);
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    throw failed(run, label, `args: expected an object, found ${showValue(args)}`);
  }
  const outcome = await run.context.call(step.tool, args);
  return takeOutput(outcome, { tool: run.name, step: label }) ?? null;
}

/**
 * Makes a value out of a template.
 *
 * @throws {KitbagError} `step-failed` if it cannot be made.
 */
export function render(run: PipelineRun, template: Template, scope: Scope, label: string): JsonValue | undefined {
  return attempt(run, label, () => renderTemplate(template, scope));
}

function attempt<Value>(run: PipelineRun, label: string, work: () => Value): Value {
  try {
    return work();
  } catch (cause) {
    throw failed(run, label, cause instanceof Error ? cause.message : String(cause));
  }
}

function failed(run: PipelineRun, step: string, reason: string): KitbagError {
  return new KitbagError("step-failed", { tool: run.name, step, code: "input-invalid", reason });
}

/** What the references of the step at `position` lead to. */
export function createScope(
  run: PipelineRun,
  position: number,
  each?: { readonly item: JsonValue; readonly index: number },
): Scope {
  return (root) => {
    switch (root) {
      case "input":
        return run.input;
      case "prev":
        return run.values[position - 1];
      case "item":
        return each?.item;
      case "index":
        return each?.index;
      case "errors":
        return run.errors;
      default:
        return run.values[run.indexes.get(root) ?? -1];
    }
  };
}
