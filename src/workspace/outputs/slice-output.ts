import { KitbagError } from "../../core/errors.ts";
import { type JsonValue, showValue, toPath } from "../../core/json.ts";
import type { OutputReader, OutputBlobs } from "./kept-outputs.ts";
import { checkHandle, checkWhole } from "./read-output.ts";

/** Which part of an output that is JSON. */
export interface SliceOutputOptions extends OutputReader {
  /** Where it is: `rows`, `rows[3].name`, `["an odd key"]`. @default the whole */
  readonly path?: string;
  /** Of a list: the first item, from 0. @default 0 */
  readonly from?: number;
  /** Of a list: how many items, at most 1000. @default 100 */
  readonly limit?: number;
}

/** A part of an output that is JSON. */
export interface OutputSlice {
  readonly path: string;
  /** In words, what is there. */
  readonly shape: string;
  /** The value; of a list the items that were asked for. */
  readonly value: JsonValue;
  /** Of a list: where the next items begin; none at the end. */
  readonly nextFrom?: number;
}

const maxLimit = 1000;

/**
 * Takes a part out of an output that is JSON.
 *
 * @throws {KitbagError} `output-missing`, or `option-invalid` if the output is no JSON, the path leads nowhere (it says what is
 * there instead) or an option is wrong.
 */
export async function sliceOutput(
  blobs: Pick<OutputBlobs, "size" | "slice">,
  handle: string,
  options: SliceOutputOptions = {},
): Promise<OutputSlice> {
  const { path = "", from = 0, limit = 100 } = options;
  checkWhole("from", from, 0);
  checkWhole("limit", limit, 1, maxLimit);
  const steps = parsePath(path);
  const value = walk(await loadJson(blobs, handle), steps);
  const found = { path: toPath(steps), shape: describeShape(value) };
  if (!isList(value)) return { ...found, value };
  const next = from + limit;
  return { ...found, value: value.slice(from, next), ...(next < value.length && { nextFrom: next }) };
}

async function loadJson(blobs: Pick<OutputBlobs, "size" | "slice">, handle: string): Promise<JsonValue> {
  const digest = checkHandle(handle);
  const size = await blobs.size(digest);
  const bytes = size === undefined ? undefined : await blobs.slice(digest, 0, size);
  if (bytes === undefined) throw new KitbagError("output-missing", { handle });
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as JsonValue;
  } catch {
    // A position in the text is of no use: the caller has not seen the text.
    const expected = "an output that is JSON; read this one by pages, or search it";
    throw new KitbagError("option-invalid", { option: "handle", found: "an output that is text", expected });
  }
}

function walk(value: JsonValue, steps: readonly (string | number)[]): JsonValue {
  let here = value;
  for (const [index, step] of steps.entries()) {
    const next = stepInto(here, step);
    if (next === undefined) {
      const place = toPath(steps.slice(0, index)) || "the output";
      const expected = `a path that exists: ${place} is ${describeShape(here)}`;
      throw new KitbagError("option-invalid", { option: "path", found: showValue(toPath(steps)), expected });
    }
    here = next;
  }
  return here;
}

function stepInto(value: JsonValue, step: string | number): JsonValue | undefined {
  if (isList(value)) return typeof step === "number" ? value[step] : undefined;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
  return value[step];
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

const longestPath = 10_000;
const grammar = /(?:\.|^)(?<key>[\p{L}_$][\p{L}\p{N}_$-]*)|\[(?:(?<index>\d{1,15})|(?<quoted>"(?:[^"\\]|\\.)*"))\]/uy;

/**
 * Reads a path as messages show it: `filters[0].size`, `["an odd key"].x`. The empty one is the whole.
 *
 * @throws {KitbagError} `option-invalid` if it is no path.
 */
export function parsePath(path: string): readonly (string | number)[] {
  const steps: (string | number)[] = [];
  if (typeof path !== "string" || path.length > longestPath) refuse(path);
  grammar.lastIndex = 0;
  while (grammar.lastIndex < path.length) {
    const { key, index, quoted } = grammar.exec(path)?.groups ?? refuse(path);
    steps.push(key ?? (index === undefined ? parseQuoted(path, quoted as string) : Number(index)));
  }
  return steps;
}

function parseQuoted(path: string, quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return refuse(path);
  }
}

function refuse(path: unknown): never {
  const expected = 'a path such as rows[3].name or ["an odd key"]';
  throw new KitbagError("option-invalid", { option: "path", found: showValue(path), expected });
}

/** Says what a value looks like, in one line: `a list of 1200 objects with id, name`. */
export function describeShape(value: JsonValue): string {
  if (typeof value === "string") return `text of ${value.length} characters`;
  if (Array.isArray(value)) {
    const [first] = value as readonly JsonValue[];
    return first === undefined ? "an empty list" : `a list of ${value.length}; the first is ${describeItem(first)}`;
  }
  return describeItem(value);
}

function describeItem(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value !== "object") return `a ${typeof value}`;
  const keys = Object.keys(value);
  const shown = keys.slice(0, 20).join(", ");
  return `an object with ${keys.length > 20 ? `${shown} and ${keys.length - 20} more` : shown || "no properties"}`;
}
