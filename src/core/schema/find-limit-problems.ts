import type { Problem } from "../errors.ts";
import { showValue } from "../json.ts";
import { describeSchema } from "./describe-schema.ts";
import type { SchemaEngine } from "./engine.ts";
import { isSchemaObject, type JsonSchema } from "./json-schema.ts";

/** What to say about a value beyond a limit, for each keyword that can be looked at by itself. */
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

/** Finds the limits of `schema` that `value` does not keep: of numbers, of texts, of how much there is of something. */
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
