import { isDeepStrictEqual } from "node:util";

import { quote, type Problem } from "../../core/errors.ts";
import { isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";

/** What {@link mergeInputs} answers. */
export type MergedInput =
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
