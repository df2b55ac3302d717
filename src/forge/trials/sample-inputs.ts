import type { JsonObject } from "../../core/json.ts";
import { createEngine } from "../../core/schema/engine.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";

/** Inputs that were made from a schema. */
export interface SampledInputs {
  /** Those that fit it. Fewer than were wanted if its rules are hard to meet by chance. */
  readonly fitting: readonly JsonObject[];
  /** Those that do not, and that no harmless change makes fit. */
  readonly unfitting: readonly JsonObject[];
}

/** How many of them, and which: the same seed gives the same ones. */
export interface SampleOptions {
  readonly count: number;
  readonly seed: number;
}

/** So many more are made than are wanted: some will not fit. */
const spare = 4;

/** Makes inputs from a schema, small and odd ones: empty texts, limits, what must be escaped, what is left out. */
export async function sampleInputs(schema: JsonSchema, { count, seed }: SampleOptions): Promise<SampledInputs> {
  const [fc, { createArbitraries }] = await Promise.all([import("fast-check"), import("./arbitraries.ts")]);
  const engine = createEngine(schema);
  const made = fc.sample(createArbitraries(fc, schema).ofSchema(schema), { numRuns: count * spare, seed });
  const fitting = made.filter((value): value is JsonObject => isObject(value) && engine.fits(schema, value));
  const broken = fitting.flatMap((value) => breakInput(value)).filter((value) => !engine.fits(schema, value));
  return { fitting: unique(fitting).slice(0, count), unfitting: spread(unique(broken), count) };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What no parameter is: nobody can turn it into what was meant. */
const wrongValues = [{ "": [null] }, [[{}]]];

/** Inputs with one thing wrong: a value of a kind that cannot be meant, a parameter left out, one that there is not. */
function breakInput(input: JsonObject): JsonObject[] {
  const names = Object.keys(input);
  const wrong = names.flatMap((name) => wrongValues.map((value) => ({ ...input, [name]: value })));
  const without = names.map((name) => Object.fromEntries(Object.entries(input).filter(([other]) => other !== name)));
  return [...wrong, ...without, { ...input, "no such parameter": 1 }] as JsonObject[];
}

function unique(values: readonly JsonObject[]): JsonObject[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** So many of them, from the first to the last. */
function spread<Value>(values: readonly Value[], count: number): Value[] {
  const step = Math.max(1, values.length / count);
  return Array.from(
    { length: Math.min(count, values.length) },
    (_, index) => values[Math.floor(index * step)] as Value,
  );
}
