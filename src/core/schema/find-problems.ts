import type { Problem } from "../errors.ts";
import { showValue, toPath } from "../json.ts";
import { nearestNames } from "../nearest.ts";
import { describeChoices, describeSchema } from "./describe-schema.ts";
import type { EngineError } from "./engine.ts";
import { isSchemaObject, parsePointer, resolveReference, type JsonSchema } from "./json-schema.ts";

/** How many problems are worth telling at once. */
const mostProblems = 50;

/** Turns what the engine found into problems that a person or a model can act on, one for each place. */
export function findProblems(schema: JsonSchema, value: unknown, errors: readonly EngineError[]): Problem[] {
  const byPath = new Map<string, Problem>();
  for (const error of errors) {
    if (error.keyword === "boolean" || /\/(?:anyOf|oneOf|not|if)\//u.test(error.schemaPath)) continue;
    for (const problem of toProblems(schema, value, error)) {
      if (!byPath.has(problem.path)) byPath.set(problem.path, problem);
      if (byPath.size >= mostProblems) return [...byPath.values()];
    }
  }
  if (byPath.size === 0) return [{ path: "", expected: describeSchema(schema), found: showValue(value) }];
  return [...byPath.values()];
}

function toProblems(root: JsonSchema, value: unknown, error: EngineError): Problem[] {
  const steps = valueSteps(value, error.instancePath);
  const found = steps.reduce<unknown>(getInside, value);
  const at = toPath(steps);
  switch (error.keyword) {
    case "required":
      return names(error.params["requiredProperties"]).map((name) => missing(root, error, [...steps, name]));
    case "additionalProperties":
      return names(error.params["additionalProperties"]).map((name) => unknownKey(root, error, [...steps, name]));
    case "enum":
      return [wrongChoice(at, found, error.params["allowedValues"])];
    default:
      return [{ path: at, expected: expectation(root, error), found: showValue(found) }];
  }
}

function missing(root: JsonSchema, error: EngineError, steps: readonly (string | number)[]): Problem {
  const schema = schemaAt(root, `${error.schemaPath}/properties/${String(steps.at(-1))}`);
  return { path: toPath(steps), expected: schema === undefined ? "a value" : describeSchema(schema), found: "nothing" };
}

function unknownKey(root: JsonSchema, error: EngineError, steps: readonly (string | number)[]): Problem {
  const schema = schemaAt(root, error.schemaPath);
  const known = isSchemaObject(schema) && isSchemaObject(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  const [nearest] = nearestNames(String(steps.at(-1)), known, 1);
  return {
    path: toPath(steps),
    expected: known.length === 0 ? "no parameters" : `only ${known.join(", ")}`,
    found: "an unknown parameter",
    ...(nearest !== undefined && { didYouMean: nearest }),
  };
}

function wrongChoice(path: string, found: unknown, allowed: unknown): Problem {
  const choices: unknown[] = Array.isArray(allowed) ? allowed : [];
  const texts = choices.filter((choice) => typeof choice === "string");
  const [nearest] = typeof found === "string" ? nearestNames(found, texts, 1) : [];
  return {
    path,
    expected: describeChoices(choices),
    found: showValue(found),
    ...(nearest !== undefined && { didYouMean: nearest }),
  };
}

const comparisons: Readonly<Record<string, (limit: string) => string>> = {
  minimum: (limit) => `at least ${limit}`,
  maximum: (limit) => `at most ${limit}`,
  exclusiveMinimum: (limit) => `more than ${limit}`,
  exclusiveMaximum: (limit) => `less than ${limit}`,
  multipleOf: (limit) => `a multiple of ${limit}`,
  minLength: (limit) => `at least ${limit} characters`,
  maxLength: (limit) => `at most ${limit} characters`,
  minItems: (limit) => `at least ${limit} items`,
  maxItems: (limit) => `at most ${limit} items`,
  minProperties: (limit) => `at least ${limit} properties`,
  maxProperties: (limit) => `at most ${limit} properties`,
  pattern: (pattern) => `text that matches /${pattern}/`,
  format: (format) => `text in the format ${format}`,
  uniqueItems: () => "items that are all different",
};

function expectation(root: JsonSchema, error: EngineError): string {
  const schema = schemaAt(root, error.schemaPath);
  if (!isSchemaObject(schema)) return "a value that fits the schema";
  const say = Object.hasOwn(comparisons, error.keyword) ? comparisons[error.keyword] : undefined;
  return say === undefined ? describeSchema(schema) : say(String(schema[error.keyword]));
}

/** Follows the engine's schema path, through references. */
function schemaAt(root: JsonSchema, pointer: string): unknown {
  let schema: unknown = root;
  for (const step of parsePointer(pointer)) {
    if (isSchemaObject(schema) && typeof schema["$ref"] === "string" && !Object.hasOwn(schema, step)) {
      schema = resolveReference(root, schema["$ref"]);
    }
    schema = getInside(schema, step);
  }
  return schema;
}

function getInside(value: unknown, step: string | number): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
  return (value as Record<string | number, unknown>)[step];
}

/** A number in a pointer is an index only where the value is a list. */
function valueSteps(value: unknown, pointer: string): (string | number)[] {
  let inside = value;
  return parsePointer(pointer).map((step) => {
    const key = Array.isArray(inside) ? step : String(step);
    inside = getInside(inside, key);
    return key;
  });
}

function names(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}
