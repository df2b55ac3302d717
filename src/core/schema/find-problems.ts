import type { Problem } from "../errors.ts";
import { showValue, toPath } from "../json.ts";
import { nearestNames } from "../nearest.ts";
import { describeChoices, describeNames, describeSchema } from "./describe-schema.ts";
import { createSlowEngine, type SchemaEngine } from "./engine.ts";
import {
  isOfType,
  wantedTypes,
  followReferences,
  innerSchemas,
  inPlaceKeywords,
  isSchemaObject,
  itemSchema,
  type JsonSchema,
  matchingPatterns,
  resolveReference,
} from "./json-schema.ts";
import { branchesOf, choicesOf, findBranches, rankBranches } from "./rank-branches.ts";

/** The maximum number of problems that are reported at once. */
const mostProblems = 50;

/**
 * Finds what is wrong with a value that does not fit its schema: one problem for each place, in words that a person or a model can act
 * on. At least one problem, at most 50.
 */
export function findProblems(schema: JsonSchema, value: unknown, engine: SchemaEngine): Problem[] {
  const search: Search = {
    root: schema,
    engine: createSlowEngine(schema),
    fastEngine: engine,
    problems: new Map(),
    path: [],
    seen: new Map(),
  };
  visit(search, schema, value);
  if (search.problems.size === 0) report(search, { expected: describeSchema(schema), found: showValue(value) });
  return [...search.problems.values()];
}

interface Search {
  readonly root: JsonSchema;
  /** Compiles nothing: for schemas that are asked about one value. */
  readonly engine: SchemaEngine;
  /** Compiles a schema at its first use: for schemas that are asked about each item of a list. */
  readonly fastEngine: SchemaEngine;
  readonly problems: Map<string, Problem>;
  readonly path: (string | number)[];
  readonly seen: Map<unknown, Set<unknown>>;
}

type Finding = Omit<Problem, "path">;

function report({ problems, path }: Search, finding: Finding): void {
  const where = toPath(path);
  if (problems.size < mostProblems && !problems.has(where)) problems.set(where, { path: where, ...finding });
}

function visit(search: Search, schema: unknown, value: unknown): void {
  if (!isSchemaObject(schema)) {
    if (schema === false) report(search, { expected: "nothing", found: showValue(value) });
    return;
  }
  visitTarget(search, schema, value);
  const types = wantedTypes(schema);
  if (types.length > 0 && !types.some((type) => isOfType(type, value))) {
    return report(search, { expected: describeSchema(schema), found: showValue(value) });
  }
  const choices = choicesOf(schema);
  if (choices !== undefined && !search.engine.fits({ enum: choices }, value)) {
    return report(search, wrongChoice(choices, value));
  }
  for (const finding of findLimitProblems(search.engine, schema, value)) report(search, finding);
  if (Array.isArray(value)) visitItems(search, schema, value);
  else if (isSchemaObject(value)) visitProperties(search, schema, value);
  visitCombinations(search, schema, value);
}

function visitTarget(search: Search, schema: JsonSchema, value: unknown): void {
  const reference = schema["$ref"];
  if (typeof reference !== "string") return;
  const target = resolveReference(search.root, reference);
  const seen = search.seen.get(target) ?? new Set();
  search.seen.set(target, seen);
  // A schema that refers to itself would report the same problems of an object again.
  if (isSchemaObject(value) || Array.isArray(value)) {
    if (seen.has(value)) return;
    seen.add(value);
  }
  visit(search, target, value);
}

function reportAt(search: Search, step: string, finding: Finding): void {
  search.path.push(step);
  report(search, finding);
  search.path.pop();
}

function visitAt(search: Search, step: string | number, schema: unknown, value: unknown): void {
  search.path.push(step);
  visit(search, schema, value);
  search.path.pop();
}

function visitItems(search: Search, schema: JsonSchema, items: readonly unknown[]): void {
  for (const [index, item] of items.entries()) {
    const inner = itemSchema(schema, index);
    if (!search.fastEngine.fits(inner, item)) visitAt(search, index, inner, item);
    if (search.problems.size >= mostProblems) return;
  }
}

function visitProperties(search: Search, schema: JsonSchema, value: JsonSchema): void {
  const properties = isSchemaObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
  for (const name of required) {
    if (!Object.hasOwn(value, name)) reportMissing(search, name, properties[name]);
  }
  for (const name of Object.keys(value)) {
    const matching = matchingPatterns(schema, name);
    if (Object.hasOwn(properties, name)) matching.push(properties[name]);
    if (matching.length > 0) for (const inner of matching) visitAt(search, name, inner, value[name]);
    else if (schema["additionalProperties"] === false) reportUnknown(search, name, Object.keys(properties));
    else if (!search.fastEngine.fits(schema["additionalProperties"], value[name])) {
      visitAt(search, name, schema["additionalProperties"], value[name]);
    }
    if ("propertyNames" in schema) visitName(search, schema["propertyNames"], name);
    if (search.problems.size >= mostProblems) return;
  }
}

