import { quote, type Problem } from "../../core/errors.ts";
import { toPath } from "../../core/json.ts";
import { nearestNames } from "../../core/nearest.ts";
import { describeNames } from "../../core/schema/describe-schema.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { Tool } from "../../core/tool.ts";
import { conditionReferences } from "./condition.ts";
import { findField, type FieldSearch, type SchemaPlace } from "./find-field.ts";
import type { Plan, PlannedStep } from "./read-plan.ts";
import { referencesIn, type Reference, type Template } from "./template.ts";

/** What is known about the values in a pipeline before it runs. */
export interface Knowledge {
  readonly plan: Plan;
  /** Of the pipeline's input, if it was declared. */
  readonly input?: JsonSchema;
  /** The tool of each step, if it was found. */
  readonly tools: readonly (Tool | undefined)[];
}

/** A text can hold as many wrong references as it has characters. */
const mostProblems = 50;

/** What is wrong with the references of a pipeline: to nothing, or to a field that its value cannot have. */
export function checkUses(knowledge: Knowledge): Problem[] {
  const problems: Problem[] = [];
  for (const use of findUses(knowledge.plan)) {
    const root = findRoot(knowledge.plan, use);
    const problem = root === undefined ? unknownRoot(knowledge.plan, use) : checkField(knowledge, root, use);
    if (problem !== undefined) problems.push(problem);
    if (problems.length >= mostProblems) return problems;
  }
  return problems;
}

function unknownRoot(plan: Plan, { reference, path, step, hasItem }: Use): Problem {
  const ids = plan.steps.flatMap(({ id }) => id ?? []);
  if (reference.root === "errors") {
    const [nearest] = nearestNames(String(reference.path[0] ?? ""), ids, 1);
    return problemAt(path, `$errors and the id of a step: ${describeNames(ids) || "no step has one"}`, reference.text, {
      nearest: nearest === undefined ? undefined : `$errors.${nearest}`,
    });
  }
  const isFirst = step?.index === 0;
  const roots = ["input", ...(isFirst ? [] : ["prev"]), ...(hasItem ? ["item", "index"] : []), ...ids];
  const [nearest] = isFirst && reference.root === "prev" ? ["input"] : nearestNames(reference.root, roots, 1);
  const expected = `one of ${describeNames(roots.map((root) => `$${root}`))} (or $$ for a dollar sign)`;
  return problemAt(path, expected, reference.text, { nearest: nearest === undefined ? undefined : `$${nearest}` });
}

function checkField(knowledge: Knowledge, root: Root, use: Use): Problem | undefined {
  const { reference, path } = use;
  if (root.kind === "errors" && !root.step.continueOnError) {
    const expected = "a step with continueOnError, because any other failure ends the pipeline";
    return problemAt(path, expected, reference.text, {});
  }
  const search = searchReference(knowledge, use);
  if (search.found !== "nothing") return undefined;
  const [nearest] = nearestNames(String(reference.path[search.depth]), search.known, 1);
  const corrected = [
    ...reference.path.slice(0, search.depth),
    nearest ?? "",
    ...reference.path.slice(search.depth + 1),
  ];
  return problemAt(path, `${search.expected} in ${describeRoot(root)}`, reference.text, {
    nearest: nearest === undefined ? undefined : `$${toPath([reference.root, ...corrected])}`,
  });
}

/** What is known about the value that a reference leads to. */
export function searchReference(knowledge: Knowledge, use: Use): FieldSearch {
  const root = findRoot(knowledge.plan, use);
  const place = root === undefined ? undefined : placeOf(knowledge, root, use);
  return place === undefined ? { found: "anything" } : findField(place, use.reference.path);
}

function placeOf(knowledge: Knowledge, root: Root, use: Use): SchemaPlace | undefined {
  switch (root.kind) {
    case "input":
      return knowledge.input === undefined ? undefined : { root: knowledge.input, schema: knowledge.input };
    case "index":
      return { root: {}, schema: { type: "integer" } };
    case "item":
      return placeOfItem(knowledge, use.step);
    case "errors":
      return placeOfError(root.step);
    case "step":
      return placeOfValue(knowledge, root.step);
  }
}

