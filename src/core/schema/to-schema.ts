import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";

import type { Problem } from "../errors.ts";
import { copyJson, maxJsonDepth, showValue, toPath, type JsonValue } from "../json.ts";
import { checkSchema } from "./check-schema.ts";
import { closeSchema } from "./close-schema.ts";
import { isSchemaObject, type JsonSchema } from "./json-schema.ts";

/** What an author may give as a schema: a Standard Schema (zod, valibot, arktype, …) or a JSON Schema. */
export type SchemaSource = StandardSchemaV1 | JsonSchema;

/** What a schema's own library makes of a value that fits its JSON Schema: its refinements and transforms. */
export type Refine = (value: JsonValue) => Refined | Promise<Refined>;

/** What {@link Refine} answers. */
export type Refined =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** A schema, converted and checked. */
export type ConvertedSchema =
  | { readonly ok: true; readonly json: JsonSchema; readonly refine?: Refine }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The largest schema there is, in bytes. */
const maxSchemaBytes = 256 * 1024;

/** Converts what an author gave into a JSON Schema of our own, and checks it. Done once, when a tool is defined. */
export function toSchema(source: SchemaSource, side: "input" | "output"): ConvertedSchema {
  const standard = isStandard(source) ? source["~standard"] : undefined;
  const converted = standard === undefined ? { ok: true as const, json: source } : convertStandard(standard, side);
  if (!converted.ok) return converted;
  const copy = copyJson(converted.json, { maxBytes: maxSchemaBytes, maxDepth: maxJsonDepth });
  if (!copy.ok) {
    const tooLarge: Problem = { path: "", expected: `at most ${maxSchemaBytes} bytes`, found: "more" };
    return { ok: false, problems: [copy.reason === "not-json" ? copy.problem : tooLarge] };
  }
  if (!isSchemaObject(copy.value)) return refuse("a JSON Schema or a Standard Schema", showValue(source));
  const json = toObjectSchema(copy.value as JsonSchema, side);
  const problems = checkSchema(json);
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, json: side === "input" ? closeSchema(json) : json, ...refinement(standard, side) };
}

function isStandard(source: unknown): source is StandardSchemaV1 {
  return (typeof source === "object" || typeof source === "function") && source !== null && "~standard" in source;
}

type Standard = StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>;

function convertStandard(
  standard: Standard,
  side: "input" | "output",
): { ok: true; json: unknown } | { ok: false; problems: Problem[] } {
  if (standard.jsonSchema === undefined) {
    const cure =
      standard.vendor === "valibot" ? "; wrap it with toStandardJsonSchema() of @valibot/to-json-schema" : "";
    return refuse(
      `a schema that can be converted to JSON Schema${cure}`,
      `a ${standard.vendor} schema without "~standard.jsonSchema"`,
    );
  }
  try {
    return { ok: true, json: standard.jsonSchema[side]({ target: "draft-2020-12" }) };
  } catch (cause) {
    return refuse("a schema that JSON Schema can express", cause instanceof Error ? cause.message : String(cause));
  }
}

/** The input of a tool is an object, always; a schema that only lists properties means one. */
function toObjectSchema(schema: JsonSchema, side: "input" | "output"): JsonSchema {
  const { $schema: _, ...rest } = schema;
  if (side === "output" || rest["type"] !== undefined) return rest;
  return "$ref" in rest || "anyOf" in rest || "oneOf" in rest || "allOf" in rest ? rest : { type: "object", ...rest };
}

function refinement(standard: Standard | undefined, side: "input" | "output"): { refine?: Refine } {
  if (standard === undefined || side === "output") return {};
  return {
    refine(value) {
      const result = standard.validate(value);
      return result instanceof Promise ? result.then(toRefined) : toRefined(result);
    },
  };
}

function toRefined(result: StandardSchemaV1.Result<unknown>): Refined {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, problems: result.issues.map(toProblem) };
}

function toProblem({ path = [], message }: StandardSchemaV1.Issue): Problem {
  const steps = path.map((step) => (typeof step === "object" ? step.key : step));
  return {
    path: toPath(steps.map((step) => (typeof step === "number" ? step : String(step)))),
    expected: "a value its schema accepts",
    found: message,
  };
}

function refuse(expected: string, found: string): { ok: false; problems: Problem[] } {
  return { ok: false, problems: [{ path: "", expected, found }] };
}