function reportUnknown(search: Search, name: string, known: readonly string[]): void {
  const [nearest] = nearestNames(name, known, 1);
  reportAt(search, name, {
    expected: known.length === 0 ? "no parameters" : `only ${describeNames(known)}`,
    found: "an unknown parameter",
    ...(nearest !== undefined && { didYouMean: nearest }),
  });
}

function reportMissing(search: Search, name: string, schema: unknown): void {
  const wanted = describeSchema(followReferences(search.root, schema));
  reportAt(search, name, { expected: wanted === "anything" ? "a value" : wanted, found: "nothing" });
}

function wrongChoice(choices: readonly unknown[], found: unknown): Finding {
  const texts = choices.filter((choice) => typeof choice === "string");
  const [nearest] = typeof found === "string" ? nearestNames(found, texts, 1) : [];
  return {
    expected: describeChoices(choices),
    found: showValue(found),
    ...(nearest !== undefined && { didYouMean: nearest }),
  };
}

function visitCombinations(search: Search, schema: JsonSchema, value: unknown): void {
  const before = search.problems.size;
  if (Array.isArray(schema["allOf"])) for (const part of schema["allOf"]) visit(search, part, value);
  const branches = branchesOf(schema);
  if (branches !== undefined) visitBranches(search, schema, branches, value);
  if ("not" in schema && search.engine.fits(schema["not"], value)) {
    report(search, { expected: `anything but ${describeSchema(schema["not"])}`, found: showValue(value) });
  }
  if ("if" in schema) visit(search, schema[search.engine.fits(schema["if"], value) ? "then" : "else"], value);
  if (isSchemaObject(value)) visitDependents(search, schema, value);
  if (search.problems.size === before) visitUnevaluated(search, schema, value);
}

/** Reports the problems of the branch that the value most likely means. If no branch is more likely than the others, reports all of them. */
function visitBranches(search: Search, schema: JsonSchema, given: readonly unknown[], value: unknown): void {
  const fitting = given.filter((branch) => search.engine.fits(branch, value)).length;
  if (fitting > 1 && schema["anyOf"] === undefined) {
    const expected = `a value for only one of ${given.length} (${describeSchema(schema)})`;
    return report(search, { expected, found: `one that fits ${fitting} of them` });
  }
  if (fitting > 0) return;
  const branches = findBranches(search.root, given);
  const choices = branches.map(choicesOf);
  if (choices.every((list) => list !== undefined)) return report(search, wrongChoice(choices.flat(), value));
  if (isSchemaObject(value) && reportWrongKind(search, branches, value)) return;
  const [best, second] = rankBranches(search.root, given, value);
  if (best !== undefined && best.score !== second?.score) return visit(search, best.branch, value);
  const expected = branches.map((branch) => describeSchema(branch, 1));
  report(search, { expected: [...new Set(expected)].join(" or "), found: showKeys(value) });
}

/** Some branches differ in the choices of one property (`kind`, `type`). Reports that property if its value is in no branch. */
function reportWrongKind(search: Search, branches: readonly JsonSchema[], value: JsonSchema): boolean {
  const kind = findKind(branches);
  if (kind === undefined) return false;
  const found = Object.hasOwn(value, kind.name) ? value[kind.name] : undefined;
  if (kind.choices.includes(found)) return false;
  reportAt(search, kind.name, wrongChoice(kind.choices, found));
  return true;
}

function findKind(branches: readonly JsonSchema[]): { name: string; choices: unknown[] } | undefined {
  const objects = branches.map((branch) => branch["properties"]).filter(isSchemaObject);
  const [first, second] = objects;
  if (first === undefined || second === undefined) return undefined;
  for (const name of Object.keys(first)) {
    const lists = objects.map((properties) =>
      Object.hasOwn(properties, name) ? choicesOf(properties[name]) : undefined,
    );
    if (lists.every((list) => list !== undefined)) return { name, choices: lists.flat() };
  }
  return undefined;
}

function showKeys(value: unknown): string {
  if (!isSchemaObject(value)) return showValue(value);
  const names = Object.keys(value);
  return names.length === 0 ? "an object without properties" : `an object with ${describeNames(names)}`;
}

