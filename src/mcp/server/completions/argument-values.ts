import { untilTimeout } from "../../../core/async.ts";
import { isRecord, type JsonValue } from "../../../core/json.ts";
import { nearestNames } from "../../../core/nearest.ts";
import { redactValue } from "../../../core/redaction/redact.ts";
import { followReferences, isSchemaObject, type JsonSchema } from "../../../core/schema/json-schema.ts";
import type { Tool } from "../../../core/tool.ts";
import { callStream } from "../../../records/stats/call-records.ts";
import { createDispatchView } from "../../../workspace/dispatch/dispatch-view.ts";
import type { RegisteredTool } from "../../../workspace/registry/registered-tool.ts";
import type { ServedClient } from "../client.ts";
import { findVisibleSkills } from "../skills/attach-skills.ts";

/** Finds values for an argument of a tool: those that its schema names, paths, and those that were given before. */
export async function completeToolArgument(
  client: ServedClient,
  { tool, address }: RegisteredTool,
  argument: string,
  typed: string,
): Promise<readonly string[]> {
  const facts = readArgument(tool, argument);
  if (facts === undefined || facts.isSecret) return [];
  const paths = facts.isPath ? await findPaths(client, typed) : [];
  const seen = await findSeenValues(client, address, argument);
  return [...facts.values, ...seen, ...paths];
}

/** The names of the arguments of a tool. */
export function listArguments({ tool }: RegisteredTool): readonly string[] {
  return Object.keys((tool.inputSchema["properties"] as object | undefined) ?? {});
}

/** The addresses of all tools that a model may know of, those that are available first. */
export function listToolAddresses({ session }: ServedClient): readonly string[] {
  const view = createDispatchView(session);
  const available = session.getAvailableTools().map((entry) => entry.address);
  const closed = findVisibleSkills({ session }).flatMap((skill) =>
    skill.tools.map((tool) => `${skill.name}/${tool.name}`),
  );
  return [...available.toSorted(), ...closed.filter((address) => view.getTool(address) !== undefined).toSorted()];
}

/** What a schema says of one argument of a tool. */
interface ArgumentFacts {
  /** Values that the schema and the examples name. */
  readonly values: readonly string[];
  readonly isPath: boolean;
  /** Its values are never shown. */
  readonly isSecret: boolean;
}

const secretFormats: ReadonlySet<unknown> = new Set(["password", "secret"]);
const pathFormats: ReadonlySet<unknown> = new Set(["path", "file-path", "directory-path"]);
const pathWords = /(?:^|[_.-])(?:paths?|files?|filename|dir|directory|folder)(?:$|[_.-])/iu;
const secretWords = /pass(?:word|phrase|wd)?|secret|token|credential|api[_-]?key|private[_-]?key|authorization/iu;

/** Reads what is known of an argument; `undefined` if the tool has none of this name. */
function readArgument(tool: Tool, argument: string): ArgumentFacts | undefined {
  const { inputSchema } = tool;
  const properties = inputSchema["properties"];
  if (!isSchemaObject(properties) || !Object.hasOwn(properties, argument)) return undefined;
  const schema = followReferences(inputSchema, properties[argument]);
  if (!isSchemaObject(schema)) return { values: [], isPath: false, isSecret: secretWords.test(argument) };
  const isSecret = secretWords.test(argument) || schema["writeOnly"] === true || secretFormats.has(schema["format"]);
  const own = findValues(inputSchema, schema, 0);
  const examples = tool.examples.map(({ input }) => (Object.hasOwn(input, argument) ? input[argument] : undefined));
  return {
    values: isSecret ? [] : [...own, ...examples, schema["default"]].flatMap(toText),
    isPath: schema["type"] === "string" && (pathFormats.has(schema["format"]) || pathWords.test(toWords(argument))),
    isSecret,
  };
}

/** `inputFile` has the words of `input-file`. */
function toWords(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/gu, "-");
}

const deepest = 4;

/** The values that a schema lists, in its choices and in the items of a list too. */
function findValues(root: JsonSchema, given: unknown, depth: number): readonly unknown[] {
  const schema = followReferences(root, given);
  if (!isSchemaObject(schema) || depth > deepest) return [];
  const { type } = schema as { readonly type?: unknown };
  const choices = ["anyOf", "oneOf", "allOf"].flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : []));
  return [
    ...(Array.isArray(schema["enum"]) ? schema["enum"] : []),
    ...("const" in schema ? [schema["const"]] : []),
    ...(type === "boolean" ? [true, false] : []),
    ...choices.flatMap((choice) => findValues(root, choice, depth + 1)),
    ...findValues(root, schema["items"], depth + 1),
    ...(Array.isArray(schema["examples"]) ? schema["examples"] : []),
  ];
}

const longestValue = 200;

/** A value as it is typed; nothing for a value that people do not type. */
function toText(value: unknown): readonly string[] {
  const isTyped = typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
  const text = isTyped ? String(value) : "";
  return text !== "" && text.length <= longestValue ? [text] : [];
}

