import { showValue } from "../json.ts";
import { isSchemaObject } from "./json-schema.ts";

/** Says in a few words what a schema wants: `a list of integer`, `one of "a", "b"`. For messages. */
export function describeSchema(schema: unknown, depth = 0): string {
  if (!isSchemaObject(schema)) return schema === false ? "nothing" : "anything";
  if (Array.isArray(schema["enum"])) return describeChoices(schema["enum"]);
  if ("const" in schema) return showValue(schema["const"]);
  const branches = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(branches) && depth < 2) {
    return [...new Set(branches.map((branch) => describeSchema(branch, depth + 1)))].join(" or ");
  }
  const { type } = schema;
  if (type === "array" && depth < 2) return describeList(schema["items"], depth);
  if (Array.isArray(type)) return type.map((name) => typeName(name)).join(" or ");
  return typeName(type);
}

/** Lists allowed values, the first dozen of them. */
export function describeChoices(choices: readonly unknown[]): string {
  const shown = choices.slice(0, 12).map(showValue);
  if (choices.length > shown.length) shown.push(`${choices.length - shown.length} more`);
  return shown.length === 1 ? String(shown[0]) : `one of ${shown.join(", ")}`;
}

function describeList(items: unknown, depth: number): string {
  return isSchemaObject(items) ? `a list of ${describeSchema(items, depth + 1)}` : "a list";
}

const typeNames: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  null: "null",
};

function typeName(type: unknown): string {
  return typeof type === "string" && Object.hasOwn(typeNames, type) ? (typeNames[type] ?? "anything") : "anything";
}
