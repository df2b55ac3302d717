import { isSchemaObject, resolveReference, type JsonSchema } from "../../../core/schema/json-schema.ts";
import type { ModelTool } from "../../model.ts";
import { toStems } from "../text/stems.ts";

/** What a parameter takes, as far as one can tell. */
export type ParameterType = "any" | "array" | "boolean" | "integer" | "number" | "object" | "string";

/** One thing that a tool wants to know. */
export interface Parameter {
  readonly name: string;
  /** Of its name, in order, also the short ones ("to", "by"). */
  readonly words: readonly string[];
  readonly stems: readonly string[];
  readonly description: string;
  readonly descriptionStems: ReadonlySet<string>;
  readonly type: ParameterType;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  readonly hasDefault: boolean;
  /** The values it may have; empty if any. */
  readonly choices: readonly (string | number | boolean | null)[];
  /** Values that are shown somewhere: in examples, as a default, in its description. */
  readonly samples: readonly string[];
  /** Of the items of a list. */
  readonly item?: Parameter;
  /** Of the fields of an object. */
  readonly fields: readonly Parameter[];
}

/** Schemas deeper than this are not looked into: nobody says such things in a sentence. */
const deepest = 4;

/** Nobody names more of them in one request. */
const mostParameters = 64;

const known = new WeakMap<object, readonly Parameter[]>();

/** What a tool wants to know, required things first, each group in the order of the schema. */
export function parametersOf(tool: Pick<ModelTool, "inputSchema" | "inputExamples">): readonly Parameter[] {
  const remembered = known.get(tool);
  if (remembered !== undefined) return remembered;
  const root = tool.inputSchema as unknown;
  const examples = (tool.inputExamples ?? []).map(({ input }) => input as Readonly<Record<string, unknown>>);
  const parameters = isSchemaObject(root) ? toFields({ root, schema: root, depth: 0 }, examples) : [];
  known.set(tool, parameters);
  return parameters;
}

interface Place {
  readonly root: JsonSchema;
  readonly schema: JsonSchema;
  readonly depth: number;
}

function toFields(place: Place, examples: readonly Readonly<Record<string, unknown>>[]): Parameter[] {
  const schema = flatten(place);
  const { properties, required } = schema;
  if (!isSchemaObject(properties) || place.depth >= deepest) return [];
  const needed = new Set(Array.isArray(required) ? (required as unknown[]) : []);
  const fields = Object.keys(properties)
    .slice(0, mostParameters)
    .map((name) => {
      const values = examples.flatMap((example) => (Object.hasOwn(example, name) ? [example[name]] : []));
      return toParameter(name, { ...place, schema: asSchema(properties[name]) }, values, needed.has(name));
    });
  return [...fields.filter((field) => field.isRequired), ...fields.filter((field) => !field.isRequired)];
}

function toParameter(name: string, place: Place, examples: readonly unknown[], isRequired: boolean): Parameter {
  const schema = flatten(place);
  const description = typeof schema["description"] === "string" ? schema["description"].slice(0, 2000) : "";
  const type = typeOf(schema);
  // What is said about a list is said about each of its items.
  const items = { ...(description !== "" && { description }), ...asSchema(schema["items"]) };
  const inside = { ...place, schema: items, depth: place.depth + 1 };
  const lists = examples.flatMap((example) => (Array.isArray(example) ? (example as unknown[]) : []));
  const records = examples.filter(isSchemaObject);
  return {
    name,
    words: name
      .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== ""),
    stems: toStems(name),
    description,
    descriptionStems: new Set(toStems(description)),
    type,
    schema,
    isRequired,
    hasDefault: "default" in schema || "const" in schema,
    choices: choicesOf(schema),
    samples: samplesOf(schema, description, examples),
    ...(type === "array" && place.depth < deepest && { item: toParameter(name, inside, lists, true) }),
    fields: type === "object" ? toFields({ ...place, schema, depth: place.depth + 1 }, records) : [],
  };
}

/** The schema itself, with what it refers to and what all of its parts say; of alternatives the first that is no `null`. */
function flatten({ root, schema }: Place): JsonSchema {
  let flat = schema;
  for (let turns = 0; turns < 8; turns++) {
    const { $ref, allOf, anyOf, oneOf, ...own } = flat;
    const choices = [anyOf, oneOf].filter((list): list is unknown[] => Array.isArray(list));
    if (typeof $ref === "string") flat = { ...asSchema(resolveSafely(root, $ref)), ...own };
    else if (Array.isArray(allOf)) flat = Object.assign({}, ...allOf.slice(0, 20).map(asSchema), own) as JsonSchema;
    else if (choices.length > 0) flat = { ...pickChoice(choices.flat()), ...own };
    else return flat;
  }
  return flat;
}

function pickChoice(choices: readonly unknown[]): JsonSchema {
  const schemas = choices
    .slice(0, 50)
    .map(asSchema)
    .filter((choice) => choice["type"] !== "null");
  const constants = schemas.flatMap((choice) => ("const" in choice ? [choice["const"]] : []));
  if (constants.length > 1 && constants.length === schemas.length) return { enum: constants };
  return schemas[0] ?? {};
}

function resolveSafely(root: JsonSchema, reference: string): unknown {
  // An anchor is looked for everywhere, and a hostile schema may be a cycle: only plain pointers are followed.
  return reference === "#" || reference.startsWith("#/") ? resolveReference(root, reference) : undefined;
}

function asSchema(value: unknown): JsonSchema {
  return isSchemaObject(value) ? value : {};
}

function typeOf(schema: JsonSchema): ParameterType {
  const { type } = schema;
  const types = (Array.isArray(type) ? (type as unknown[]) : [type]).filter((name) => name !== "null");
  const [first] = types;
  if (types.includes("string") && first !== "array" && first !== "object") return "string";
  if (["array", "boolean", "integer", "number", "object", "string"].includes(String(first)))
    return first as ParameterType;
  if (isSchemaObject(schema["properties"])) return "object";
  if ("items" in schema) return "array";
  const choice = choicesOf(schema)[0] ?? schema["default"];
  if (["boolean", "number", "string"].includes(typeof choice)) return typeof choice as ParameterType;
  return "any";
}

function choicesOf(schema: JsonSchema): Parameter["choices"] {
  const list = Array.isArray(schema["enum"])
    ? (schema["enum"] as unknown[])
    : "const" in schema
      ? [schema["const"]]
      : [];
  return list.slice(0, 500).filter((value) => value === null || typeof value !== "object") as Parameter["choices"];
}

function samplesOf(schema: JsonSchema, description: string, examples: readonly unknown[]): string[] {
  const shown = Array.isArray(schema["examples"]) ? (schema["examples"] as unknown[]) : [];
  const values = [...examples, ...shown, schema["default"]].slice(0, 12);
  const texts = values.filter((value) => typeof value === "string" || typeof value === "number").map(String);
  const said = [...description.matchAll(saidSample)].map(
    (match) => match.slice(1).find((text) => text !== undefined) ?? "",
  );
  const shownThere = said
    .map((text) => text.replace(/[.,;]$/u, ""))
    .filter((text) => !/^(?:this|that|these|those|the|it|a|an|)$/u.test(text));
  return [...texts, ...shownThere.slice(0, 4)];
}

const saidSample =
  /(?:such as|e\.g\.,?|for example|like|example:)\s+(?:"([^"]{1,80})"|'([^']{1,80})'|`([^`]{1,80})`|([^\s,;)]{1,80}))/giu;
