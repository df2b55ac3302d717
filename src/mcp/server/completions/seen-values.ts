import type { JsonObject, JsonValue } from "../../../core/json.ts";
import { redactValue } from "../../../core/redaction/redact.ts";
import { callStream } from "../../../records/stats/call-records.ts";
import type { ServedClient } from "../client.ts";
import { toText } from "./schema-values.ts";

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
export async function findSeenValues(client: ServedClient, tool: string, argument: string): Promise<readonly string[]> {
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
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonObject) : {};
}
