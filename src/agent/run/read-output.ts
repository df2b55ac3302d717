import type { Problem } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import { checkLeniently } from "../../core/schema/validator.ts";
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

/** The text itself, then what is in its last block of code, then what is between its outermost brackets. */
function parseLeniently(text: string): JsonValue | undefined {
  const blocks = [...text.matchAll(/```(?:json)?[ \t]*\n([^]*?)```/gu)].map(([, block]) => block ?? "");
  for (const candidate of [text, blocks.at(-1), between(text, "{", "}"), between(text, "[", "]")]) {
    if (candidate === undefined || candidate.trim() === "") continue;
    try {
      return JSON.parse(candidate) as JsonValue;
    } catch {
      // The next one may be.
    }
  }
  return undefined;
}

function between(text: string, open: string, close: string): string | undefined {
  const start = text.indexOf(open);
  const end = text.lastIndexOf(close);
  return start === -1 || end < start ? undefined : text.slice(start, end + 1);
}
