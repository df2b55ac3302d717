import { isDeepStrictEqual } from "node:util";

import { parse as parseToml, stringify as stringifyToml } from "smol-toml";

import { isRecord, type JsonObject, type JsonValue } from "../../core/json.ts";
import { type ClientRow, tokenPlaceholder } from "./clients.ts";
import { append, parseJsonc, removeJsonc, setJsonc } from "./edit-jsonc.ts";

/** How servers are written in a file. */
export type ServerFormat = Pick<ClientRow, "format" | "key">;

/** The servers of a file, by name. */
export type Servers = Readonly<Record<string, JsonValue>>;

/** What changes in a file. */
export interface ServerEdits {
  /** What is written under a name; nothing to take it out. */
  readonly servers: ReadonlyMap<string, JsonObject | undefined>;
  /** Added to what the client asks its user for, unless something of this id is there. */
  readonly inputs?: readonly JsonObject[];
}

/**
 * Reads the servers of a client's file; a file that is empty has none.
 *
 * @throws {Error} that says why the text is not what the client reads.
 */
export function readServers(text: string, { format, key }: ServerFormat): Servers {
  const document = readDocument(text, format);
  if (!isRecord(document)) throw new SyntaxError("it does not hold an object");
  const servers = document[key];
  if (servers === undefined) return {};
  if (isRecord(servers)) return servers as Servers;
  throw new SyntaxError(`${key} is not an object`);
}

/**
 * Changes servers in the text of a client's file, and nothing else: comments, order and indentation stay. Of a server that is there
 * already, the keys that say how it is reached are replaced; its other keys stay.
 *
 * @throws {Error} as {@link readServers}, and if the file is written so that the change would touch more than the servers.
 */
export function editServers(text: string, format: ServerFormat, edits: ServerEdits): string {
  const before = readServers(text, format);
  const after: Record<string, JsonValue> = { ...before };
  let edited = text;
  for (const [name, wanted] of edits.servers) {
    const entry = wanted === undefined ? undefined : mergeEntry(before[name], wanted);
    if (isDeepStrictEqual(entry, before[name])) continue;
    if (entry === undefined) delete after[name];
    else after[name] = entry;
    edited =
      format.format === "toml"
        ? setTomlTable(edited, [format.key, name], entry)
        : setEntry(edited, format, [name, entry]);
  }
  edited = addInputs(edited, format, edits.inputs ?? []);
  if (isAsWanted(edited, { text, after }, format)) return edited;
  throw new SyntaxError(`${format.key} is written in a way that Kitbag cannot change without touching the rest`);
}

/** Whether a text has these servers, and everything else as it was. */
function isAsWanted(
  edited: string,
  { text, after }: { readonly text: string; readonly after: Servers },
  format: ServerFormat,
): boolean {
  try {
    const isChanged = isDeepStrictEqual(toPlain(readServers(edited, format)), toPlain(after));
    return isChanged && isDeepStrictEqual(readRest(edited, format), readRest(text, format));
  } catch {
    return false;
  }
}

function readDocument(text: string, format: ClientRow["format"]): unknown {
  if (format === "toml") return parseToml(text);
  const isEmpty = text.replace(/^\uFEFF/u, "").trim() === "";
  return isEmpty ? {} : parseJsonc(text, { hasComments: format === "jsonc" });
}

/** The keys by which one client or another says how a server is reached. */
const ways = new Set(["type", "command", "args", "url", "httpUrl", "serverUrl", "headers", "bearer_token_env_var"]);
const ownVariables = new Set(["KITBAG_HOME", "KITBAG_AUTHORIZATION"]);

function mergeEntry(before: JsonValue | undefined, wanted: JsonObject): JsonObject {
  if (!isRecord(before)) return wanted;
  const merged: Record<string, JsonValue> = {};
  const ownKeys = Object.keys(wanted);
  for (const [key, value] of Object.entries(before)) {
    if (ownKeys.includes(key) || !ways.has(key)) merged[key] = value;
  }
  for (const [key, value] of Object.entries(wanted))
    merged[key] = key === "enabled" ? (merged[key] ?? value) : fill(value, merged[key]);
  for (const key of ["env", "environment"]) {
    const [old, own] = [before[key], wanted[key]];
    if (!isRecord(old)) continue;
    const kept = Object.entries(old).filter(([name]) => !ownVariables.has(name));
    const variables = {
      ...Object.fromEntries(kept),
      ...(isRecord(own) && (fill(own, old) as JsonObject)),
    };
    if (Object.keys(variables).length > 0) merged[key] = variables;
    else delete merged[key];
  }
  return merged;
}

