import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { LogEntry, LogStore, Store } from "../../core/store.ts";
import { callStream, type EndRecord, type StartRecord, toCallRecord } from "./call-records.ts";
import type { CallStats } from "./call-stats.ts";
import { type CallTally, createCallTally } from "./call-tally.ts";

/** Which calls {@link readCallStats} counts. */
export interface ReadCallStatsOptions {
  /** Calls that ended at this time or later, in milliseconds since 1970. @default from the first on */
  readonly since?: number;
  /** Calls that ended before this time. @default now */
  readonly until?: number;
  /** Only calls of this tool, or of the tools of this skill or component. */
  readonly tool?: string;
  /** Only calls of this user, and those inside them, that began in this time. */
  readonly user?: string;
  /** Into how many slices of the same length the time is cut. @default 24 */
  readonly slices?: number;
}

/** What the log of a store says of the calls in some time. */
export interface RecordedCallStats extends CallStats {
  /** Calls that began in this time and have no end there: they still run, or their process died. The others do not count them. */
  readonly open: number;
  /** The calls that took longest, the longest first; those inside others are not among them. */
  readonly slowest: readonly SlowCall[];
}

/**
 * Counts the calls that a workspace has recorded in a store. Looks for the beginning of the time without reading what is before,
 * and keeps a few hundred records in memory at once, however many there are.
 *
 * @throws {KitbagError} `option-invalid`; whatever the store says.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool, memoryStore } from "kitbag";
 * import { readCallStats } from "kitbag/store";
 *
 * const store = memoryStore();
 * const now = defineTool({ name: "now", description: "Tells the time", input: { type: "object" }, run: () => Date.now() });
 * const workspace = createWorkspace({ tools: [now], store });
 * await workspace.call("now");
 * await workspace.call("nwo");
 *
 * const { total, tools } = await readCallStats(store);
 * console.assert(total.calls === 2 && total.errors === 1);
 * console.assert(tools.some(({ tool, calls }) => tool === "now" && calls === 1));
 * ```
 */
export async function readCallStats(store: Store, options: ReadCallStatsOptions = {}): Promise<RecordedCallStats> {
  checkOptions(options);
  const { log } = store;
  const { until = Date.now() + 1, slices = 24 } = options;
  const first = await findPosition(log, callStream, options.since ?? 0);
  const last = await findPosition(log, callStream, until);
  const since = options.since ?? (await timeOf(store, first + 1)) ?? until;
  const count = createCount({ ...options, since, until, slices });
  for (let after = first; after < last; after += pageSize) {
    const page = await log.read(callStream, { after, limit: Math.min(pageSize, last - after) });
    for (const entry of page) count.add(entry);
  }
  return { ...count.tally.toStats(since, until), open: count.open(), slowest: count.slowest() };
}

/** Small, because a record may be large. */
const pageSize = 250;

interface Count {
  readonly tally: CallTally;
  add(entry: LogEntry): void;
  open(): number;
  slowest(): readonly SlowCall[];
}

function createCount({
  since,
  until,
  slices,
  tool,
  user,
}: Required<Omit<ReadCallStatsOptions, "tool" | "user">> & { tool?: string; user?: string }): Count {
  const tally = createCallTally(slices);
  const slowest = createSlowest();
  const owners = createOwners();
  /** Calls whose end has not come yet, the oldest first. */
  const begun = new Map<string, StartRecord>();
  let dropped = 0;
  const sliceMs = Math.max(1, (until - since) / Math.max(1, slices));

  function addStart(record: StartRecord): void {
    owners.learn(record);
    begun.set(record.call, record);
    if (begun.size <= mostBegun) return;
    // `mostBegun` other calls began after it and it has no end: its process was probably killed.
    const [oldest] = begun.values();
    if (oldest !== undefined && isWanted(oldest.tool, oldest)) dropped += 1;
    begun.delete(oldest?.call ?? "");
  }

  function isWanted(address: string, start: StartRecord | undefined): boolean {
    if (user !== undefined && start?.user !== user) return false;
    return tool === undefined || address === tool || owners.find(address) === tool;
  }

  function addEnd(record: EndRecord, time: number): void {
    const start = begun.get(record.call);
    const isInside = start?.parent !== undefined;
    begun.delete(record.call);
    const owner = owners.find(record.tool);
    if (time < since || time >= until || !isWanted(record.tool, start)) return;
    const isUnknown = record.code !== undefined && unknownCodes.has(record.code);
    const slice = Math.min(slices - 1, Math.floor((time - since) / sliceMs));
    tally.add({ ...record, slice, ...(isUnknown ? { tool: undefined, owner: undefined } : { owner }) });
    if (!isInside) slowest.add({ call: record.call, tool: record.tool, durationMs: record.durationMs, time });
  }

  return {
    tally,
    add({ value, time }) {
      const record = toCallRecord(value);
      if (record?.type === "call-start") addStart(record);
      if (record?.type === "call-end") addEnd(record, time);
    },
    open: () => dropped + [...begun.values()].filter((record) => isWanted(record.tool, record)).length,
    slowest: slowest.list,
  };
}

