import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";

import { describeCause, type Problem } from "../errors.ts";
import { copyJson, maxJsonDepth, showValue, toPath, type JsonValue } from "../json.ts";
import { checkSchema } from "./check-schema.ts";
import { closeSchema } from "./close-schema.ts";
import { isSchemaObject, resolveReference, type JsonSchema } from "./json-schema.ts";
import { branchesOf } from "./rank-branches.ts";

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
  try {
    return convert(source, side);
  } catch (cause) {
    // A schema of an author may throw whenever it is read.
    return refuse("a schema that can be read", `one that throws: ${describeCause(cause)}`);
  }
}

function convert(source: SchemaSource, side: "input" | "output"): ConvertedSchema {
  const standard = isStandard(source) ? source["~standard"] : undefined;
  const converted = standard === undefined ? { ok: true as const, json: source } : convertStandard(standard, side);
  if (!converted.ok) return converted;
  const copy = copyJson(converted.json, { maxBytes: maxSchemaBytes, maxDepth: maxJsonDepth });
  if (!copy.ok) {
    const tooLarge: Problem = { path: "", expected: `at most ${maxSchemaBytes} bytes`, found: "more" };
    return { ok: false, problems: [copy.reason === "not-json" ? copy.problem : tooLarge] };
  }
  if (!isSchemaObject(copy.value)) return refuse("a JSON Schema or a Standard Schema", showValue(source));
  const { $schema: dialect, $id: _id, ...own } = copy.value;
  // What a library adds to each schema says nothing.
  const said = standard === undefined && typeof dialect === "string" ? { $schema: dialect } : {};
  const json = { ...said, ...(side === "input" ? closeSchema(toObjectSchema(own)) : own) };
  const problems = checkSchema(json);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, json, ...refinement(standard, side) };
}

function isStandard(source: unknown): source is StandardSchemaV1 {
  const isHolder = (typeof source === "object" || typeof source === "function") && source !== null;
  return isHolder && "~standard" in source && typeof source["~standard"] === "object" && source["~standard"] !== null;
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
    return refuse("a schema that JSON Schema can express", describeCause(cause));
  }
}

/** The input of a tool is an object, always: a schema that only lists properties means one, and so does a choice of objects. */
function toObjectSchema(schema: JsonSchema): JsonSchema {
  return schema["type"] === undefined && meansObject(schema, schema, new Set())
    ? { type: "object", ...schema }
    : schema;
}

function meansObject(root: JsonSchema, schema: unknown, seen: Set<unknown>): boolean {
  if (!isSchemaObject(schema) || seen.has(schema)) return false;
  seen.add(schema);
  if (schema["type"] !== undefined) return schema["type"] === "object";
  const { $ref: reference, allOf } = schema;
  if (typeof reference === "string") return meansObject(root, resolveReference(root, reference), seen);
  const branches = branchesOf(schema);
  if (branches !== undefined) return branches.every((branch) => meansObject(root, branch, new Set(seen)));
  if (Array.isArray(allOf)) return allOf.some((part) => meansObject(root, part, new Set(seen)));
  return schema === root || isSchemaObject(schema["properties"]);
}

function refinement(standard: Standard | undefined, side: "input" | "output"): { refine?: Refine } {
  if (standard === undefined || side === "output") return {};
  return {
    refine(value) {
      const result = standard.validate(value);
      const refined = (answer: StandardSchemaV1.Result<unknown>): Refined => toRefined(answer, value);
      return result instanceof Promise ? result.then(refined) : refined(result);
    },
  };
}

function toRefined(result: StandardSchemaV1.Result<unknown>, value: JsonValue): Refined {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, problems: result.issues.map((issue) => toProblem(issue, value)) };
}

function toProblem({ path = [], message }: StandardSchemaV1.Issue, value: JsonValue): Problem {
  const keys = path.map((step) => (typeof step === "object" ? step.key : step));
  const steps = keys.map((key) => (typeof key === "number" ? key : String(key)));
  return {
    path: toPath(steps),
    expected: `a value its schema accepts (${message})`,
    found: showValue(steps.reduce<unknown>(getInside, value)),
  };
}

function getInside(value: unknown, step: string | number): unknown {
  const isThere = typeof value === "object" && value !== null && Object.hasOwn(value, step);
  return isThere ? (value as Record<string | number, unknown>)[step] : undefined;
}

function refuse(expected: string, found: string): { ok: false; problems: Problem[] } {
  return { ok: false, problems: [{ path: "", expected, found }] };
}
