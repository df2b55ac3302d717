import type { Problem } from "../../core/errors.ts";
import { copyJson, maxJsonDepth, type JsonValue } from "../../core/json.ts";
import { checkLeniently } from "../../core/schema/validator.ts";
import { readJson } from "../../models/prompted/read-json.ts";
import { createSource } from "../../models/prompted/source.ts";
import type { OutputRule } from "./run-state.ts";

/** What is to be made of a text that must be JSON of a certain form. */
export type OutputReading =
  | { readonly ok: true; readonly output: JsonValue }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Reads the output out of the last text of a model, also if it is in a block of code or has words around it. */
export async function readOutput(text: string, rule: OutputRule): Promise<OutputReading> {
  const value = parseLeniently(text);
  if (value === undefined) return { ok: false, problems: [{ path: "", expected: "JSON", found: "something else" }] };
  const checked = checkLeniently(rule.json, value);
  if (!checked.ok) return { ok: false, problems: checked.problems };
  const refined = await rule.refine?.(checked.value);
  if (refined === undefined) return { ok: true, output: checked.value };
  if (!refined.ok) return { ok: false, problems: refined.problems };
  return { ok: true, output: refined.value as JsonValue };
}

/** What can be read without repairs comes first: the text itself, what is in its last block of code, what is between its brackets. */
function parseLeniently(text: string): JsonValue | undefined {
  const said = withoutThoughts(text);
  const blocks = [...said.matchAll(/```(?:json)?[ \t]*\n([^]*?)```/gu)].map(([, block]) => block ?? "");
  const found = [text, said, blocks.at(-1), between(said, "{", "}"), between(said, "[", "]")];
  const candidates = found.filter((candidate) => candidate !== undefined && candidate.trim() !== "") as string[];
  for (const read of [parse, repair]) {
    for (const candidate of candidates) {
      const value = read(candidate);
      if (value !== undefined) return value;
    }
  }
  return undefined;
}

/** Some servers leave what a model thinks in its text. */
function withoutThoughts(text: string): string {
  return text.replace(/^[^]*<\/think(?:ing)?>/iu, "").replace(/^\s*<think(?:ing)?>[^]*/iu, "");
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Reads what is almost JSON, to its end: what was cut off is not completed. */
function repair(text: string): JsonValue | undefined {
  const whole = text.trim();
  if (!/^[{[]/u.test(whole)) return undefined;
  const read = readJson(createSource(whole), 0);
  if (!read.ok || read.incomplete.size > 0 || read.end < whole.length) return undefined;
  const copy = copyJson(read.value, { maxBytes: whole.length * 8, maxDepth: maxJsonDepth });
  return copy.ok ? copy.value : undefined;
}

function between(text: string, open: string, close: string): string | undefined {
  const start = text.indexOf(open);
  const end = text.lastIndexOf(close);
  return start === -1 || end < start ? undefined : text.slice(start, end + 1);
}