/** Only the last records are looked at, a few at a time because each may be large, and not for long. */
const mostRecords = 500;
const pageSize = 25;
const limitMs = 200;
const mostSeen = 50;

type Fields = Readonly<Record<string, JsonValue | undefined>>;

/**
 * The values that the caller gave to an argument of a tool before, the latest first. What was taken out of a record, or looks like a
 * secret, is not among them; nor is what others gave.
 */
async function findSeenValues(client: ServedClient, tool: string, argument: string): Promise<readonly string[]> {
  const seen = new Set<string>();
  for await (const record of latestRecords(client)) {
    if (record["type"] !== "call-start" || record["tool"] !== tool || !isOwn(record, client)) continue;
    for (const value of toSeen(record["input"], argument)) seen.add(value);
    if (seen.size >= mostSeen) break;
  }
  return [...seen];
}

/** The handles of large outputs that the caller got before, the latest first. */
export async function findSeenHandles(client: ServedClient): Promise<readonly string[]> {
  // Who made a call is said where it began, which comes later here.
  const ended = new Map<JsonValue | undefined, readonly string[]>();
  const seen = new Set<string>();
  for await (const record of latestRecords(client)) {
    if (record["type"] === "call-end") {
      ended.set(record["call"], toText(toFields(toFields(record["outcome"])["capped"])["handle"]));
    } else if (record["type"] === "call-start" && isOwn(record, client)) {
      for (const handle of ended.get(record["call"]) ?? []) seen.add(handle);
    }
    if (seen.size >= mostSeen) break;
  }
  return [...seen];
}

/** The last records of calls, the latest first. */
async function* latestRecords({ store }: ServedClient): AsyncGenerator<Fields> {
  if (store === undefined) return;
  const begun = performance.now();
  const end = await store.log.position(callStream);
  const first = Math.max(0, end - mostRecords);
  for (let before = end; before > first && performance.now() - begun < limitMs; before -= pageSize) {
    const after = Math.max(first, before - pageSize);
    const page = await store.log.read(callStream, { after, limit: before - after });
    for (const entry of page.toReversed()) yield toFields(entry.value);
  }
}

/** What was recorded without a user is the local user's. */
function isOwn({ user }: Fields, { caller, workspace }: ServedClient): boolean {
  return workspace.ownerOf(user as string | undefined) === workspace.ownerOf(caller.id);
}

/** What stands in place of something that was taken out: `[GITHUB_TOKEN]`, `[email]`. */
const label = /\[[\w.*-]+\]/u;

function toSeen(input: JsonValue | undefined, argument: string): readonly string[] {
  const fields = toFields(input);
  const value = Object.hasOwn(fields, argument) ? fields[argument] : undefined;
  if (value === undefined) return [];
  const shown = redactValue({ [argument]: value })[argument];
  return shown === value ? toText(value).filter((text) => !label.test(text)) : [];
}

function toFields(value: JsonValue | undefined): Fields {
  return isRecord(value) ? value : {};
}

const longestPath = 1024;
const searchMs = 2000;
const mostPaths = 1000;

/**
 * Finds paths that begin with what is typed, where `listFiles` looks. A way up (`..`) finds nothing, and neither does a search that fails
 * or takes too long.
 */
export async function findPaths({ listFiles }: ServedClient, typed: string): Promise<readonly string[]> {
  if (listFiles === undefined || typed.length > longestPath || !isInside(typed)) return [];
  try {
    const paths = await untilTimeout(listFiles(typed), searchMs, () => []);
    return paths.filter(isInside).slice(0, mostPaths);
  } catch {
    return [];
  }
}

function isInside(path: string): boolean {
  return !path.includes("\0") && !path.split(/[/\\]/u).includes("..");
}

/** The maximum number of values in an answer; the protocol allows no more. */
export const mostValues = 100;

/** Values for what is typed, and how many there are in all. */
interface PickedValues {
  readonly values: readonly string[];
  readonly total: number;
  readonly hasMore: boolean;
}

const mostNearest = 10;

/**
 * Chooses the values that may be meant by what is typed: those that begin with it, then those that hold it, then those that are
 * like it. Among equals the order stays; upper and lower case are the same.
 */
export function pickValues(candidates: Iterable<string>, typed: string): PickedValues {
  const all = [...new Set(candidates)];
  const wanted = typed.toLowerCase();
  const begins = all.filter((value) => value.toLowerCase().startsWith(wanted));
  const holds = all.filter((value) => value.toLowerCase().indexOf(wanted) > 0);
  const picked = new Set([...begins, ...holds]);
  const near = nearestNames(
    typed,
    all.filter((value) => !picked.has(value)),
    mostNearest,
  );
  const values = [...picked, ...near];
  return { values: values.slice(0, mostValues), total: values.length, hasMore: values.length > mostValues };
}
