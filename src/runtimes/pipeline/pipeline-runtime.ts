import { showValue, type JsonValue } from "../../core/json.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { ToolCode } from "../../core/tool.ts";
import { isTrue } from "./condition.ts";
import type { PipelineSpec } from "./pipeline-spec.ts";
import type { Plan, PlannedStep } from "./read-plan.ts";
import { runPlan, type RunnablePlan, type RunnableStep, type StepScope } from "./run-plan.ts";
import { renderTemplate, type Scope } from "./template.ts";

/** The code of a tool that is a pipeline. */
export interface PipelineCode extends ToolCode {
  readonly kind: "pipeline";
  readonly spec: PipelineSpec;
  readonly plan: Plan;
  /** For each step, the steps that must have run before it. */
  readonly dependsOn: readonly (readonly number[])[];
}

/**
 * Runs tools that {@link definePipeline} made. Each step is a call through the context, so it is checked, approved, limited and
 * recorded like any other.
 *
 * @example
 * ```ts
 * import { createWorkspace, definePipeline, defineTool, pipelineRuntime } from "kitbag";
 *
 * const double = defineTool({
 *   name: "double",
 *   description: "Doubles a number",
 *   input: { properties: { number: { type: "number" } }, required: ["number"] },
 *   run: ({ number }) => Number(number) * 2,
 * });
 * const doubleAll = definePipeline({
 *   name: "double-all",
 *   description: "Doubles numbers",
 *   steps: [{ tool: "double", forEach: "$input.numbers", args: { number: "$item" } }],
 * });
 * const workspace = createWorkspace({ tools: [double, doubleAll], runtimes: [pipelineRuntime()] });
 * const outcome = await workspace.call("double-all", { numbers: [1, 2, 3] });
 * console.assert(outcome.status === "ok" && JSON.stringify(outcome.output) === "[2,4,6]");
 * ```
 */
export function pipelineRuntime(): Runtime {
  return {
    kind: "pipeline",
    run: (tool, input, context) => runPlan(toRunnable(tool.name, tool.code as PipelineCode), input, context),
  };
}

function toRunnable(name: string, { plan, dependsOn }: PipelineCode): RunnablePlan {
  const { steps, output } = plan;
  return {
    name,
    errorCode: "input-invalid",
    steps: steps.map((step, index) => toStep(plan, step, dependsOn[index] ?? [])),
    ...(output !== undefined && {
      toOutput: (scope) => renderTemplate(output, toLookup(plan, steps.length, scope)) ?? null,
    }),
  };
}

/** How many items one step may have. */
const maxItems = 10_000;

function toStep(plan: Plan, step: PlannedStep, after: readonly number[]): RunnableStep {
  const { id, label, tool, args, condition, forEach, maxConcurrent, isFilter, continueOnError } = step;
  const look = (scope: StepScope): Scope => toLookup(plan, step.index, scope);
  return {
    ...{ label, message: label, tool, after, continueOnError },
    ...(id !== undefined && { id }),
    toInput: (scope) => toArgs(renderTemplate(args, look(scope))),
    ...(condition !== undefined && { when: (scope) => isTrue(condition, look(scope)) }),
    ...(forEach !== undefined && {
      list: {
        ...{ label, prefix: "forEach: ", maxItems, maxConcurrent, isFiltered: isFilter, reportsItems: false },
        toItems: (scope) => renderTemplate(forEach, look(scope)),
      },
    }),
  };
}

function toArgs(args: JsonValue | undefined): JsonValue {
  if (typeof args === "object" && args !== null && !Array.isArray(args)) return args;
  throw new TypeError(`args: expected an object, found ${showValue(args)}`);
}

/** What the references of the step at `position` lead to. */
function toLookup({ indexes }: Plan, position: number, { input, values, errors, each }: StepScope): Scope {
  return (root) => {
    switch (root) {
      case "input":
        return input as JsonValue;
      case "prev":
        return values[position - 1] as JsonValue | undefined;
      case "item":
        return each?.item as JsonValue | undefined;
      case "index":
        return each?.index;
      case "errors":
        return errors;
      default:
        return values[indexes.get(root) ?? -1] as JsonValue | undefined;
    }
  };
}
