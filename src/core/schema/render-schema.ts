import { isSchemaObject, resolveReference, type JsonSchema } from "./json-schema.ts";

/** How deep a schema is shown; below that it is `object` or `unknown`. */
const deepest = 8;

/** How much may be told beside the types: `short` as no compiler would read it, `typescript` in comments alone. */
export type SchemaStyle = "short" | "typescript";

/**
 * Writes a schema the way a TypeScript programmer would: `{ path: string; limit?: number = 10 // how many }`. It says what a
 * model needs in about a third of the tokens of JSON Schema. In the style `typescript` it is a type that a compiler can read,
 * and is indented as if it began `depth` levels deep.
 */
export function renderSchema(schema: JsonSchema, style: SchemaStyle = "short", depth = 0): string {
  return render(schema, { root: schema, style, start: depth, depth: 0, seen: new Set() });
}

interface Place {
  readonly style: SchemaStyle;
  readonly start: number;
  readonly root: JsonSchema;
  readonly depth: number;
  readonly seen: ReadonlySet<string>;
}

function render(schema: unknown, place: Place): string {
  if (!isSchemaObject(schema)) return schema === false ? "never" : "unknown";
  if (typeof schema["$ref"] === "string") return renderReference(schema["$ref"], place);
  if (Array.isArray(schema["enum"])) return schema["enum"].map((value) => JSON.stringify(value)).join(" | ");
  if ("const" in schema) return JSON.stringify(schema["const"]);
  const branches = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(branches)) return unique(branches.map((branch) => render(branch, place))).join(" | ");
  if (Array.isArray(schema["allOf"])) return unique(schema["allOf"].map((part) => render(part, place))).join(" & ");
  const { type } = schema;
  if (Array.isArray(type)) return unique(type.map((name: unknown) => renderType(name, schema, place))).join(" | ");
  return renderType(type ?? (isSchemaObject(schema["properties"]) ? "object" : undefined), schema, place);
}

function renderReference(reference: string, place: Place): string {
  if (place.seen.has(reference)) return "object";
  const inside = { ...place, seen: new Set([...place.seen, reference]) };
  return render(resolveReference(place.root, reference), inside);
}

function renderType(type: unknown, schema: JsonSchema, place: Place): string {
  switch (type) {
    case "integer":
    case "number":
      return "number";
    case "array":
      return renderList(schema, place);
    case "object":
      return renderObject(schema, place);
    case "string":
    case "boolean":
    case "null":
      return type;
    default:
      return "unknown";
  }
}

function renderList(schema: JsonSchema, place: Place): string {
  const { prefixItems } = schema;
  const inside = { ...place, depth: place.depth + 1 };
  if (Array.isArray(prefixItems)) return `[${prefixItems.map((item) => render(item, inside)).join(", ")}]`;
  const item = render(schema["items"] ?? true, inside);
  return /[ |&]/u.test(item) && !item.startsWith("{") ? `(${item})[]` : `${item}[]`;
}

function renderObject(schema: JsonSchema, place: Place): string {
  const properties = isSchemaObject(schema["properties"]) ? schema["properties"] : {};
  const names = Object.keys(properties);
  const values = schema["additionalProperties"];
  if (names.length === 0) return isSchemaObject(values) ? `Record<string, ${render(values, place)}>` : "{}";
  if (place.depth > deepest) return "object";
  const required = new Set(Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : []);
  const inside = { ...place, depth: place.depth + 1 };
  const lines = names.map((name) => renderProperty(name, properties[name], required.has(name), inside));
  const indent = "  ".repeat(place.start + place.depth + 1);
  return `{\n${lines.map((line) => indent + line).join("\n")}\n${"  ".repeat(place.start + place.depth)}}`;
}

function renderProperty(name: string, schema: unknown, isRequired: boolean, place: Place): string {
  const key = /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : JSON.stringify(name);
  const facts = isSchemaObject(schema) ? schema : {};
  if (place.style === "typescript") {
    const notes = [
      ...renderNotes(facts),
      ...("default" in facts ? [`@default ${JSON.stringify(facts["default"])}`] : []),
    ];
    const indent = "  ".repeat(place.start + place.depth);
    const comment = notes.length === 0 ? "" : `${toDocComment(notes.join(", "))}\n${indent}`;
    return `${comment}${key}${isRequired ? "" : "?"}: ${render(schema, place)};`;
  }
  const preset = "default" in facts ? ` = ${JSON.stringify(facts["default"])}` : "";
  const notes = renderNotes(facts);
  const comment = notes.length === 0 ? "" : ` // ${notes.join(", ").replaceAll(/\s+/gu, " ")}`;
  return `${key}${isRequired ? "" : "?"}: ${render(schema, place)}${preset};${comment}`;
}

function renderNotes(schema: JsonSchema): unknown[] {
  const notes = [schema["description"], ...renderLimits(schema)];
  return notes.filter((note) => typeof note === "string" && note !== "");
}

/** Writes a text as a comment of one line, which nothing in it can end. */
export function toDocComment(text: string): string {
  return `/** ${text
    .replaceAll(/\s+/gu, " ")
    .trim()
    .replaceAll("*/", String.raw`*\/`)} */`;
}

function renderLimits(schema: JsonSchema): string[] {
  const limits: string[] = [];
  if (schema["type"] === "integer") limits.push("whole");
  if (typeof schema["minimum"] === "number") limits.push(`≥ ${schema["minimum"]}`);
  if (typeof schema["maximum"] === "number") limits.push(`≤ ${schema["maximum"]}`);
  if (typeof schema["format"] === "string") limits.push(schema["format"]);
  if (typeof schema["pattern"] === "string") limits.push(`/${schema["pattern"]}/`);
  return limits;
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