const mostBegun = 100_000;

/** How a call ends that was for no tool. */
const unknownCodes: ReadonlySet<string> = new Set([
  "tool-not-found",
  "address-invalid",
  "tool-ambiguous",
  "tool-foreign",
  "version-not-found",
]);

interface Owners {
  learn(record: StartRecord): void;
  find(tool: string): string | undefined;
}

/** Knows whose a tool is: from the beginning of a call, or from its address. */
function createOwners(): Owners {
  const known = new Map<string, string | undefined>();
  return {
    learn({ tool, source, owner }) {
      if (source === undefined || known.size >= mostOwners) return;
      known.set(tool, source === "global" ? undefined : owner);
    },
    find(tool) {
      if (known.has(tool)) return known.get(tool);
      const slash = tool.indexOf("/");
      return slash > 0 ? tool.slice(0, slash) : undefined;
    },
  };
}

const mostOwners = 10_000;

async function timeOf({ log }: Store, position: number): Promise<number | undefined> {
  const [entry] = await log.read(callStream, { after: position - 1, limit: 1 });
  return entry?.time;
}

function checkOptions({ since = 0, until = 0, slices = 0, tool = "", user = "" }: ReadCallStatsOptions): void {
  const wrong = Object.entries({ since, until }).find(([, value]) => !Number.isFinite(value));
  if (wrong !== undefined) throw refuse(wrong[0], wrong[1], "milliseconds since 1970");
  const isCount = Number.isSafeInteger(slices) && slices >= 0 && slices <= 1000;
  if (!isCount) throw refuse("slices", slices, "a whole number from 0 to 1000");
  if (typeof tool !== "string") throw refuse("tool", tool, "the address of a tool, or the name of its owner");
  if (typeof user !== "string") throw refuse("user", user, "the name of a user");
}

function refuse(option: string, found: unknown, expected: string): KitbagError {
  return new KitbagError("option-invalid", { option, found: showValue(found), expected });
}

/**
 * Finds the position behind which the entries of a stream begin that are not older than `time`, by looking at few of them: 20 of
 * a million. Where the clock went back, entries of that moment may be on the wrong side.
 */
export async function findPosition(log: LogStore, stream: string, time: number): Promise<number> {
  let before = 0;
  let last = await log.position(stream);
  while (before < last) {
    const middle = before + Math.ceil((last - before) / 2);
    const [entry] = await log.read(stream, { after: middle - 1, limit: 1 });
    if (entry !== undefined && entry.time < time) before = middle;
    else last = middle - 1;
  }
  return before;
}

/** A call that took long. */
export interface SlowCall {
  readonly call: string;
  readonly tool: string;
  readonly durationMs: number;
  /** When it ended, in milliseconds since 1970. */
  readonly time: number;
}

const most = 5;

/** Makes a list of the five slowest calls of those that are added, the slowest first. */
function createSlowest(): { add(call: SlowCall): void; list(): readonly SlowCall[] } {
  let list: readonly SlowCall[] = [];
  return {
    add(call) {
      const last = list[most - 1];
      if (last !== undefined && last.durationMs >= call.durationMs) return;
      list = [...list, call].toSorted((left, right) => right.durationMs - left.durationMs).slice(0, most);
    },
    list: () => list,
  };
}
