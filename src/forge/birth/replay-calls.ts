import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { LogEntry, Store } from "../../core/store.ts";
import type { Tool } from "../../core/tool.ts";
import type { ReplayDifference, ReplayReport } from "../forge-interface.ts";
import { createBench, isSameOutput, type Trial } from "./run-examples.ts";

/** The stream of the store's log that calls are recorded in. */
const callStream = "calls";

/** How far back is looked, in entries. */
const mostEntries = 20_000;
const pageEntries = 1000;

/** Which calls are made again. */
export interface Replay {
  readonly store: Store | undefined;
  /** The version that was live when they were made. */
  readonly before: Tool;
  /** Milliseconds since 1970: when it became live. */
  readonly since: number;
  readonly maxCalls: number;
}

/**
 * Makes recorded calls of a tool again with its new version, and tells what comes out differently. Only calls of tools that may be
 * run again, that succeeded, and in whose input nothing was hidden; each input once, the latest first.
 */
export async function replayCalls(after: Tool, replay: Replay, trial: Trial): Promise<ReplayReport> {
  const { store, before, since, maxCalls } = replay;
  const { readOnly, idempotent } = before.annotations;
  if (maxCalls === 0) return nothing("the policy replays none");
  if (store === undefined) return nothing("no calls are recorded: there is no store");
  if (readOnly !== true && idempotent !== true) return nothing("the tool is neither read-only nor idempotent");
  const recorded = await findCalls(store, { tool: before.name, since, maxCalls });
  if (recorded.length === 0) return nothing("no calls of the version before are recorded that can be made again");
  const bench = createBench(after, trial);
  const differences: ReplayDifference[] = [];
  for (const { input, output } of recorded) {
    trial.signal?.throwIfAborted();
    const { outcome } = await bench.call(input);
    if (outcome.status === "failed") differences.push({ input, before: output, error: outcome.error });
    else if (!isSameOutput(output, outcome.output)) differences.push({ input, before: output, after: outcome.output });
  }
  return { calls: recorded.length, same: recorded.length - differences.length, differences };
}

function nothing(skipped: string): ReplayReport {
  return { calls: 0, same: 0, differences: [], skipped };
}

interface RecordedCall {
  readonly input: JsonObject;
  readonly output: JsonValue;
}

interface Search {
  readonly tool: string;
  readonly since: number;
  readonly maxCalls: number;
}

/** Looks from the end of the log: the end of a call comes before its beginning then. */
async function findCalls({ log }: Store, { tool, since, maxCalls }: Search): Promise<readonly RecordedCall[]> {
  const ended = new Map<string, JsonValue>();
  const found = new Map<string, RecordedCall>();
  const last = await log.position(callStream);
  for (let end = last; end > 0 && end > last - mostEntries && found.size < maxCalls; end -= pageEntries) {
    const after = Math.max(0, end - pageEntries);
    const entries = await log.read(callStream, { after, limit: end - after });
    for (const entry of entries.toReversed()) {
      if (found.size === maxCalls) break;
      const output = readEnd(entry, tool);
      if (output !== undefined) ended.set(output.call, output.value);
      const call = readStart(entry, tool, ended);
      if (call !== undefined && entry.time >= since) found.set(JSON.stringify(call.input), call);
    }
    if ((entries[0]?.time ?? 0) < since) break;
  }
  return [...found.values()];
}

function readEnd({ value }: LogEntry, tool: string): { call: string; value: JsonValue } | undefined {
  const { type, call, tool: of, outcome } = fieldsOf(value);
  const { status, output, capped } = fieldsOf(outcome);
  if (type !== "call-end" || of !== tool || typeof call !== "string") return undefined;
  if (status !== "ok" || output === undefined || capped !== undefined || isHidden(output)) return undefined;
  return { call, value: output };
}

function readStart({ value }: LogEntry, tool: string, ended: Map<string, JsonValue>): RecordedCall | undefined {
  const { type, call, tool: of, input } = fieldsOf(value);
  if (type !== "call-start" || of !== tool || typeof call !== "string") return undefined;
  const output = ended.get(call);
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  if (output === undefined || !isObject || isHidden(input)) return undefined;
  return { input: input as JsonObject, output };
}

/** What stands in for a secret: `[email]`, `[GITHUB_TOKEN]`. Texts that only look like it are left out, too. */
const mark = /\[[A-Za-z][\w -]{0,63}\]/u;

function isHidden(value: JsonValue): boolean {
  if (typeof value === "string") return mark.test(value);
  return typeof value === "object" && value !== null && Object.values(value).some((one: JsonValue) => isHidden(one));
}

function fieldsOf(value: JsonValue | undefined): Readonly<Record<string, JsonValue | undefined>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
