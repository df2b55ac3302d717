import { isKitbagError, quote, type Problem } from "../../core/errors.ts";
import { showValue, toPath, type JsonObject, type JsonValue } from "../../core/json.ts";
import { nearestNames } from "../../core/nearest.ts";
import { describeNames } from "../../core/schema/describe-schema.ts";
import { isSchemaObject } from "../../core/schema/json-schema.ts";
import { conditionReferences, parseCondition, type Condition } from "./condition.ts";
import { parseTemplate, type Template } from "./template.ts";

/** A pipeline, taken apart and checked: what runs. */
export interface Plan {
  readonly steps: readonly PlannedStep[];
  /** Where each step is that has an id. */
  readonly indexes: ReadonlyMap<string, number>;
  readonly output?: Template;
}

/** One step of a {@link Plan}. */
export interface PlannedStep {
  readonly index: number;
  readonly id?: string;
  /** How messages name it. */
  readonly label: string;
  readonly tool: string;
  readonly args: Template;
  readonly condition?: Condition;
  /** The condition looks at the item, so it is asked for each. */
  readonly isFilter: boolean;
  readonly forEach?: Template;
  readonly maxConcurrent: number;
  readonly continueOnError: boolean;
  readonly after: readonly string[];
}

const defaultConcurrent = 8;

/**
 * Takes a pipeline apart. What cannot be read is added to `problems` and left out of the plan; the shape of the pipeline was
 * checked before, so what has the wrong type here is already reported.
 */
export function planPipeline(spec: JsonObject, problems: Problem[]): Plan {
  const given = Array.isArray(spec["steps"]) ? (spec["steps"] as readonly JsonValue[]) : [];
  const steps = given.map((step, index) => planStep(isSchemaObject(step) ? step : {}, index, problems));
  const indexes = checkIds(steps, problems);
  const output = spec["output"] === undefined ? undefined : readTemplate(spec["output"], "output", problems);
  return { steps, indexes, ...(output !== undefined && { output }) };
}

function planStep(step: JsonObject, index: number, problems: Problem[]): PlannedStep {
  const path = `steps[${index}]`;
  const { id, tool, after = [], maxConcurrent, continueOnError } = step;
  const forEach = readForEach(step["forEach"], `${path}.forEach`, problems);
  const condition = readCondition(step["if"], `${path}.if`, problems);
  return {
    index,
    ...(typeof id === "string" && { id }),
    label: typeof id === "string" ? id : path,
    tool: typeof tool === "string" ? tool : "",
    args: readArgs(step["args"] ?? {}, `${path}.args`, problems),
    ...(condition !== undefined && { condition }),
    isFilter: forEach !== undefined && condition !== undefined && looksAtItem(condition),
    ...(forEach !== undefined && { forEach }),
    maxConcurrent: typeof maxConcurrent === "number" ? maxConcurrent : defaultConcurrent,
    continueOnError: continueOnError === true,
    after: toNames(after),
  };
}

function looksAtItem(condition: Condition): boolean {
  return conditionReferences(condition).some(({ root }) => root === "item" || root === "index");
}

function readForEach(list: JsonValue | undefined, path: string, problems: Problem[]): Template | undefined {
  if (list === undefined) return undefined;
  const template = readTemplate(list, path, problems);
  if (template !== unreadable && !mayBeList(template)) {
    problems.push({ path, expected: "a list, or one reference to one", found: showValue(list) });
  }
  return template;
}

function mayBeList(template: Template): boolean {
  if (template.kind === "literal") return Array.isArray(template.value);
  return template.kind === "list" || template.kind === "reference";
}

function readArgs(args: JsonValue, path: string, problems: Problem[]): Template {
  const template = readTemplate(args, path, problems);
  const isText = template.kind === "text" || (template.kind === "literal" && typeof template.value === "string");
  if (isText && template !== unreadable) {
    problems.push({ path, expected: "an object, or one reference to one", found: showValue(args) });
  }
  return template;
}

/** Stands for what could not be read: nothing further is known about it. */
const unreadable: Template = { kind: "text", parts: [] };

function readTemplate(value: JsonValue, path: string, problems: Problem[]): Template {
  return collect(path, problems, () => parseTemplate(value)) ?? unreadable;
}

function readCondition(condition: JsonValue | undefined, path: string, problems: Problem[]): Condition | undefined {
  if (typeof condition === "boolean") return { kind: "literal", value: condition };
  return typeof condition === "string" ? collect(path, problems, () => parseCondition(condition)) : undefined;
}

/** Runs a parser; what it cannot read is added to `problems`, with paths that begin at the pipeline. */
function collect<Value>(path: string, problems: Problem[], parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch (cause) {
    if (!isKitbagError(cause, "pipeline-invalid")) throw cause;
    problems.push(...cause.details.problems.map((problem) => below(path, problem)));
    return undefined;
  }
}

/** A problem whose path begins at `path`. */
export function below(path: string, problem: Problem): Problem {
  if (problem.path === "") return { ...problem, path };
  return { ...problem, path: problem.path.startsWith("[") ? path + problem.path : `${path}.${problem.path}` };
}

function toNames(after: JsonValue): readonly string[] {
  const names: readonly JsonValue[] = Array.isArray(after) ? after : [after];
  return names.filter((name) => typeof name === "string");
}

/** Names that references have a meaning for. */
const reservedNames: readonly string[] = ["input", "prev", "item", "index", "errors"];

const idGrammar = /^[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*$/u;
const longestId = 64;

function checkIds(steps: readonly PlannedStep[], problems: Problem[]): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  for (const { id, index } of steps) {
    if (id === undefined) continue;
    const path = toPath(["steps", index, "id"]);
    if (!idGrammar.test(id) || id.length > longestId) {
      const expected = `letters, digits, "_" and single "-", starting with a letter, at most ${longestId}`;
      problems.push({ path, expected, found: quote(id) });
    } else if (reservedNames.includes(id)) {
      problems.push({ path, expected: `another name than ${reservedNames.join(", ")}`, found: quote(id) });
    } else if (first.has(id)) {
      problems.push({ path, expected: "an id of its own", found: `${quote(id)}, the id of steps[${first.get(id)}]` });
    } else first.set(id, index);
  }
  for (const { after, index } of steps) {
    for (const name of after.filter((one) => !first.has(one))) {
      const [nearest] = nearestNames(name, first.keys(), 1);
      const known =
        first.size === 0 ? "the id of a step, and no step has one" : `one of ${describeNames([...first.keys()])}`;
      const didYouMean = nearest === undefined ? {} : { didYouMean: nearest };
      problems.push({ path: toPath(["steps", index, "after"]), expected: known, found: quote(name), ...didYouMean });
    }
  }
  return first;
}
