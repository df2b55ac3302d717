import type { JsonValue } from "../../core/json.ts";
import type { Runtime, RuntimeContext } from "../../core/runtime.ts";
import type { PipelineCode } from "./pipeline-code.ts";
import { createScope, type PipelineRun, render, runStep } from "./run-step.ts";

/** How many steps run at once. */
const maxConcurrent = 32;

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
    run(tool, input, context) {
      const code = tool.code as PipelineCode;
      return runPipeline(createRun(tool.name, code, input as JsonValue, context), code);
    },
  };
}

function createRun(name: string, { plan }: PipelineCode, input: JsonValue, context: RuntimeContext): PipelineRun {
  const tolerant = plan.steps.filter(({ id, continueOnError }) => id !== undefined && continueOnError);
  const errors = Object.fromEntries(tolerant.map(({ label }) => [label, null]));
  return { name, context, input, values: [], indexes: plan.indexes, errors };
}

async function runPipeline(run: PipelineRun, { plan, dependsOn }: PipelineCode): Promise<JsonValue> {
  const { steps, output } = plan;
  const { context, values } = run;
  let done = 0;
  await runGraph(dependsOn, { maxConcurrent, signal: context.signal }, async (index) => {
    const step = steps[index];
    if (step === undefined) return;
    context.progress({ message: step.label, done, total: steps.length });
    values[index] = await runStep(run, step);
    done += 1;
  });
  if (output === undefined) return values[steps.length - 1] ?? null;
  return render(run, output, createScope(run, steps.length), "output") ?? null;
}

/** How {@link runGraph} works through a graph. */
interface GraphOptions {
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
  { maxConcurrent, signal }: GraphOptions,
  run: (node: number) => Promise<void>,
): Promise<void> {
  const waitsFor = dependsOn.map((nodes) => new Set(nodes));
  const ready = waitsFor.flatMap((nodes, node) => (nodes.size === 0 ? [node] : []));
  const running = new Map<number, Promise<number>>();
  for (;;) {
    while (ready.length > 0 && running.size < maxConcurrent) {
      signal.throwIfAborted();
      const node = ready.shift() ?? 0;
      const result = run(node).then(() => node);
      // It is looked at below; if another one fails or an abort comes first, nobody does.
      result.catch(() => {});
      running.set(node, result);
    }
    if (running.size === 0) return;
    const done = await Promise.race(running.values());
    running.delete(done);
    for (const [node, nodes] of waitsFor.entries()) {
      if (nodes.delete(done) && nodes.size === 0) ready.push(node);
    }
  }
}