function placeOfItem(knowledge: Knowledge, step: PlannedStep | undefined): SchemaPlace | undefined {
  if (step?.forEach?.kind !== "reference") return undefined;
  const list = searchReference(knowledge, { reference: step.forEach.reference, path: "", step, hasItem: false });
  const item = list.found === "place" ? findField(list.place, [0]) : list;
  return item.found === "place" ? item.place : undefined;
}

function placeOfError({ id = "", forEach }: PlannedStep): SchemaPlace {
  const properties = { code: { type: "string" }, message: { type: "string" } };
  const error = { type: "object", properties };
  const items = { type: "object", properties: { index: { type: "integer" }, ...properties } };
  // One that fails as a whole has an error of its own.
  const schema = forEach === undefined ? error : { anyOf: [error, { type: "array", items }] };
  return { root: {}, schema: { type: "object", properties: { [id]: schema } } };
}

function placeOfValue({ tools }: Knowledge, { index, forEach }: PlannedStep): SchemaPlace | undefined {
  const output = tools[index]?.outputSchema;
  // References in it still start at the output's own root.
  if (forEach !== undefined) return { root: output ?? {}, schema: { type: "array", ...(output && { items: output }) } };
  return output === undefined ? undefined : { root: output, schema: output };
}

function describeRoot(root: Root): string {
  switch (root.kind) {
    case "input":
      return "the input";
    case "item":
    case "index":
      return `$${root.kind}`;
    case "errors":
      return `the failure of ${quote(root.step.label)}`;
    case "step":
      return `the ${root.step.forEach === undefined ? "output" : "outputs"} of ${quote(root.step.tool)}`;
  }
}

function problemAt(
  path: string,
  expected: string,
  found: string,
  { nearest }: { nearest?: string | undefined },
): Problem {
  return { path, expected, found, ...(nearest !== undefined && { didYouMean: nearest }) };
}

/** One place in a pipeline where something is referred to. */
export interface Use {
  readonly reference: Reference;
  /** Where, as a path from the pipeline's root. */
  readonly path: string;
  /** The step that refers; none for the pipeline's output. */
  readonly step?: PlannedStep;
  /** `$item` and `$index` mean something here. */
  readonly hasItem: boolean;
}

/** Everything that a pipeline refers to, in order. */
export function* findUses(plan: Plan): Generator<Use> {
  for (const step of plan.steps) yield* usesOfStep(step);
  if (plan.output !== undefined) yield* usesIn(plan.output, ["output"], { hasItem: false });
}

/** Everything that a step refers to. */
export function* usesOfStep(step: PlannedStep): Generator<Use> {
  const at = ["steps", step.index] as const;
  const hasItem = step.forEach !== undefined;
  if (step.forEach !== undefined) yield* usesIn(step.forEach, [...at, "forEach"], { step, hasItem: false });
  if (step.condition !== undefined) {
    for (const reference of conditionReferences(step.condition)) {
      yield { reference, path: toPath([...at, "if"]), step, hasItem };
    }
  }
  yield* usesIn(step.args, [...at, "args"], { step, hasItem });
}

function* usesIn(
  template: Template,
  at: readonly (string | number)[],
  where: Pick<Use, "step" | "hasItem">,
): Generator<Use> {
  for (const [reference, path] of referencesIn(template)) yield { reference, path: toPath([...at, ...path]), ...where };
}

/** What a reference begins at. */
export type Root =
  | { readonly kind: "input" | "item" | "index" }
  | { readonly kind: "step" | "errors"; readonly step: PlannedStep };

/** What a reference begins at; `undefined` if there is no such thing where it stands. */
export function findRoot(plan: Plan, { reference, step, hasItem }: Use): Root | undefined {
  const { root, path } = reference;
  switch (root) {
    case "input":
      return { kind: "input" };
    case "item":
    case "index":
      return hasItem ? { kind: root } : undefined;
    case "prev":
      return toRoot("step", plan.steps[(step?.index ?? plan.steps.length) - 1]);
    case "errors":
      return toRoot("errors", findStep(plan, path[0]));
    default:
      return toRoot("step", findStep(plan, root));
  }
}

function toRoot(kind: "step" | "errors", step: PlannedStep | undefined): Root | undefined {
  return step === undefined ? undefined : { kind, step };
}

function findStep({ steps, indexes }: Plan, id: string | number | undefined): PlannedStep | undefined {
  return typeof id === "string" ? steps[indexes.get(id) ?? -1] : undefined;
}
