import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";

import { isRecord, type JsonObject, type JsonValue, showValue } from "../../core/json.ts";
import { type Invocation, usageError } from "../cli-command.ts";
import { describeFileError } from "../../platform/files.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import { findParameter, getShape } from "../flags/parameter.ts";
import { applySettings, parseFlags, type ParseFlagsOptions } from "../flags/parse-flags.ts";
import { getText } from "../options.ts";

/** As JSON, with all its blanks and line breaks; more than any workspace takes unless it is told to. */
const maxBytes = 256 * 1024 * 1024;

/**
 * Reads what `--input` names: JSON, `-` for standard input, `@file` for a file.
 *
 * @throws {KitbagError} `usage-invalid` if it is not a JSON object.
 */
export async function readInput(given: string, { cwd, terminal }: Invocation): Promise<JsonObject> {
  const refuse = (): never => refuseLong("--input", maxBytes);
  const text =
    given === "-" ? await terminal.readInput(maxBytes).catch(refuse) : readText("--input", given, cwd, maxBytes);
  const value = parseInput(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw usageError(`Cannot use --input: expected a JSON object like {"name": "value"}, found ${showValue(value)}`);
}

/** No tool takes a value that is deeper, and millions of levels would use up the memory before an error could be reported. */
const maxDepth = 1000;

/**
 * Reads JSON that a person or a program gave.
 *
 * @throws {KitbagError} `usage-invalid` if it is not JSON, or nested more than 1000 deep.
 */
function parseInput(text: string, name = "--input"): unknown {
  if (isTooDeep(text)) throw usageError(`Cannot use ${name}: it is nested more than ${maxDepth} levels deep`);
  try {
    return JSON.parse(text.replace(/^\uFEFF/u, ""));
  } catch (cause) {
    const problem = text.trim() === "" ? "nothing" : (cause as Error).message.slice(0, 200);
    throw usageError(`Cannot use ${name}: expected JSON, found ${problem}`);
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInText = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (isInText) {
      if (character === "\\") index += 1;
      else if (character === '"') isInText = false;
    } else if (character === '"') isInText = true;
    else if (character === "[" || character === "{") depth += 1;
    else if (character === "]" || character === "}") depth -= 1;
    if (depth > maxDepth) return true;
  }
  return false;
}

/** What a workspace takes as an input unless it is told otherwise: no value of it can be longer. */
const maxValueBytes = 16 * 1024 * 1024;

/**
 * The text that a person gives with a flag: of a file if it begins with `@`, else as it is. Two of them stand for one `@`.
 *
 * @throws {KitbagError} `usage-invalid` if the file cannot be read, is no text, or is longer than `maxBytes`.
 */
export function readText(flag: string, given: string, cwd: string, maxBytes: number = maxValueBytes): string {
  if (!given.startsWith("@")) return given;
  if (given.startsWith("@@")) return given.slice(1);
  const bytes = readBytes({ flag, given, path: resolve(cwd, given.slice(1)) }, maxBytes);
  if (bytes.length > maxBytes) return refuseLong(flag, maxBytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw usageError(`Cannot read ${flag} ${given}: it is not text in UTF-8`);
  }
}

interface NamedFile {
  readonly flag: string;
  readonly given: string;
  readonly path: string;
}

/** Reads a file or a pipe, and one byte more than may be at most: a pipe does not say how long it is. */
function readBytes({ flag, given, path }: NamedFile, maxBytes: number): Uint8Array {
  try {
    const stats = statSync(path);
    if (stats.isFile() || stats.isFIFO()) return readUpTo(path, maxBytes + 1);
    if (!stats.isDirectory()) throw new Error("it is neither a file nor a pipe; name a file");
    throw new Error("it is a folder");
  } catch (cause) {
    throw usageError(`Cannot read ${flag} ${given}: ${describeFileError(cause)}`);
  }
}

const pieceBytes = 64 * 1024;

function readUpTo(path: string, mostBytes: number): Uint8Array {
  const file = openSync(path, "r");
  const pieces: Uint8Array[] = [];
  try {
    for (let left = mostBytes; left > 0;) {
      const piece = Buffer.allocUnsafe(Math.min(left, pieceBytes));
      const count = readSync(file, piece);
      if (count === 0) break;
      pieces.push(piece.subarray(0, count));
      left -= count;
    }
  } finally {
    closeSync(file);
  }
  return Buffer.concat(pieces);
}

/** @throws {KitbagError} `usage-invalid`: what was given is too long. */
function refuseLong(flag: string, maxBytes: number): never {
  throw usageError(`Cannot use ${flag}: it is longer than ${maxBytes} bytes`);
}

/** How the words behind a tool's address are read. */
export interface ToolInputOptions extends ParseFlagsOptions {
  /** Reads the words as the tool's script would, if they are no flags of its parameters: `data.csv -o out.json`. */
  readonly readCommand?: ScriptCode["readCommand"] | undefined;
  /** The parameter that becomes the script's standard input, and those that name files which it reads. */
  readonly stdin?: { readonly parameter: string; readonly readers: readonly string[] };
}

/**
 * Makes the input of a tool out of `--input` and the flags behind it, which go before it.
 *
 * @throws {KitbagError} `usage-invalid` for what cannot be read, or is no flag of the tool.
 */
export async function toToolInput(
  schema: JsonSchema,
  words: readonly string[],
  invocation: Invocation,
  options: ToolInputOptions,
): Promise<JsonObject> {
  const given = getText(invocation.options, "input");
  const flags = words.filter((word, index) => word !== "--" || words.indexOf("--") !== index);
  const isOwn = given !== undefined && isOwnInput(schema, given);
  const input = given === undefined || isOwn ? {} : await readInput(given, invocation);
  const read = readWords(schema, isOwn ? [`--input=${given}`, ...flags] : flags, options, input);
  if (options.stdin === undefined || given === "-") return read;
  const isAsked = wantsStdin(read, options.stdin) || (words.length === 0 && given === undefined && isRedirected());
  return isAsked ? withStdin(schema, read, options.stdin.parameter, invocation) : read;
}

/** Whether the caller names standard input, as the script does: `-` in place of a file. */
function wantsStdin(input: JsonObject, { parameter, readers }: NonNullable<ToolInputOptions["stdin"]>): boolean {
  const own = input[parameter];
  if (own !== undefined) return own === "-" || (Array.isArray(own) && own.length === 1 && own[0] === "-");
  return readers.flatMap((name) => input[name]).some((value) => value === "-" || value === "/dev/stdin");
}

/** Whether standard input is a file, or what another program of the same command line prints: both come to an end. */
function isRedirected(): boolean {
  try {
    const stats = fstatSync(0);
    return stats.isFIFO() || stats.isFile();
  } catch {
    return false;
  }
}

/** Hands our standard input on to the script: as text, or as the JSON that its parameter takes. */
async function withStdin(
  schema: JsonSchema,
  input: JsonObject,
  parameter: string,
  { terminal }: Invocation,
): Promise<JsonObject> {
  const text = await terminal.readInput(maxValueBytes).catch(() => refuseLong("standard input", maxValueBytes));
  const { type } = toRecord(toRecord(schema["properties"])[parameter]);
  const takesText = type === undefined || [type].flat().includes("string");
  return { ...input, [parameter]: takesText ? text : (parseInput(text, "standard input") as JsonValue) };
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** Flags of the tool's parameters; else, if that is what they are, words of its script's command line. */
function readWords(
  schema: JsonSchema,
  words: readonly string[],
  options: ToolInputOptions,
  input: JsonObject = {},
): JsonObject {
  try {
    return applySettings(input, parseFlags(schema, words, options));
  } catch (cause) {
    const read = options.readCommand?.(words);
    if (read === undefined || read.unknownFlags.length > 0 || read.unknownWords.length > 0) throw cause;
    return { ...input, ...read.input };
  }
}

/** A tool may have a parameter `input`: what neither is JSON nor names where JSON is, is its value. */
function isOwnInput(schema: JsonSchema, given: string): boolean {
  return (
    findParameter("input", getShape(schema, schema).properties.keys()) !== undefined && !/^\s*\{|^-$|^@/u.test(given)
  );
}
