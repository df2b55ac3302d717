import { isDeepStrictEqual } from "node:util";

import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { type JsonValue, showValue } from "../../core/json.ts";
import type { RuntimeContext } from "../../core/runtime.ts";
import { mapBounded } from "../compose/map-bounded.ts";
import { takeOutput } from "../compose/part.ts";
import type { Comparison, Condition, Operand } from "./parse-condition.ts";
import type { Template } from "./parse-template.ts";
import type { PlannedStep } from "./plan.ts";
import { followReference, renderTemplate, type Scope } from "./render-template.ts";

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

/**
 * Tells whether a condition holds. Nothing, `null`, `false`, `0`, the empty text, the empty list and the empty object count as
 * false; everything else as true. Equal are values that are the same JSON: `1` is not `"1"`.
 *
 * @throws {TypeError} if it is asked which is greater of anything but two numbers or two texts.
 */
export function isTrue(condition: Condition, scope: Scope): boolean {
  switch (condition.kind) {
    case "literal":
    case "reference":
      return isTruthy(getValue(condition, scope));
    case "not":
      return !isTrue(condition.condition, scope);
    case "and":
      return isTrue(condition.left, scope) && isTrue(condition.right, scope);
    case "or":
      return isTrue(condition.left, scope) || isTrue(condition.right, scope);
    case "compare":
      return compare(condition.comparison, getValue(condition.left, scope), getValue(condition.right, scope));
  }
}

function getValue(operand: Operand, scope: Scope): JsonValue {
  return (operand.kind === "literal" ? operand.value : followReference(operand.reference, scope)) ?? null;
}

function isTruthy(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return Boolean(value);
  return Object.keys(value).length > 0;
}

function compare(comparison: Comparison, left: JsonValue, right: JsonValue): boolean {
  switch (comparison) {
    case "==":
      return isEqual(left, right);
    case "!=":
      return !isEqual(left, right);
    case "<":
      return order(left, right) < 0;
    case ">":
      return order(left, right) > 0;
    case "<=":
      return order(left, right) <= 0;
    case ">=":
      return order(left, right) >= 0;
  }
}

function isEqual(left: JsonValue, right: JsonValue): boolean {
  // For JSON 0 and -0 are one number.
  return left === right || isDeepStrictEqual(left, right);
}

function order(left: JsonValue, right: JsonValue): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "string" && typeof right === "string") return left < right ? -1 : Number(left > right);
  throw new TypeError(`cannot tell which is greater, ${showValue(left)} or ${showValue(right)}`);
}