/** Reports a property whose name does not fit `propertyNames`. */
function visitName(search: Search, schema: unknown, name: string): void {
  const inner: Search = { ...search, problems: new Map(), path: [], seen: new Map() };
  visit(inner, schema, name);
  const [problem] = inner.problems.values();
  if (problem === undefined) return;
  reportAt(search, name, { expected: `a name that is ${problem.expected}`, found: showValue(name) });
}

function visitDependents(search: Search, schema: JsonSchema, value: JsonSchema): void {
  for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"]) {
    for (const [name, needed] of Object.entries(schema[keyword] ?? {}) as [string, unknown][]) {
      if (!Object.hasOwn(value, name)) continue;
      if (!Array.isArray(needed)) visit(search, needed, value);
      else {
        for (const other of needed as string[]) {
          const expected = `a value, because there is ${toPath([name])}`;
          if (!Object.hasOwn(value, other)) reportAt(search, other, { expected, found: "nothing" });
        }
      }
    }
  }
}

/** Reports the properties that no other keyword has checked, if the schema forbids such. */
function visitUnevaluated(search: Search, schema: JsonSchema, value: unknown): void {
  const hasLeft = "unevaluatedProperties" in schema || "unevaluatedItems" in schema;
  if (!hasLeft || search.engine.fits(schema, value)) return;
  const known = knownNames(search.root, schema);
  const unknown = isSchemaObject(value) ? Object.keys(value).filter((name) => !known.includes(name)) : [];
  for (const name of unknown) reportUnknown(search, name, known);
  if (unknown.length === 0) report(search, { expected: "nothing more than its schema lists", found: showValue(value) });
}

function knownNames(root: JsonSchema, schema: unknown): string[] {
  if (!isSchemaObject(schema)) return [];
  const own = isSchemaObject(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  const target = typeof schema["$ref"] === "string" ? resolveReference(root, schema["$ref"]) : undefined;
  const inner = [...innerSchemas(schema)].filter(([[keyword]]) => inPlaceKeywords.has(keyword)).map(([, one]) => one);
  return [...new Set([...own, ...[target, ...inner].flatMap((one) => knownNames(root, one))])];
}

/** For each keyword that sets a limit: the words for a value that keeps it. */
const limits: Readonly<Record<string, (limit: string | number) => string>> = {
  minimum: (limit) => `at least ${limit}`,
  maximum: (limit) => `at most ${limit}`,
  exclusiveMinimum: (limit) => `more than ${limit}`,
  exclusiveMaximum: (limit) => `less than ${limit}`,
  multipleOf: (limit) => `a multiple of ${limit}`,
  minLength: (limit) => `at least ${count(limit, "characters")}`,
  maxLength: (limit) => `at most ${count(limit, "characters")}`,
  pattern: (pattern) => `text that matches /${pattern}/`,
  format: (format) => `text in the format ${format}`,
  minItems: (limit) => `at least ${count(limit, "items")}`,
  maxItems: (limit) => `at most ${count(limit, "items")}`,
  uniqueItems: () => "items that are all different",
  minProperties: (limit) => `at least ${count(limit, "properties")}`,
  maxProperties: (limit) => `at most ${count(limit, "properties")}`,
};

/** Finds the limits of `schema` that `value` breaks: the size of a number, the length of a text, the number of items or properties. */
export function findLimitProblems(engine: SchemaEngine, schema: JsonSchema, value: unknown): Omit<Problem, "path">[] {
  const problems: Omit<Problem, "path">[] = [];
  for (const [keyword, say] of Object.entries(limits)) {
    const limit = schema[keyword] as string | number | undefined;
    if (limit === undefined || engine.fits({ [keyword]: limit }, value)) continue;
    problems.push({ expected: say(limit), found: showAmount(value) });
  }
  const { contains } = schema;
  const { minContains = 1, maxContains = Infinity } = schema as { minContains?: number; maxContains?: number };
  if (contains !== undefined && !engine.fits({ contains, minContains, maxContains }, value)) {
    const most = maxContains === Infinity ? "" : ` and at most ${maxContains}`;
    const expected = `a list with at least ${minContains}${most} of ${describeSchema(contains)}`;
    problems.push({ expected, found: showValue(value) });
  }
  return problems;
}

function showAmount(value: unknown): string {
  return isSchemaObject(value) ? count(Object.keys(value).length, "properties") : showValue(value);
}

const singular = { characters: "character", items: "item", properties: "property" };

function count(number: string | number, things: keyof typeof singular): string {
  return `${number} ${number === 1 ? singular[things] : things}`;
}
