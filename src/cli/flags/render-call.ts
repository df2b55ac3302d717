import { isDeepStrictEqual } from "node:util";

import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { toShellWord } from "../to-shell-word.ts";
import { applySettings } from "./apply-settings.ts";
import { toFlagNames } from "./flag-names.ts";
import { getShape } from "./parameter.ts";
import { parseFlags } from "./parse-flags.ts";

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
