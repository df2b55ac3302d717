import { isDeepStrictEqual } from "node:util";

import { showValue, type JsonObject, type JsonValue } from "../../core/json.ts";
import { describeSchema } from "../../core/schema/describe-schema.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { toFlagNames, getChoices, getShape, getTypes, isSwitch } from "./parameter.ts";
import { toShellWord } from "../render.ts";
import { applySettings, parseFlags } from "./parse-flags.ts";

/** A flag of a tool, for people. */
export interface FlagDescription {
  /** As it is typed: `--count`, `--filter.size`, `--[no-]verbose`. */
  readonly flag: string;
  /** What value it takes: `a whole number`, `one of "a", "b"`. */
  readonly value: string;
  readonly required: boolean;
  readonly description: string;
}

/** Describes the flags of a schema, those of objects inside too, down to the third level. */
export function describeFlags(root: JsonSchema, schema: JsonSchema = root, prefix = "", depth = 0): FlagDescription[] {
  const { properties, required } = getShape(root, schema);
  const names = toFlagNames(properties.keys());
  return [...properties].flatMap(([parameter, property]) => {
    const name = prefix + (names.get(parameter) ?? parameter);
    const inside = depth < 2 ? describeFlags(root, property, `${name}.`, depth + 1) : [];
    return [describeOne(root, property, { name, required: required.has(parameter) }), ...inside];
  });
}

function describeOne(
  root: JsonSchema,
  schema: JsonSchema,
  { name, required }: { name: string; required: boolean },
): FlagDescription {
  const words = typeof schema["description"] === "string" ? schema["description"] : "";
  const fallback = "default" in schema ? `default ${showDefault(schema["default"])}` : "";
  const isRepeated = getTypes(root, schema).has("array") ? "may be given again" : "";
  return {
    flag: isSwitch(root, schema) ? `--[no-]${name}` : `--${name}`,
    value: describeValue(root, schema),
    required,
    description: [words, fallback, isRepeated].filter((part) => part !== "").join("; "),
  };
}

function describeValue(root: JsonSchema, schema: JsonSchema): string {
  const choices = getChoices(root, schema);
  if (choices.length > 0) return describeSchema({ enum: choices });
  const types = [...getTypes(root, schema)];
  return schema["type"] === undefined && types.length > 0 ? describeSchema({ type: types }) : describeSchema(schema);
}

function showDefault(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : showValue(value);
}

/** Writes the command line that calls a tool with `input`: by flags where they say exactly that, else by `--input`. */
export function renderCall(address: string, schema: JsonSchema, input: JsonObject): string {
  const words = toWords(schema, input);
  const shown = words !== undefined && saysSame(schema, words, input) ? words : ["--input", JSON.stringify(input)];
  return ["kitbag", "call", address, ...shown].map(toShellWord).join(" ");
}

function toWords(schema: JsonSchema, input: JsonObject): string[] | undefined {
  const names = toFlagNames(getShape(schema, schema).properties.keys());
  const words: string[] = [];
  for (const [parameter, value] of Object.entries(input)) {
    const name = names.get(parameter);
    if (name === undefined) return undefined;
    const values: readonly JsonValue[] = Array.isArray(value) ? value : [value];
    words.push(...values.flatMap((item) => toFlagWords(name, item)));
  }
  return words;
}

function toFlagWords(name: string, value: JsonValue): string[] {
  if (typeof value === "boolean") return [value ? `--${name}` : `--no-${name}`];
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.startsWith("--") ? [`--${name}=${text}`] : [`--${name}`, text];
}

function saysSame(schema: JsonSchema, words: readonly string[], input: JsonObject): boolean {
  try {
    return isDeepStrictEqual(applySettings({}, parseFlags(schema, words)), input);
  } catch {
    return false;
  }
}