/** A token that the user put in the place of the placeholder stays. */
function fill(value: JsonValue, before: JsonValue | undefined): JsonValue {
  if (typeof value === "string") return value.includes(tokenPlaceholder) && typeof before === "string" ? before : value;
  if (!isRecord(value) || !isRecord(before)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner, before[key])]));
}

function setEntry(
  text: string,
  { format, key }: ServerFormat,
  [name, entry]: readonly [string, JsonObject | undefined],
): string {
  const dialect = { hasComments: format === "jsonc" };
  const whole = text.replace(/^\uFEFF/u, "").trim() === "" ? "{}\n" : text;
  if (entry === undefined) return removeJsonc(whole, [key, name], dialect);
  const before = readServers(whole, { format, key })[name];
  if (!isRecord(before)) return setJsonc(whole, [key, name], entry, dialect);
  let edited = whole;
  for (const old of Object.keys(before)) {
    if (entry[old] === undefined) edited = removeJsonc(edited, [key, name, old], dialect);
  }
  for (const [inner, value] of Object.entries(entry)) {
    if (!isDeepStrictEqual(before[inner], value)) edited = setJsonc(edited, [key, name, inner], value, dialect);
  }
  return edited;
}

function addInputs(text: string, { format }: ServerFormat, inputs: readonly JsonObject[]): string {
  if (inputs.length === 0) return text;
  const dialect = { hasComments: format === "jsonc" };
  const { inputs: known = [] } = parseJsonc(text, dialect) as { readonly inputs?: readonly JsonObject[] };
  return inputs
    .filter(({ id }) => !known.some((one) => one["id"] === id))
    .reduce((edited, input) => setJsonc(edited, ["inputs", append], input, dialect), text);
}

/** Takes out the tables of a name, with those below, and writes the new one in their place, or at the end. */
function setTomlTable(text: string, path: readonly [string, string], table: JsonObject | undefined): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text.split(/\r?\n/u);
  const kept: string[] = [];
  let place: number | undefined;
  let isOwn = false;
  for (const [index, line] of lines.entries()) {
    const header = readHeader(line);
    if (header !== undefined) {
      const isNext = path.every((key, depth) => header[depth] === key);
      // Comments and blank lines above the next table belong to that one.
      if (isOwn && !isNext) kept.push(...lines.slice(0, index).slice(findGap(lines, index)));
      isOwn = isNext;
      if (isOwn) place ??= kept.length;
    }
    if (!isOwn) kept.push(line);
  }
  if (isOwn) kept.push("");
  if (table === undefined) return kept.join(newline);
  const [key, name] = path;
  const written = stringifyToml({ [key]: { [name]: table } })
    .trim()
    .split("\n");
  if (place !== undefined) return kept.toSpliced(place, 0, ...written).join(newline);
  const body = kept.join(newline).trimEnd();
  return `${body === "" ? "" : `${body}${newline}${newline}`}${written.join(newline)}${newline}`;
}

/** Where the blank lines and comments above a line begin. */
function findGap(lines: readonly string[], index: number): number {
  let start = index;
  while (start > 0 && /^\s*(?:#.*)?$/u.test(lines[start - 1] ?? "")) start -= 1;
  return start;
}

/** The keys of a line that begins a table: `[a."b.c"]`. */
function readHeader(line: string): readonly string[] | undefined {
  if (!/^\s*\[/u.test(line)) return undefined;
  try {
    const keys: string[] = [];
    let value: unknown = parseToml(line);
    while (isRecord(value) || Array.isArray(value)) {
      const inner: unknown = Array.isArray(value) ? value[0] : value;
      const [key] = Object.keys(inner as object);
      if (key === undefined) break;
      keys.push(key);
      value = (inner as JsonObject)[key];
    }
    return keys;
  } catch {
    // The line of an array.
    return undefined;
  }
}

/** Everything but the servers and the inputs. */
function readRest(text: string, { format, key }: ServerFormat): unknown {
  const { [key]: _, inputs: __, ...rest } = readDocument(text, format) as JsonObject;
  return toPlain(rest);
}

/** TOML's objects have no prototype. */
function toPlain(value: unknown): unknown {
  if (value instanceof Date || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toPlain);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toPlain(inner)]));
}
