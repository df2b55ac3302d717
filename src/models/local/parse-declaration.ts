import { parseJson } from "./conversation.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";

interface Reader {
  readonly text: string;
  at: number;
}

/** Deeper ones are not read: nothing in a sentence fills them. */
const deepest = 12;
const longest = 100_000;

/**
 * Reads the input type of a tool as `renderSchema` writes it: `{ path: string; limit?: number = 10; // how many }`. Limits of a value
 * are only part of its description. `undefined` for any other text. Takes time in proportion to the text.
 */
export function parseDeclaration(text: string): JsonSchema | undefined {
  return readObject({ text: text.slice(0, longest), at: 0 }, 0);
}

/** Takes what comes next, behind spaces, if it is this. */
function take(reader: Reader, pattern: RegExp): string | undefined {
  const next = new RegExp(`\\s*(?:${pattern.source})`, "uy");
  next.lastIndex = reader.at;
  const found = next.exec(reader.text)?.[0];
  if (found !== undefined) reader.at += found.length;
  return found?.trim();
}

function readObject(reader: Reader, depth: number): JsonSchema | undefined {
  if (depth > deepest || take(reader, /\{/u) === undefined) return undefined;
  const properties: [string, JsonSchema][] = [];
  const required: string[] = [];
  while (take(reader, /\}/u) === undefined) {
    const said = take(reader, /"(?:[^"\\]|\\.){0,300}"|[\p{L}_$][\p{L}\p{N}_$]{0,300}/u);
    const name = said?.startsWith('"') === true ? parseJson(said) : said;
    const isOptional = take(reader, /\?/u) !== undefined;
    const type = take(reader, /:/u) === undefined ? undefined : readUnion(reader, depth + 1);
    if (typeof name !== "string" || type === undefined) return undefined;
    properties.push([name, { ...type, ...readFacts(reader) }]);
    if (!isOptional) required.push(name);
  }
  return { type: "object", properties: Object.fromEntries(properties), required };
}

/** Of several types the first that is more than `null`; of values all. */
function readUnion(reader: Reader, depth: number): JsonSchema | undefined {
  const parts: JsonSchema[] = [];
  do {
    let part = readType(reader, depth);
    while (part !== undefined && take(reader, /\[\]/u) !== undefined) part = { type: "array", items: part };
    if (part === undefined) return undefined;
    parts.push(part);
  } while (take(reader, /[|&]/u) !== undefined);
  const values = parts.filter((part) => "const" in part).map((part) => part["const"]);
  if (values.length > 0) return { type: typeof values[0], enum: values };
  return parts.find((part) => part["type"] !== "null") ?? {};
}

function readType(reader: Reader, depth: number): JsonSchema | undefined {
  const literal = take(reader, /"(?:[^"\\]|\\.){0,2000}"|-?\d+(?:\.\d+)?|true\b|false\b/u);
  if (literal !== undefined) return { const: parseJson(literal) };
  const group = depth > deepest ? undefined : take(reader, /[([]|Record<string,/u);
  if (group === undefined) {
    const name = take(reader, /[a-z]+/u);
    return name === undefined ? readObject(reader, depth) : /unknown|never/u.test(name) ? {} : { type: name };
  }
  const inside = readUnion(reader, depth + 1);
  while (take(reader, /,/u) !== undefined) readUnion(reader, depth + 1);
  if (inside === undefined || take(reader, /[)\]>]/u) === undefined) return undefined;
  return group === "(" ? inside : group === "[" ? { type: "array", items: inside } : { type: "object" };
}

/** What stands behind a type: a default, and what is said in the comment. */
function readFacts(reader: Reader): JsonSchema {
  const preset = take(reader, /= (?:"(?:[^"\\\n]|\\.){0,2000}"|[^;\n]{1,2000}?(?=;| \/\/|\n|$))/u);
  take(reader, /;/u);
  const description = take(reader, /\/\/[^\n]*/u)?.replace(/^\/\/ ?/u, "");
  const [, format] = /(?:^|, )(date|date-time|email|uri)$/u.exec(description ?? "") ?? [];
  return {
    ...(preset !== undefined && { default: parseJson(preset.slice(2)) }),
    ...(description !== undefined && { description }),
    ...(format !== undefined && { format }),
  };
}
