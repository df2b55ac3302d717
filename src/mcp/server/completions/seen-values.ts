import { redactValue } from "../../../core/redaction/redact.ts";
import type { JsonObject, JsonValue } from "../../../core/json.ts";
import type { LogEntry } from "../../../core/store.ts";
import { callStream } from "../../../store/stats/call-records.ts";
import type { ServedClient } from "../served-client.ts";
import { toText } from "./schema-values.ts";

/** Only the last records are looked at, a few at a time: each may be large. */
const mostRecords = 500;
const pageSize = 100;
const mostSeen = 50;

type Fields = Readonly<Record<string, JsonValue | undefined>>;

/**
 * The values that the caller gave to an argument of a tool before, the latest first. What was taken out of a record, or looks like a
 * secret, is not among them; nor is what others gave.
 */
export async function findSeenValues(client: ServedClient, tool: string, argument: string): Promise<readonly string[]> {
  const records = await readRecords(client);
  const values = records
    .filter((record) => record["type"] === "call-start" && record["tool"] === tool && isOwn(record, client))
    .flatMap((record) => toSeen(record["input"], argument));
  return [...new Set(values)].slice(0, mostSeen);
}

/** The handles of large outputs that the caller got before, the latest first. */
export async function findSeenHandles(client: ServedClient): Promise<readonly string[]> {
  const records = await readRecords(client);
  const own = new Set(
    records
      .filter((record) => record["type"] === "call-start" && isOwn(record, client))
      .map((record) => record["call"]),
  );
  const handles = records
    .filter((record) => record["type"] === "call-end" && own.has(record["call"]))
    .flatMap((record) => toText(toFields(toFields(record["outcome"])["capped"])["handle"]));
  return [...new Set(handles)].slice(0, mostSeen);
}

/** The last records of calls, the latest first. */
async function readRecords({ store }: ServedClient): Promise<readonly Fields[]> {
  if (store === undefined) return [];
  const end = await store.log.position(callStream);
  const start = Math.max(0, end - mostRecords);
  const entries: LogEntry[] = [];
  for (let after = start; after < end; after += pageSize) {
    entries.push(...(await store.log.read(callStream, { after, limit: Math.min(pageSize, end - after) })));
  }
  return entries.toReversed().map((entry) => toFields(entry.value));
}

/** Whoever sits at the machine sees what was recorded without a name. */
function isOwn(record: Fields, { caller }: ServedClient): boolean {
  return record["user"] === caller.id || (record["user"] === undefined && caller.id === "local");
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
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonObject) : {};
}
