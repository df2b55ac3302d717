import { isRecord } from "../../core/json.ts";

/**
 * A JSON schema in the words from which `node-llama-cpp` makes a grammar. The grammar always has every property that is named, so that
 * one which may be missing may be `null` instead: {@link withoutGaps} takes those out again. What a grammar cannot say (patterns, ranges
 * of numbers) is left out, and checked when the tool is called.
 */
export function toGrammarSchema(schema: unknown): object {
  const root = isRecord(schema) ? schema : {};
  return convert(root, { root, depth: 0 });
}

/** Where a schema stands, for references in it. */
interface Place {
  readonly root: Readonly<Record<string, unknown>>;
  readonly depth: number;
}

/** A schema that refers to itself is any value from here on. */
const deepest = 12;
/** Of a text or a list without a limit of its own: a model that repeats itself ends at some point. */
const longestText = 10_000;
const longestList = 200;

function convert(given: unknown, place: Place): object {
  const schema = resolve(given, place);
  if (!isRecord(schema) || place.depth > deepest) return anyValue;
  const inner = { ...place, depth: place.depth + 1 };
  const about = typeof schema["description"] === "string" ? { description: schema["description"] } : {};
  if (schema["const"] !== undefined && !isRecord(schema["const"])) return { const: schema["const"], ...about };
  if (Array.isArray(schema["enum"])) return { enum: schema["enum"], ...about };
  const choices = schema["oneOf"] ?? schema["anyOf"];
  if (Array.isArray(choices)) return { oneOf: choices.map((choice) => convert(choice, inner)), ...about };
  const types = Array.isArray(schema["type"]) ? (schema["type"] as unknown[]) : [schema["type"]];
  if (types.length > 1) return { oneOf: types.map((type) => convert({ ...schema, type }, inner)), ...about };
  return { ...convertType(schema, types[0], inner), ...about };
}

type Facts = Readonly<Record<string, unknown>>;

function convertType(schema: Facts, type: unknown, place: Place): object {
  const isObject = type === "object" || isRecord(schema["properties"]);
  if (isObject) return convertObject(schema, place);
  switch (type) {
    case "string":
      return convertText(schema);
    case "array": {
      const { minItems, maxItems = longestList } = schema;
      const limits = { ...(typeof minItems === "number" && { minItems }), maxItems };
      return { type, items: convert(schema["items"] ?? {}, place), ...limits };
    }
    case "number":
    case "integer":
    case "boolean":
    case "null":
      return { type };
    default:
      return anyValue;
  }
}

const formats: ReadonlySet<unknown> = new Set(["date-time", "time", "date"]);

function convertText({ format, minLength, maxLength = longestText }: Facts): object {
  if (formats.has(format)) return { type: "string", format };
  return { type: "string", ...(typeof minLength === "number" && { minLength }), maxLength };
}

function convertObject(schema: Facts, place: Place): object {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const { additionalProperties } = schema;
  const converted = Object.entries(properties).map(([name, inner]) => {
    const made = convert(inner, place);
    return [name, isRequired(schema, name) ? made : { oneOf: [made, { type: "null" }] }] as const;
  });
  const isOpen = additionalProperties === true || isRecord(additionalProperties);
  const more = isRecord(additionalProperties) ? convert(additionalProperties, place) : anyValue;
  return {
    type: "object",
    properties: Object.fromEntries(converted),
    ...((isOpen || converted.length === 0) && additionalProperties !== false && { additionalProperties: more }),
  };
}

function isRequired({ required }: Facts, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}

/** What stands where no schema says more: a grammar for any depth would let a model write for ever. */
const anyValue: object = {
  oneOf: [
    { type: "string", maxLength: longestText },
    { type: "number" },
    { type: "boolean" },
    { type: "null" },
    { type: "array", items: { type: ["string", "number", "boolean", "null"] }, maxItems: longestList },
    { type: "object", additionalProperties: { type: ["string", "number", "boolean", "null"] } },
  ],
};

/** Follows a reference into the schema: `#/$defs/city`. */
function resolve(schema: unknown, { root, depth }: Place): unknown {
  if (!isRecord(schema) || typeof schema["$ref"] !== "string" || depth > deepest) return schema;
  const steps = schema["$ref"].replace(/^#\/?/u, "").split("/").filter(Boolean);
  let target: unknown = root;
  for (const step of steps) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    target = isRecord(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  return resolve(target, { root, depth: depth + 1 });
}

/** Takes the properties out that are `null` only because the grammar has every property. */
export function withoutGaps(value: unknown, schema: unknown): unknown {
  const root = isRecord(schema) ? schema : {};
  return strip(value, root, { root, depth: 0 });
}

function strip(value: unknown, given: unknown, place: Place): unknown {
  const schema = resolve(given, place);
  if (!isRecord(schema) || place.depth > deepest) return value;
  const inner = { ...place, depth: place.depth + 1 };
  if (Array.isArray(value)) return value.map((item) => strip(item, schema["items"], inner));
  const properties = schema["properties"];
  if (!isRecord(value) || !isRecord(properties)) return value;
  const kept = Object.entries(value).filter(
    ([name, item]) => item !== null || !Object.hasOwn(properties, name) || isRequired(schema, name),
  );
  return Object.fromEntries(kept.map(([name, item]) => [name, strip(item, properties[name], inner)]));
}
