import type { JsonSchema } from "../../../core/schema/json-schema.ts";

/** A schema that was read, and where in the text it ends. */
export interface ReadSchema {
  readonly schema: JsonSchema;
  readonly end: number;
}

interface Reader {
  readonly text: string;
  at: number;
}

/** Deeper ones are not read: nobody fills them from a sentence. */
const deepest = 12;

/** Longer ones are no declarations. */
const longest = 100_000;

/**
 * Reads what a tool takes as `renderSchema` writes it (`{ path: string; limit?: number = 10; // how many }`), with or without
 * semicolons, from `at` on. `undefined` if there is no such thing. Takes time in proportion to the text.
 */
export function parseDeclaration(text: string, at = 0): ReadSchema | undefined {
  const reader: Reader = { text: text.slice(0, at + longest), at };
  skipSpace(reader);
  if (reader.text[reader.at] !== "{") return undefined;
  const schema = readObject(reader, 0);
  return schema === undefined ? undefined : { schema, end: reader.at };
}

function skipSpace(reader: Reader): void {
  while (/\s/u.test(reader.text[reader.at] ?? "")) reader.at += 1;
}

/** Takes a piece if it comes next; else it stays where it was, since a line may end there. */
function takes(reader: Reader, piece: string): boolean {
  const { at } = reader;
  skipSpace(reader);
  const isNext = reader.text.startsWith(piece, reader.at);
  reader.at = isNext ? reader.at + piece.length : at;
  return isNext;
}

function match(reader: Reader, pattern: RegExp): string | undefined {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text)?.[0];
  if (found !== undefined) reader.at += found.length;
  return found;
}

function readObject(reader: Reader, depth: number): JsonSchema | undefined {
  if (depth > deepest || !takes(reader, "{")) return undefined;
  const properties: [string, JsonSchema][] = [];
  const required: string[] = [];
  while (!takes(reader, "}")) {
    const name = readName(reader);
    const isOptional = takes(reader, "?");
    if (name === undefined || !takes(reader, ":")) return undefined;
    const type = readUnion(reader, depth + 1);
    if (type === undefined) return undefined;
    properties.push([name, { ...type, ...readFacts(reader) }]);
    if (!isOptional) required.push(name);
  }
  return { type: "object", properties: Object.fromEntries(properties), required };
}

function readName(reader: Reader): string | undefined {
  skipSpace(reader);
  const quoted = match(reader, /"(?:[^"\\]|\\.){0,300}"/uy);
  if (quoted !== undefined) return String(parseJson(quoted));
  return match(reader, /[\p{L}_$][\p{L}\p{N}_$]{0,300}/uy);
}

/** Of several types the first that says something; of values all. */
function readUnion(reader: Reader, depth: number): JsonSchema | undefined {
  const parts: JsonSchema[] = [];
  do {
    const part = readList(reader, depth);
    if (part === undefined) return undefined;
    parts.push(part);
  } while (takes(reader, "|") || takes(reader, "&"));
  const values = parts.filter((part) => "const" in part).map((part) => part["const"]);
  if (values.length > 0) return { type: typeof values[0], enum: values };
  return parts.find((part) => part["type"] !== "null") ?? {};
}

function readList(reader: Reader, depth: number): JsonSchema | undefined {
  let type = readType(reader, depth);
  while (type !== undefined && reader.text.startsWith("[]", reader.at)) {
    reader.at += 2;
    type = { type: "array", items: type };
  }
  return type;
}

function readType(reader: Reader, depth: number): JsonSchema | undefined {
  skipSpace(reader);
  const first = reader.text[reader.at];
  if (first === "{") return readObject(reader, depth);
  if (first === "(" || first === "[") return readGroup(reader, depth, first);
  const literal = match(reader, /"(?:[^"\\]|\\.){0,2000}"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|(?:true|false)\b/uy);
  if (literal !== undefined) return { const: parseJson(literal) };
  if (takes(reader, "Record<string,")) {
    const values = readUnion(reader, depth + 1);
    return values !== undefined && takes(reader, ">") ? { type: "object", additionalProperties: values } : undefined;
  }
  const name = match(reader, /[a-z]+/uy);
  return name === undefined ? undefined : /^(?:unknown|never)$/u.test(name) ? {} : { type: name };
}

/** `(string | number)[]`, `[number, number]` */
function readGroup(reader: Reader, depth: number, open: "(" | "["): JsonSchema | undefined {
  if (depth > deepest) return undefined;
  reader.at += 1;
  const items: JsonSchema[] = [];
  do {
    const item = readUnion(reader, depth + 1);
    if (item === undefined) return undefined;
    items.push(item);
  } while (takes(reader, ","));
  if (!takes(reader, open === "(" ? ")" : "]")) return undefined;
  return open === "(" ? items[0] : { type: "array", items: items[0] as JsonSchema };
}

/** What stands behind a type: a default, and what is said in the comment. */
function readFacts(reader: Reader): JsonSchema {
  const preset = match(reader, / = (?:"(?:[^"\\\n]|\\.){0,2000}"|[^;\n]{1,2000}?(?=;| \/\/|\n|$))/uy);
  match(reader, /;/uy);
  const comment = match(reader, / ?\/\/[^\n]*/uy)?.replace(/^ ?\/\/ ?/u, "") ?? "";
  const value = preset === undefined ? undefined : parseJson(preset.slice(3).trim());
  return { ...(value !== undefined && { default: value }), ...readComment(comment) };
}

const formats = /^(?:date|date-time|time|email|uri|uri-reference|url|uuid|hostname|ipv4|ipv6|duration)$/u;

/** "Where to start, whole, ≥ 1": what limits a value is said behind its description. */
function readComment(comment: string): JsonSchema {
  const parts = comment === "" ? [] : comment.split(", ");
  const facts: Record<string, unknown> = {};
  while (parts.length > 0) {
    const last = parts.at(-1) as string;
    const [, sign = "", limit = ""] = /^([≥≤]) (-?[\d.e+-]+)$/u.exec(last) ?? [];
    if (sign !== "") facts[sign === "≥" ? "minimum" : "maximum"] = Number(limit);
    else if (last === "whole") facts["type"] = "integer";
    else if (formats.test(last)) facts["format"] = last;
    else if (/^\/.+\/$/u.test(last)) facts["pattern"] = last.slice(1, -1);
    else break;
    parts.pop();
  }
  return { ...facts, ...(parts.length > 0 && { description: parts.join(", ") }) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
