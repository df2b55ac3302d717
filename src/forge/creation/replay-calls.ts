import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { LogEntry, Store } from "../../core/store.ts";
import type { Tool } from "../../core/tool.ts";
import { callStream } from "../../records/stats/call-records.ts";
import { findLimitedCaller, type LimitedCaller } from "../../workspace/call/authority.ts";
import type { ReplayDifference, ReplayReport, ForgeEvent } from "../forge-interface.ts";
import { createBench, isSameOutput, type Bench, type Trial } from "./run-examples.ts";

/** How far back is looked, in entries. */
const mostEntries = 20_000;
const pageEntries = 1000;

/** Which calls are made again. */
interface Replay {
  readonly store: Store | undefined;
  /** What the tool is called by. */
  readonly address: string;
  /** The version that is live. */
  readonly before: Tool;
  /** When it was live, and those before it whose inputs it takes, too; the oldest first. */
  readonly windows: readonly LiveWindow[];
  readonly maxCalls: number;
}

/**
 * Makes recorded calls of a tool again with its new version, and tells what comes out differently. Only calls of tools that may be
 * run again, that succeeded, and in whose input nothing was hidden; each input once, the latest first. What was answered by an
 * earlier version is asked of the live one first: only what this edit changes is told. A caller who may not call every tool sees only
 * calls of their own.
 */
export async function replayCalls(after: Tool, replay: Replay, trial: Trial): Promise<ReplayReport> {
  const { store, address, before, windows, maxCalls } = replay;
  const { readOnly, idempotent } = before.annotations;
  if (maxCalls === 0) return nothing("the policy replays none");
  if (store === undefined) return nothing("no calls are recorded: there is no store");
  if (readOnly !== true && idempotent !== true) return nothing("the tool is neither read-only nor idempotent");
  const caller = findLimitedCaller(trial.call);
  const recorded = await findCalls(store, { tool: address, windows, maxCalls, caller });
  const [live, bench] = [createBench(before, trial), createBench(after, trial)];
  const differences: ReplayDifference[] = [];
  let calls = 0;
  for (const { input, ...answered } of recorded) {
    trial.signal?.throwIfAborted();
    const output = answered.by === before.version ? answered.output : await outputOf(live, input);
    if (output === undefined) continue;
    calls += 1;
    const { outcome } = await bench.call(input);
    if (outcome.status === "failed") differences.push({ input, before: output, error: outcome.error });
    else if (!isSameOutput(output, outcome.output)) differences.push({ input, before: output, after: outcome.output });
  }
  if (calls === 0) return nothing(caller === undefined ? noCalls : `${noCalls}, and those of others are not for you`);
  return { calls, same: calls - differences.length, differences };
}

const noCalls = "no calls of the version before are recorded that can be made again";

async function outputOf(bench: Bench, input: JsonObject): Promise<JsonValue | undefined> {
  const { outcome } = await bench.call(input);
  return outcome.status === "ok" ? outcome.output : undefined;
}

function nothing(skipped: string): ReplayReport {
  return { calls: 0, same: 0, differences: [], skipped };
}

interface RecordedCall {
  readonly input: JsonObject;
  readonly output: JsonValue;
  /** The one that it was of, if that was recorded. */
  readonly version?: string;
}

/** A call, and the version that it was of. */
interface AnsweredCall extends RecordedCall {
  readonly by: string;
}

interface Search {
  readonly tool: string;
  /** A caller who may not call every tool sees only their own inputs. */
  readonly caller: LimitedCaller | undefined;
  readonly windows: readonly LiveWindow[];
  readonly maxCalls: number;
}

