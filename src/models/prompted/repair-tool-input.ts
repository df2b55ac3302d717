import { isRecord, type JsonObject } from "../../core/json.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { checkInput } from "./check-call.ts";
import { toInput } from "./call-draft.ts";
import { readJson } from "./read-value.ts";
import { createSource, skipSpace } from "./source.ts";

/** What {@link repairToolInput} answers. */
export type RepairedInput =
  | { readonly ok: true; readonly input: JsonObject; readonly repairs: readonly string[] }
  | { readonly ok: false; readonly message: string };

/**
 * Reads the input of a native tool call that is not JSON, or not of the tool: single quotes, trailing commas, comments, fences,
 * JSON in a text. Without `schema` any object will do.
 *
 * Contract: never throws. An input that was cut off is not repaired: what is missing cannot be known.
 *
 * @example
 * ```ts
 * import { repairToolInput } from "kitbag/models";
 *
 * const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
 *
 * const repaired = repairToolInput("{'city': 'Paris',}", schema);
 * console.assert(repaired.ok && repaired.input["city"] === "Paris" && repaired.repairs.length === 2);
 * console.assert(!repairToolInput('{"city": "Par', schema).ok);
 * ```
 */
export function repairToolInput(text: string, schema: JsonSchema = {}): RepairedInput {
  const tool = { name: "the tool", inputSchema: schema };
  const repairs: string[] = [];
  const value = readInput(text, repairs);
  if (value === undefined) {
    return { ok: false, message: "Cannot read the input: it is not a JSON object, or it was cut off; write it again" };
  }
  const checked = checkInput(tool, toInput(value, undefined, repairs));
  return checked.ok ? { ...checked, repairs: [...new Set([...repairs, ...checked.repairs])] } : checked;
}

/** The value in a text, without the surrounding prose; `undefined` if the text has no value. */
function readInput(text: string, repairs: string[]): unknown {
  const inner = text.replace(/^\s*```[a-z]{0,8}\s*(?=[{[])/u, "").replace(/```\s*$/u, "");
  if (inner.length !== text.length) repairs.push("a fence was dropped");
  if (inner.trim() === "") return {};
  const source = createSource(inner);
  const start = skipSpace(source, 0);
  if (source.text.charAt(start) === '"') return parseText(inner, repairs);
  if (source.text.charAt(start) !== "{") return undefined;
  const read = readJson(source, start);
  if (!read.ok || read.incomplete.size > 0 || !isRecord(read.value)) return undefined;
  if (!/^[\s}\])]*$/u.test(inner.slice(read.end))) return undefined;
  repairs.push(...read.repairs);
  if (inner.slice(read.end).trim() !== "") repairs.push("brackets too many were dropped");
  return read.value;
}

function parseText(text: string, repairs: string[]): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    repairs.push("JSON that was written as a text was read");
    return typeof value === "string" && value.trim().startsWith("{") ? value : undefined;
  } catch {
    return undefined;
  }
}
