import { isDeepStrictEqual } from "node:util";

import { type Problem, quote } from "../../core/errors.ts";
import { innerSchemas, isSchemaObject, schemaPlaces, type JsonSchema } from "../../core/schema/json-schema.ts";
import type { TypedTool } from "../../core/tool.ts";
import type { Part } from "./part.ts";

type TakesInput<Tools> = {
  [Key in keyof Tools]: Tools[Key] extends TypedTool<infer Input, unknown> ? (input: Input) => void : never;
}[keyof Tools];

/** The type of an input that every one of some tools takes. */
export type InputForAll<Tools> = [TakesInput<Tools>] extends [(input: infer Input) => void] ? Input : never;

/** The schema of an input that every one of `parts` takes. If there is no such input, the reason is added to `problems`. */
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

/**
 * Makes `schema` right for a place inside another one: its references, which start at the root, are led to `pointer`
 * (`#/properties/weather`). A schema with names of its own (`$id`, `$anchor`) cannot be moved; it becomes `{}`, which takes
 * anything.
 */
export function nestSchema(schema: JsonSchema | undefined, pointer: string): JsonSchema {
  if (schema === undefined || hasOwnNames(schema)) return {};
  return move(schema, pointer) as JsonSchema;
}

const nameKeywords = ["$id", "$anchor", "$dynamicAnchor", "$dynamicRef"];

function hasOwnNames(schema: unknown): boolean {
  if (!isSchemaObject(schema)) return false;
  const reference = schema["$ref"];
  if (typeof reference === "string" && !/^#(?:\/|$)/u.test(reference)) return true;
  if (nameKeywords.some((keyword) => Object.hasOwn(schema, keyword))) return true;
  return innerSchemas(schema).some(([, inner]) => hasOwnNames(inner));
}

function move(schema: unknown, pointer: string): unknown {
  if (!isSchemaObject(schema)) return schema;
  return mapValues(schema, (value, keyword) => moveKeyword(keyword, value, pointer));
}

function moveKeyword(keyword: string, value: unknown, pointer: string): unknown {
  if (keyword === "$ref" && typeof value === "string") return pointer + value.slice(1);
  // A keyword like `const` or `default` holds a value, in which `$ref` is only a key.
  const place = Object.hasOwn(schemaPlaces, keyword) ? schemaPlaces[keyword] : undefined;
  if (place === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => move(item, pointer));
  if (place === "map" && isSchemaObject(value)) return mapValues(value, (inner) => move(inner, pointer));
  return move(value, pointer);
}

function mapValues(values: JsonSchema, change: (value: unknown, name: string) => unknown): JsonSchema {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
}

/** Tells whether a schema refers to another place, so that it means nothing outside its own root. */
export function hasReference(schema: unknown): boolean {
  if (!isSchemaObject(schema)) return false;
  if (schema["$ref"] !== undefined || schema["$dynamicRef"] !== undefined) return true;
  return innerSchemas(schema).some(([, inner]) => hasReference(inner));
}