/** Looks from the end of the log: the end of a call comes before its beginning then. */
async function findCalls({ log }: Store, search: Search): Promise<readonly AnsweredCall[]> {
  const ended = new Map<string, JsonValue>();
  const found = new Map<string, AnsweredCall>();
  const since = search.windows[0]?.from ?? Infinity;
  const last = await log.position(callStream);
  for (let end = last; end > 0 && end > last - mostEntries && found.size < search.maxCalls; end -= pageEntries) {
    const after = Math.max(0, end - pageEntries);
    const entries = await log.read(callStream, { after, limit: end - after });
    for (const entry of entries.toReversed()) take(entry, search, { ended, found });
    if ((entries[0]?.time ?? 0) < since) break;
  }
  return [...found.values()];
}

interface Found {
  readonly ended: Map<string, JsonValue>;
  /** By input. */
  readonly found: Map<string, AnsweredCall>;
}

function take(entry: LogEntry, { tool, windows, maxCalls, caller }: Search, { ended, found }: Found): void {
  if (found.size === maxCalls) return;
  const output = readEnd(entry, tool);
  if (output !== undefined) ended.set(output.call, output.value);
  const call = isFor(caller, entry) ? answeredBy(readStart(entry, tool, ended), entry, windows) : undefined;
  const key = JSON.stringify(call?.input);
  if (call !== undefined && !found.has(key)) found.set(key, call);
}

function isFor(caller: LimitedCaller | undefined, { value }: LogEntry): boolean {
  return caller === undefined || caller.owns(fieldsOf(value)["user"]);
}

/** A call with the version that it was of, or else was live then, if that is one whose calls are looked for. */
function answeredBy(
  call: RecordedCall | undefined,
  { time }: LogEntry,
  windows: readonly LiveWindow[],
): AnsweredCall | undefined {
  const said = call?.version;
  const by = windows.findLast(({ version, from, to }) =>
    said === undefined ? time >= from && time < to : version === said,
  )?.version;
  return call === undefined || by === undefined ? undefined : { ...call, by };
}

function readEnd({ value }: LogEntry, tool: string): { call: string; value: JsonValue } | undefined {
  const { type, call, tool: of, outcome } = fieldsOf(value);
  const { status, output, capped } = fieldsOf(outcome);
  if (type !== "call-end" || of !== tool || typeof call !== "string") return undefined;
  if (status !== "ok" || output === undefined || capped !== undefined || isHidden(output)) return undefined;
  return { call, value: output };
}

function readStart({ value }: LogEntry, tool: string, ended: Map<string, JsonValue>): RecordedCall | undefined {
  const { type, call, tool: of, input, version } = fieldsOf(value);
  if (type !== "call-start" || of !== tool || typeof call !== "string") return undefined;
  const output = ended.get(call);
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  if (output === undefined || !isObject || isHidden(input)) return undefined;
  return { input: input as JsonObject, output, ...(typeof version === "string" && { version }) };
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

/** A time in which a version was live, in milliseconds since 1970. */
export interface LiveWindow {
  readonly version: string;
  readonly from: number;
  /** Not any more at this moment. */
  readonly to: number;
}

/**
 * The times in which a version was live, or one before it that takes and gives nothing else: those from which it was made in patch
 * and minor steps. The oldest first.
 */
export function findWindows(history: readonly ForgeEvent[], version: string): readonly LiveWindow[] {
  const compatible = findForerunners(history, version);
  return history.flatMap(({ type, version: label, at }, index) => {
    if (type === "delete" || !compatible.has(label)) return [];
    return [{ version: label, from: at, to: history[index + 1]?.at ?? Infinity }];
  });
}

function findForerunners(history: readonly ForgeEvent[], version: string): ReadonlySet<string> {
  const made = new Map<string, ForgeEvent>();
  for (const event of history) {
    const isMade = event.type === "create" || event.type === "update";
    if (isMade && !made.has(event.version)) made.set(event.version, event);
  }
  const found = new Set<string>();
  for (let next: string | undefined = version; next !== undefined && !found.has(next);) {
    found.add(next);
    const { step, from }: Partial<ForgeEvent> = made.get(next) ?? {};
    next = step === "patch" || step === "minor" ? from : undefined;
  }
  return found;
}
