import { KitbagError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ArgvMapping, ArgvPart, ChoicePart, CountPart, FlagPart, PositionalPart } from "./argv-mapping.ts";

/** What a script is started with, after its interpreter and its own path. */
export interface ScriptInvocation {
  readonly argv: readonly string[];
  /** Standard input; nothing is written to it when this is not set. */
  readonly stdin?: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Turns `input` into the command line that means it, by `mapping`. Pure: the same input gives the same words, and nothing in a
 * value is ever read as anything but that value.
 *
 * @throws {KitbagError} `input-invalid` if a value has a NUL character: no operating system passes one on. `tool` names the tool
 * in it.
 */
export function toArgv(mapping: ArgvMapping, input: JsonObject, tool = "script"): ScriptInvocation {
  const argv: string[] = [];
  const env: Record<string, string> = {};
  for (const segment of toSegments(mapping.parts)) argv.push(...toSegmentWords(segment, mapping.separator, input));
  for (const part of mapping.parts) {
    const value = part.kind === "env" ? valueOf(input, part.property) : undefined;
    if (part.kind === "env" && value !== undefined) env[part.variable] = toWord(value);
  }
  if (mapping.otherFlags) argv.splice(flagsPlace(mapping, argv), 0, ...toOtherFlags(mapping, input));
  const stdin = toStdin(mapping, input);
  refuseNul(tool, [...argv, ...Object.values(env)]);
  return { argv, env, ...(stdin !== undefined && { stdin }) };
}

/** Where flags that no part knows are written: after the words of the sub-command, before everything else. */
function flagsPlace({ parts }: ArgvMapping, argv: readonly string[]): number {
  const last = parts.findLast((part) => part.kind === "word");
  return last?.kind === "word" ? argv.indexOf(last.word) + 1 : 0;
}

/** The name of a flag; anything else would be read as something that the caller did not mean. */
const flagName = /^[A-Za-z][\w.-]*$/u;

function toOtherFlags({ parts }: ArgvMapping, input: JsonObject): readonly string[] {
  const own = new Set(parts.flatMap((part) => (part.kind === "word" ? [] : [part.property])));
  return Object.keys(input).flatMap((property) => {
    const value = own.has(property) || !flagName.test(property) ? undefined : valueOf(input, property);
    if (value === undefined || value === false) return [];
    const part = { kind: "flag", property, flag: property.length === 1 ? `-${property}` : `--${property}` } as const;
    return toFlagWords({ ...part, many: "repeat", alone: true, joint: "=" }, value);
  });
}

/** The parts before, between and after the words of a sub-command: each is a command line of its own. */
function toSegments(parts: readonly ArgvPart[]): readonly (readonly ArgvPart[])[] {
  const segments: ArgvPart[][] = [[]];
  for (const part of parts) {
    if (part.kind === "word") segments.push([part]);
    else segments.at(-1)?.push(part);
  }
  return segments;
}

function toSegmentWords(
  parts: readonly ArgvPart[],
  separator: ArgvMapping["separator"],
  input: JsonObject,
): readonly string[] {
  const words: string[] = [];
  const positionals = toPositionals(parts, input);
  let isWritten = false;
  let endsOpen = false;
  for (const part of parts) {
    if (part.kind !== "positional") {
      const own = toWords(part, input);
      if (own.length > 0) endsOpen = isOpen(part, own);
      words.push(...own);
    } else if (!isWritten) {
      isWritten = true;
      if (needsSeparator(separator, positionals, endsOpen)) words.push("--");
      words.push(...positionals);
    }
  }
  return words;
}

/** Whether a word after these would be taken for one more value of the flag. */
function isOpen(part: ArgvPart, words: readonly string[]): boolean {
  return part.kind === "flag" && (part.many === "list" || (part.alone !== undefined && words.length === 1));
}

function toWords(part: Exclude<ArgvPart, PositionalPart>, input: JsonObject): readonly string[] {
  if (part.kind === "word") return [part.word];
  const value = valueOf(input, part.property);
  if (value === undefined) return [];
  switch (part.kind) {
    case "flag":
      return toFlagWords(part, value);
    case "choice":
      return toChoiceWords(part, value);
    case "count":
      return toCountWords(part, value);
    case "env":
    case "stdin":
    case "field":
      return [];
  }
}

function toFlagWords(part: FlagPart, value: JsonValue): readonly string[] {
  if (part.omit !== undefined && isSame(part.omit, value)) return [];
  if (part.alone !== undefined && isSame(part.alone, value)) return [part.flag];
  if (!Array.isArray(value) || part.many === undefined) return joinFlag(part, toWord(value, part.booleans));
  const words = (value as readonly JsonValue[]).map((item) => toWord(item, part.booleans));
  switch (part.many) {
    case "repeat":
      return words.flatMap((word) => joinFlag(part, word));
    case "comma":
      return joinFlag(part, words.join(","));
    case "list":
      // Only a list of one can be joined to its flag: a second word would no longer belong to it.
      return words.length === 1 ? joinFlag(part, words[0] ?? "") : [part.flag, ...words];
  }
}

function joinFlag(part: FlagPart, word: string): readonly string[] {
  const isJoined = part.joint !== undefined && (part.joined === "always" || looksLikeFlag(word));
  return isJoined ? [`${part.flag}${part.joint ?? ""}${word}`] : [part.flag, word];
}

function toChoiceWords(part: ChoicePart, value: JsonValue): readonly string[] {
  const values = Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
  return values.flatMap((item) => {
    const key = toWord(item);
    return Object.hasOwn(part.words, key) ? (part.words[key] ?? []) : [];
  });
}

/** More is not meant; a number from a model may still be anything. */
const mostRepeats = 100;

function toCountWords(part: CountPart, value: JsonValue): readonly string[] {
  const count = typeof value === "number" && value > 0 ? Math.min(Math.floor(value), mostRepeats) : 0;
  return Array.from({ length: count }, () => part.flag);
}

/** The words of all positionals; a gap before one that is given is filled. */
function toPositionals(parts: readonly ArgvPart[], input: JsonObject): readonly string[] {
  const words: string[] = [];
  let given = 0;
  for (const part of parts) {
    if (part.kind !== "positional") continue;
    const value = valueOf(input, part.property);
    if (value === undefined) {
      if (part.many === undefined) words.push(part.fill ?? "");
      continue;
    }
    const items = part.many && Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
    words.push(...items.map((item) => toWord(item)));
    given = words.length;
  }
  return words.slice(0, given);
}

function needsSeparator(
  separator: ArgvMapping["separator"],
  positionals: readonly string[],
  endsOpen: boolean,
): boolean {
  if (separator === undefined || positionals.length === 0) return false;
  return separator === "always" || endsOpen || positionals.some(looksLikeFlag);
}

/** `-` alone means standard input by custom; it is a value. */
function looksLikeFlag(word: string): boolean {
  return word.startsWith("-") && word !== "-";
}

function toStdin(mapping: ArgvMapping, input: JsonObject): string | undefined {
  const own = new Set<string>();
  const fields: string[] = [];
  for (const part of mapping.parts) {
    if (part.kind === "word") continue;
    own.add(part.property);
    if (part.kind === "field") fields.push(part.property);
    if (part.kind !== "stdin") continue;
    const value = valueOf(input, part.property);
    if (value !== undefined) return part.as === "json" ? JSON.stringify(value) : toWord(value);
  }
  if (fields.length === 0 && !mapping.otherFields) return undefined;
  const others = mapping.otherFields ? Object.keys(input).filter((key) => !own.has(key)) : [];
  const given = [...fields, ...others].filter((key) => Object.hasOwn(input, key));
  return JSON.stringify(Object.fromEntries(given.map((key) => [key, input[key]])));
}

/** Nothing and null are the same to a command line: the parameter is not given. */
function valueOf(input: JsonObject, property: string): JsonValue | undefined {
  return Object.hasOwn(input, property) ? (input[property] ?? undefined) : undefined;
}

/** Writes a value as one word: text as it is, whole numbers without an exponent, lists and objects as JSON. */
export function toWord(value: JsonValue, [forTrue, forFalse]: readonly [string, string] = ["true", "false"]): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? forTrue : forFalse;
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value).toString() : String(value);
  return JSON.stringify(value);
}

function isSame(left: JsonValue, right: JsonValue): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}

function refuseNul(tool: string, words: readonly string[]): void {
  const index = words.findIndex((word) => word.includes("\0"));
  if (index === -1) return;
  const problem = { path: "", expected: "text without NUL characters", found: `one in argument ${index + 1}` };
  throw new KitbagError("input-invalid", { tool, problems: [problem] });
}
