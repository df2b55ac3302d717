import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";

import { KitbagError, type Problem } from "../../core/errors.ts";
import { isRecord, type JsonValue, showValue, toPath } from "../../core/json.ts";
import { followReferences, isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";
import { toSchema, type Refined, type SchemaSource } from "../../core/schema/to-schema.ts";
import type { OutputRule } from "./run-state.ts";

type Standard = StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>;

/**
 * Makes the rule for an answer: what the model must write, and what the schema's own library makes of it.
 *
 * @throws {KitbagError} `option-invalid` if it is no schema.
 */
export function toRule(source: SchemaSource): OutputRule {
  const standard = standardOf(source);
  let converted = toSchema(source, "output");
  // What comes of a transformation is nothing that JSON Schema can say; what goes into it is, and the model writes that.
  if (!converted.ok && standard?.jsonSchema !== undefined) converted = toSchema(toTaken(standard), "output");
  if (converted.ok) {
    const { json } = converted;
    const asked = isObjectSchema(json) ? json : putInObject(json);
    return { json, asked, ...(standard && { refine: (value) => refine(standard, value) }) };
  }
  const [problem] = converted.problems;
  const found = problem === undefined ? showValue(source) : `${problem.path} ${problem.found}`.trim();
  throw new KitbagError("option-invalid", { option: "output", found, expected: problem?.expected ?? "a schema" });
}

function standardOf(source: unknown): Standard | undefined {
  const isHolder = (typeof source === "object" || typeof source === "function") && source !== null;
  return isHolder ? (source as { readonly "~standard"?: Standard })["~standard"] : undefined;
}

/** The schema of what a schema takes. */
function toTaken({ version, vendor, validate, jsonSchema }: Standard): StandardSchemaV1 {
  const input = jsonSchema?.input;
  const props = { version, vendor, validate, jsonSchema: { input, output: input } };
  return { "~standard": props };
}

async function refine({ validate }: Standard, value: unknown): Promise<Refined> {
  const result = await validate(value);
  return result.issues === undefined
    ? { ok: true, value: result.value }
    : { ok: false, problems: result.issues.map(toProblem) };
}

function toProblem({ path = [], message }: StandardSchemaV1.Issue): Problem {
  const steps = path.map((step) => (typeof step === "object" ? step.key : step));
  const where = toPath(steps.map((step) => (typeof step === "number" ? step : String(step))));
  return { path: where, expected: `a value its schema accepts (${message})`, found: "another" };
}

/** The property that holds an answer that is no object: no provider holds an answer to a schema of anything else. */
const holder = "answer";

/** What a model wrote, out of the object that it was asked for. */
export function takeAnswer({ json, asked }: OutputRule, value: JsonValue): JsonValue {
  if (asked === json || !isRecord(value)) return value;
  const { [holder]: answer, ...others } = value;
  // Some models leave the object out.
  return answer !== undefined && Object.keys(others).length === 0 ? answer : value;
}

function isObjectSchema(schema: JsonSchema): boolean {
  const found = followReferences(schema, schema);
  return (
    isSchemaObject(found) && found["type"] === "object" && found["anyOf"] === undefined && found["oneOf"] === undefined
  );
}

function putInObject({ $schema: dialect, $defs, definitions, ...schema }: JsonSchema): JsonSchema {
  const moved = moveReferences(schema) as JsonSchema;
  return {
    ...(dialect !== undefined && { $schema: dialect }),
    type: "object",
    properties: { [holder]: moved },
    required: [holder],
    additionalProperties: false,
    ...($defs !== undefined && { $defs: moveReferences($defs) }),
    ...(definitions !== undefined && { definitions: moveReferences(definitions) }),
  };
}

/** References to the schema itself, or into it, lead one step further. */
function moveReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moveReferences);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([keyword, inner]) => [keyword, moveReference(keyword, inner)] as const);
  return Object.fromEntries(entries);
}

function moveReference(keyword: string, value: unknown): unknown {
  if (keyword !== "$ref" || typeof value !== "string") return moveReferences(value);
  return value.replace(/^#(?=$|\/(?!\$defs\/|definitions\/))/u, `#/properties/${holder}`);
}
