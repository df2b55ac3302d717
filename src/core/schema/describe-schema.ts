import { showValue, toPath } from "../json.ts";
import { isSchemaObject, type JsonSchema, wantedTypes } from "./json-schema.ts";
import { branchesOf, choicesOf } from "./rank-branches.ts";

/** Says in a few words what a schema wants: `a list of whole numbers`, `one of "a", "b"`. For messages. */
export function describeSchema(schema: unknown, depth = 0): string {
  if (!isSchemaObject(schema)) return schema === false ? "nothing" : "anything";
  const choices = choicesOf(schema);
  if (choices !== undefined) return describeChoices(choices);
  const branches = branchesOf(schema);
  if (branches !== undefined && depth < 2) {
    return [...new Set(branches.map((branch) => describeSchema(branch, depth + 1)))].join(" or ");
  }
  const types = wantedTypes(schema);
  if (types.length === 0) return "anything";
  return types.map((type) => describeType(type, schema, depth)).join(" or ");
}

/** Who must choose one needs to see them all; a longer list is data. */
const mostChoices = 32;

/** Lists allowed values, the first {@link mostChoices} of them. */
export function describeChoices(choices: readonly unknown[]): string {
  return choices.length === 1 ? showValue(choices[0]) : `one of ${listSome(choices.map(showValue), mostChoices)}`;
}

/** Lists names of properties, the first dozen of them. */
export function describeNames(names: readonly string[]): string {
  return listSome(names.map((name) => toPath([name])));
}

function listSome(texts: readonly string[], most = 12): string {
  const shown = texts.slice(0, most);
  return (shown.length < texts.length ? [...shown, `${texts.length - shown.length} more`] : shown).join(", ");
}

const typeNames: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ["a string", "strings"],
  number: ["a number", "numbers"],
  integer: ["a whole number", "whole numbers"],
  boolean: ["true or false", "true or false"],
  object: ["an object", "objects"],
  array: ["a list", "lists"],
  null: ["null", "null"],
};

function describeType(type: string, schema: JsonSchema, depth: number): string {
  if (type === "array" && depth < 2) return describeList(schema["items"], depth);
  if (type === "object" && depth === 1) return describeObject(schema);
  return typeNames[type]?.[0] ?? "anything";
}

function describeList(items: unknown, depth: number): string {
  if (!isSchemaObject(items)) return "a list";
  const [type, ...others] = wantedTypes(items);
  if (type !== undefined && others.length === 0 && choicesOf(items) === undefined) {
    return `a list of ${typeNames[type]?.[1] ?? "things"}`;
  }
  const item = describeSchema(items, depth + 1);
  return item === "anything" ? "a list" : `a list, each item ${item}`;
}

/** One of several objects is told apart by what it must have. */
function describeObject({ required }: JsonSchema): string {
  return Array.isArray(required) && required.length > 0
    ? `an object with ${describeNames(required as string[])}`
    : "an object";
}
