import { isDeepStrictEqual } from "node:util";

import { type Problem, quote } from "../../core/errors.ts";
import { isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";
import type { TypedTool } from "../../core/tool.ts";
import type { Part } from "./part.ts";

type TakesInput<Tools> = {
  [Key in keyof Tools]: Tools[Key] extends TypedTool<infer Input, unknown> ? (input: Input) => void : never;
}[keyof Tools];

/** The type of an input that every one of some tools takes. */
export type InputForAll<Tools> = [TakesInput<Tools>] extends [(input: infer Input) => void] ? Input : never;

/** The schema of an input that every one of `parts` takes. Why there is none is added to `problems`. */
export function inputForAll(parts: readonly Part[], problems: Problem[]): JsonSchema {
  if (parts.some((part) => part.isMapped)) {
    problems.push({ path: "input", expected: "a schema, because the input of a tool is made", found: "nothing" });
    return {};
  }
  const merged = mergeInputs(parts.map((part) => part.tool.inputSchema));
  if (merged.ok) return merged.schema;
  problems.push(merged.problem);
  return {};
}

/** What {@link mergeInputs} answers. */
type MergedInput =
  | { readonly ok: true; readonly schema: JsonSchema }
  | { readonly ok: false; readonly problem: Problem };

/** Keywords of a schema that only lists parameters; such schemas can be put together. */
const flatKeywords = new Set(["type", "properties", "required", "additionalProperties", "title", "description"]);

/** Makes one input schema out of several, for tools that are given the same input: every parameter that one of them has. */
export function mergeInputs(schemas: readonly JsonSchema[]): MergedInput {
  const [first = {}] = schemas;
  if (schemas.every((schema) => isDeepStrictEqual(schema, first))) return { ok: true, schema: first };
  if (!schemas.every(isFlat)) return refuse("tools whose input schemas cannot be put together");
  const properties = new Map<string, unknown>();
  for (const schema of schemas) {
    for (const [name, property] of Object.entries(propertiesOf(schema))) {
      if (properties.has(name) && !isDeepStrictEqual(properties.get(name), property)) {
        return refuse(`tools that disagree about the parameter ${quote(name)}`);
      }
      properties.set(name, property);
    }
  }
  const required = new Set(schemas.flatMap((schema) => (schema["required"] as string[] | undefined) ?? []));
  const isClosed = schemas.every((schema) => schema["additionalProperties"] === false);
  return {
    ok: true,
    schema: {
      type: "object",
      properties: Object.fromEntries(properties),
      required: [...required],
      additionalProperties: !isClosed,
    },
  };
}

function isFlat(schema: JsonSchema): boolean {
  const others = schema["additionalProperties"];
  const isPlain = others === undefined || typeof others === "boolean";
  return isPlain && Object.keys(schema).every((keyword) => flatKeywords.has(keyword));
}

function propertiesOf(schema: JsonSchema): JsonSchema {
  return isSchemaObject(schema["properties"]) ? schema["properties"] : {};
}

function refuse(found: string): MergedInput {
  const expected = 'an "input" schema, and "{ tool, input }" for each tool that takes something else';
  return { ok: false, problem: { path: "input", expected, found } };
}
