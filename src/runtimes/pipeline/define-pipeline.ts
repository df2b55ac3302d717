import { createTool, type ToolParts } from "../../core/define-tool.ts";
import { isKitbagError, KitbagError, type Problem } from "../../core/errors.ts";
import { copyJson, type JsonObject, maxJsonDepth, showValue } from "../../core/json.ts";
import { parseAddress } from "../../core/names.ts";
import { nearestNames } from "../../core/nearest.ts";
import { checkPermissions, joinPermissions } from "../../core/permissions.ts";
import { isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";
import { toSchema } from "../../core/schema/to-schema.ts";
import { checkStrictly } from "../../core/schema/validator.ts";
import type { Tool, ToolAnnotations } from "../../core/tool.ts";
import { checkArgs } from "./check-args.ts";
import { checkUses, findRoot, usesOfStep, type Knowledge } from "./check-uses.ts";
import { checkClaims, deriveAnnotations, widenAnnotations } from "./compose-tool.ts";
import { deriveOutput, inferInput } from "./derive-schemas.ts";
import { isTool } from "./part.ts";
import type { PipelineCode } from "./pipeline-runtime.ts";
import { maxSteps, pipelineSchema, type PipelineSpec } from "./pipeline-spec.ts";
import { planPipeline, type Plan, type PlannedStep } from "./read-plan.ts";

/** What {@link definePipeline} may know about the tools that a pipeline names. */
export interface DefinePipelineOptions {
  /**
   * Finds a tool by its address. With it, names, arguments and fields are checked now, and annotations and permissions follow
   * from the tools; without it, the worst is assumed of every tool.
   */
  readonly resolve?: (address: string) => Tool | undefined;
  /** The addresses there are, for "did you mean". */
  readonly known?: Iterable<string>;
}

/**
 * Makes a tool out of a pipeline that is data. It is run by {@link pipelineRuntime}; each step is a call of its own.
 *
 * Steps that do not refer to each other run at the same time. The output is data: the `output` template, or what the last step
 * answers. A step that fails ends the pipeline with `step-failed`, and what has not begun does not begin, unless it has
 * `continueOnError`.
 *
 * @throws {KitbagError} `pipeline-invalid` with everything that is wrong, each with its path.
 *
 * @example
 * ```ts
 * import { createWorkspace, definePipeline, defineTool } from "kitbag";
 *
 * const time = defineTool({
 *   name: "time",
 *   description: "Tells the time of a city",
 *   input: { properties: { city: { type: "string" } }, required: ["city"] },
 *   run: ({ city }) => ({ now: city === "Rome" ? "12:00" : "06:00" }),
 * });
 * const report = definePipeline({
 *   name: "report",
 *   description: "Tells the time of two cities",
 *   steps: [
 *     { id: "here", tool: "time", args: { city: "$input.city" } },
 *     { id: "there", tool: "time", args: { city: "Rome" } },
 *   ],
 *   output: { text: "Here $here.now, in Rome ${there.now}" },
 * });
 * const workspace = createWorkspace({ tools: [time, report] });
 * const outcome = await workspace.call("report", { city: "New York" });
 * console.assert(outcome.status === "ok" && JSON.stringify(outcome.output).includes("Here 06:00, in Rome 12:00"));
 * ```
 */
export function definePipeline(spec: PipelineSpec, options: DefinePipelineOptions = {}): Tool {
  const { name, spec: read, problems: wrongShape } = readSpec(spec);
  const problems = [...wrongShape];
  if (read === undefined) throw new KitbagError("pipeline-invalid", { pipeline: name, problems });
  const plan = planPipeline(read, problems);
  const tools = plan.steps.map((step) => findTool(step, options, problems));
  const declared = readInput(read);
  const knowledge: Knowledge = { plan, tools, ...(declared !== undefined && { input: declared }) };
  problems.push(...checkUses(knowledge), ...checkCycles(plan.steps, toGraph(plan)), ...checkAllArgs(knowledge));
  const tool = createPipelineTool(read, knowledge, problems);
  if (tool === undefined || problems.length > 0) {
    throw new KitbagError("pipeline-invalid", { pipeline: name, problems });
  }
  return tool;
}

function findTool(
  { tool: address, index }: PlannedStep,
  options: DefinePipelineOptions,
  problems: Problem[],
): Tool | undefined {
  const { resolve, known = [] } = options;
  const path = `steps[${index}].tool`;
  try {
    parseAddress(address);
    const tool = resolve?.(address);
    if (isTool(tool)) return tool;
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    problems.push({ path, expected: "the address of a tool", found: cause.message });
    return undefined;
  }
  if (resolve === undefined) return undefined;
  const [nearest] = nearestNames(address, known, 1);
  const didYouMean = nearest === undefined ? {} : { didYouMean: nearest };
  problems.push({ path, expected: "the address of a tool", found: JSON.stringify(address), ...didYouMean });
  return undefined;
}

/** The declared input, converted as the tool will have it. What is wrong with it is reported when the tool is made. */
function readInput(spec: JsonObject): JsonSchema | undefined {
  if (!isSchemaObject(spec["input"])) return undefined;
  const converted = toSchema(spec["input"], "input");
  return converted.ok ? converted.json : undefined;
}

function checkAllArgs({ plan, tools }: Knowledge): Problem[] {
  return plan.steps.flatMap(({ index, args }) => {
    const schema = tools[index]?.inputSchema;
    return schema === undefined ? [] : checkArgs(schema, args, ["steps", index, "args"]);
  });
}

/** Makes the tool, or adds what is wrong with its name, schemas or claims to `problems`. */
function createPipelineTool(spec: JsonObject, knowledge: Knowledge, problems: Problem[]): Tool | undefined {
  const { plan, tools } = knowledge;
  const header = readHeader(spec, problems);
  const parts = plan.steps.map((step, index) => ({ name: step.tool, ...annotationsOf(tools[index]) }));
  const code: PipelineCode = {
    kind: "pipeline",
    spec: spec as unknown as PipelineSpec,
    plan,
    dependsOn: toGraph(plan),
  };
  const output = deriveOutput(knowledge);
  problems.push(...checkClaims(header.annotations ?? {}, parts), ...checkPermissions(header.permissions ?? {}));
  try {
    return createTool({
      ...header,
      input: header.input ?? inferInput(knowledge),
      ...(output !== undefined && { output }),
      annotations: widenAnnotations(deriveAnnotations(parts), header.annotations),
      permissions: joinPermissions([...tools.map((tool) => tool?.permissions ?? {}), header.permissions ?? {}]),
      uses: plan.steps.map((step) => step.tool),
      code,
    });
  } catch (cause) {
    if (!isKitbagError(cause, "tool-invalid")) throw cause;
    // What is wrong with a whole often follows from what is wrong inside it.
    const isReported = (path: string): boolean =>
      problems.some((one) => one.path === path || one.path.startsWith(`${path}.`));
    problems.push(...cause.details.problems.filter(({ path }) => !isReported(path)));
    return undefined;
  }
}

/** Everything but the steps and the output, without what has the wrong type, which is already reported. */
function readHeader(spec: JsonObject, problems: readonly Problem[]): Omit<ToolParts, "code"> {
  const wrong = new Set(["steps", "output", ...problems.map(({ path }) => path)]);
  const entries = Object.entries(spec).filter(([key]) => !wrong.has(key));
  return Object.fromEntries(entries) as unknown as Omit<ToolParts, "code">;
}

function annotationsOf(tool: Tool | undefined): { annotations?: ToolAnnotations } {
  return tool === undefined ? {} : { annotations: tool.annotations };
}

/** The largest pipeline there is, in bytes. */
const maxSpecBytes = 1024 * 1024;

/** A copy of the given pipeline, and what is wrong with its shape. */
interface ReadSpec {
  readonly name: string;
  /** Missing if it is so wrong that no step can be read. */
  readonly spec?: JsonObject;
  readonly problems: readonly Problem[];
}

/** Copies a pipeline that may be anything, and checks its shape. */
function readSpec(given: unknown): ReadSpec {
  const copy = copyJson(given, { maxBytes: maxSpecBytes, maxDepth: maxJsonDepth });
  if (!copy.ok) {
    const tooLarge = { path: "", expected: `at most ${maxSpecBytes} bytes`, found: "more" };
    return { name: "unnamed", problems: [copy.reason === "not-json" ? copy.problem : tooLarge] };
  }
  const spec = copy.value;
  if (!isSchemaObject(spec)) {
    return { name: "unnamed", problems: [{ path: "", expected: "a pipeline", found: showValue(spec) }] };
  }
  const name = typeof spec["name"] === "string" ? spec["name"] : "unnamed";
  const problems = checkStrictly(pipelineSchema, spec).map(addWord);
  const { steps } = spec;
  const isReadable = Array.isArray(steps) && steps.length <= maxSteps;
  return { name, problems, ...(isReadable && { spec }) };
}

/** What other systems call the parts of a step. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ["condition", "if"],
  ["when", "if"],
  ["name", "id"],
  ["input", "args"],
  ["arguments", "args"],
  ["params", "args"],
  ["with", "args"],
  ["depends_on", "after"],
  ["dependsOn", "after"],
  ["needs", "after"],
  ["concurrency", "maxConcurrent"],
]);

function addWord(problem: Problem): Problem {
  const [, key = ""] = /^steps\[\d+\]\.(\w+)$/u.exec(problem.path) ?? [];
  const word = otherWords.get(key);
  return word === undefined ? problem : { ...problem, didYouMean: word };
}

/** For each step of a plan, the steps that must have run before it: those it refers to, and those it names under `after`. */
function toGraph(plan: Plan): number[][] {
  return plan.steps.map((step) => {
    const before = new Set<number>();
    for (const use of usesOfStep(step)) {
      const root = findRoot(plan, use);
      if (root?.kind === "step" || root?.kind === "errors") before.add(root.step.index);
    }
    for (const index of step.after.map((id) => plan.indexes.get(id))) if (index !== undefined) before.add(index);
    return [...before];
  });
}

/** The circles in which steps wait for each other. */
export function checkCycles(steps: readonly PlannedStep[], graph: readonly (readonly number[])[]): Problem[] {
  const problems: Problem[] = [];
  const left = new Set(graph.keys());
  for (;;) {
    removeRunnable(graph, left);
    const [start] = left;
    if (start === undefined) return problems;
    const cycle = findCycle(graph, left, start);
    const labels = [...cycle, cycle[0] ?? start].map((index) => steps[index]?.label ?? String(index));
    problems.push({
      path: `steps[${cycle[0] ?? start}]`,
      expected: "steps that do not wait for each other",
      found: labels.join(" waits for "),
    });
    for (const index of cycle) left.delete(index);
  }
}

/** Takes out of `left` what can run, again and again, until only circles and what waits for them are left. */
function removeRunnable(graph: readonly (readonly number[])[], left: Set<number>): void {
  let before: number;
  do {
    before = left.size;
    for (const index of left) if (!graph[index]?.some((other) => left.has(other))) left.delete(index);
  } while (left.size < before);
}

/** Follows what each step waits for until one comes again. Everything that is left waits for something that is left. */
function findCycle(graph: readonly (readonly number[])[], left: ReadonlySet<number>, start: number): number[] {
  const walked: number[] = [];
  let index: number | undefined = start;
  while (index !== undefined && !walked.includes(index)) {
    walked.push(index);
    index = graph[index]?.find((other) => left.has(other));
  }
  return index === undefined ? walked : walked.slice(walked.indexOf(index));
}
