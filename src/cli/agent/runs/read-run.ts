import type { ApprovalAsked, ModelAnswered } from "../../../agent/events.ts";
import { takeSound } from "../../../agent/log/check-journal.ts";
import { type Folded, foldLines } from "../../../agent/log/fold-journal.ts";
import { toEndStatus } from "../../../agent/log/run-log.ts";
import type { RunResult } from "../../../agent/run-result.ts";
import { parseInput } from "../../../agent/run/parse-input.ts";
import { isKitbagError, KitbagError, quote } from "../../../core/errors.ts";
import type { JsonValue } from "../../../core/json.ts";
import { nearestNames } from "../../../core/nearest.ts";
import type { Store } from "../../../core/store.ts";
import type { ModelMessage } from "../../../models/model.ts";
import type { Sealer } from "../../../records/audit/audit-keys.ts";
import { listBelow } from "../../../agent/sub-agents/run-tree.ts";
import { createRuns, type RunSummary } from "../../../records/runs/create-runs.ts";
import { type RunEntry, type RunOutcome, streamPrefix, toRecord } from "../../../records/runs/run-records.ts";
import { usageError } from "../../cli-command.ts";
import { toPrintableLine } from "../../printable.ts";

/** A run as people see it. */
export type ShownStatus = RunResult["status"] | "running" | "waiting" | "interrupted";

/** What a journal says about a run of an agent. */
export interface ReadRun {
  readonly id: string;
  readonly status: ShownStatus;
  /** What was asked, on one line. */
  readonly task: string;
  readonly model: string;
  readonly steps: number;
  readonly tokens: number;
  /** In US dollars; missing if a price is not known. */
  readonly cost?: number;
  /** Milliseconds since 1970. */
  readonly begun: number;
  readonly changed: number;
  /** How it ended, if it has. */
  readonly outcome?: RunOutcome;
  /** Calls that wait for an approval, also of its sub-agents. */
  readonly waiting: readonly ApprovalAsked[];
  /** The runs of its sub-agents. */
  readonly children: readonly ReadRun[];
  readonly folded: Folded;
  readonly entries: readonly RunEntry[];
}

/** All runs in a store, those that changed last first; also those that are not of an agent. */
export async function findRuns(store: Store): Promise<readonly RunSummary[]> {
  const runs = createRuns({ store });
  const found: RunSummary[] = [];
  for (let page: readonly RunSummary[] = []; ;) {
    const after = page.at(-1)?.id;
    page = await runs.list({ limit: pageSize, ...(after !== undefined && { after }) });
    found.push(...page);
    if (page.length < pageSize) return found.toSorted((left, right) => right.time - left.time);
  }
}

const pageSize = 500;

/** How the journal of a run is read. */
export interface ReadOptions {
  /** Up to where it must be sound. @default to its end */
  readonly step?: number | undefined;
  /** Tells genuine decisions from others. @default all count */
  readonly sealer?: Sealer;
}

/**
 * Reads the journal of a run, up to this step if the rest is damaged; nothing if it is not that of an agent.
 *
 * @throws {KitbagError} `run-damaged`
 */
export async function readRun(
  store: Store,
  { id, status }: Pick<RunSummary, "id" | "status">,
  { step = Infinity, sealer }: ReadOptions = {},
): Promise<ReadRun | undefined> {
  const entries = takeSound(id, await createRuns({ store }).read(id, { limit: 1_000_000 }), step);
  const folded = foldAgentRun(id, entries, sealer);
  return folded && toReadRun(id, folded, entries, status === "running");
}

/**
 * Reads a run that a person named.
 *
 * @throws {KitbagError} `run-not-found` if it is not there, or not of an agent; `usage-invalid` if several are meant; `run-damaged`.
 */
export async function needRun(store: Store, given: string, options?: ReadOptions): Promise<ReadRun> {
  const id = await findRun(store, given);
  // The list begins right behind the id without its last character: so with the id, or one that begins like it.
  const [found] = await createRuns({ store }).list({ after: id.slice(0, -1), limit: 1 });
  const run = await readRun(store, { id, status: found?.id === id ? found.status : "idle" }, options);
  if (run === undefined) throw new KitbagError("run-not-found", { run: given });
  return run;
}

function foldAgentRun(id: string, entries: readonly RunEntry[], sealer: Sealer | undefined): Folded | undefined {
  try {
    return foldLines(id, entries, sealer);
  } catch (cause) {
    if (isKitbagError(cause, "run-not-found")) return undefined;
    throw cause;
  }
}

function toReadRun(id: string, folded: Folded, entries: readonly RunEntry[], isRunning: boolean): ReadRun {
  const { start, answers } = folded;
  const last = entries.at(-1);
  const record = last && toRecord(last.value);
  const outcome = record?.type === "run-end" ? record.outcome : undefined;
  const waiting = outcome === undefined ? findWaiting(folded, entries) : [];
  const costs = [...answers, ...folded.spent].map((one) => one.cost);
  const cost = costs.every((one) => one !== undefined) ? costs.reduce((sum, one) => sum + one, 0) : undefined;
  return {
    id,
    status: toStatus(outcome, isRunning, waiting.length > 0),
    task: describeTask(start.messages),
    model: start.model,
    steps: answers.length,
    tokens: countTokens(folded),
    ...(cost !== undefined && { cost }),
    begun: start.time,
    changed: last?.time ?? start.time,
    ...(outcome !== undefined && { outcome }),
    waiting,
    children: [],
    folded,
    entries,
  };
}

function countTokens({ answers, spent }: Folded): number {
  const own = answers.reduce(
    (sum, { usage }) => sum + (usage.inputTokens.total ?? 0) + (usage.outputTokens.total ?? 0),
    0,
  );
  return spent.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0), own);
}

/** The same run, with those of its sub-agents. What they wait for, it waits for, unless it was stopped. */
export async function withChildren(store: Store, run: ReadRun, options: ReadOptions = {}): Promise<ReadRun> {
  const below = await listBelow(createRuns({ store }), run.id);
  if (below.length === 0) return run;
  const read = await Promise.all(below.map((summary) => readRun(store, summary, options).catch(unlessDamaged)));
  return attach(
    run,
    read.filter((one) => one !== undefined),
  );
}

function attach(run: ReadRun, below: readonly ReadRun[]): ReadRun {
  const own = below.filter(({ folded }) => folded.start.parent?.run === run.id);
  const children = own.map((child) => attach(child, below));
  const waiting = [...run.waiting, ...children.flatMap((child) => (isStopped(run) ? [] : child.waiting))];
  const isIdle = run.outcome === undefined && run.status !== "running";
  return { ...run, children, waiting, status: isIdle && waiting.length > 0 ? "waiting" : run.status };
}

/** Whether a person stopped a run, or it has ended: what is below it does not go on by itself. */
function isStopped({ outcome, entries }: ReadRun): boolean {
  const last = entries.at(-1)?.value;
  return outcome !== undefined || (last?.type === "lease-end" && last["reason"] === "released");
}

/** A run that is damaged is listed by kitbag runs; it does not keep others from being shown. */
export function unlessDamaged(cause: unknown): undefined {
  if (!isKitbagError(cause, "run-damaged")) throw cause;
}

/** The outermost run of the tree that a run is in. */
export async function findRoot(store: Store, run: ReadRun): Promise<ReadRun> {
  const { parent } = run.folded.start;
  return parent === undefined ? run : findRoot(store, await needRun(store, parent.run));
}

/** The last question about a call counts. */
function findWaiting({ decided }: Folded, entries: readonly RunEntry[]): readonly ApprovalAsked[] {
  const asked = new Map<string, ApprovalAsked>();
  for (const { value } of entries) {
    const event = value as unknown as ApprovalAsked;
    if (event.type === "approval-asked" && !decided.has(event.approval)) asked.set(event.approval, event);
  }
  return [...asked.values()];
}

function toStatus(outcome: RunOutcome | undefined, isRunning: boolean, isWaiting: boolean): ShownStatus {
  if (outcome?.status === "ok") return "ok";
  if (outcome !== undefined) return toEndStatus(outcome.error.code);
  if (isRunning) return "running";
  return isWaiting ? "waiting" : "interrupted";
}

/** What a person asked last, on one line. */
function describeTask(messages: readonly ModelMessage[]): string {
  const asked = messages.findLast(({ role }) => role === "user");
  if (asked === undefined || typeof asked.content === "string") return "";
  return toPrintableLine(asked.content.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join(" "));
}

/**
 * Finds a run by its id, or by the beginning of it.
 *
 * @throws {KitbagError} `run-not-found` if there is no such run; `usage-invalid` if several begin like this.
 */
export async function findRun(store: Store, given: string): Promise<string> {
  const found = given === "" ? [] : await store.log.streams({ prefix: `${streamPrefix}${given}`, limit: 200 });
  const all = found.map((stream) => stream.slice(streamPrefix.length));
  const [first] = all;
  // The runs below a run begin like it.
  const ids = all.filter((id) => id === first || !id.startsWith(`${first}~`));
  const [, second] = ids;
  if (first === undefined)
    throw new KitbagError("run-not-found", { run: given, nearest: await findNearest(store, given) });
  if (first === given || second === undefined) return first;
  throw usageError(
    `Cannot tell which run ${quote(given)} is: ${ids.slice(0, 3).join(", ")} begin like this; type more of it`,
  );
}

/** The maximum number of runs whose ids are compared with a mistyped one. */
const manyRuns = 10_000;

/** The ids that begin almost like what was typed. */
async function findNearest(store: Store, given: string): Promise<readonly string[]> {
  if (given.length < 3) return [];
  const streams = await store.log.streams({ prefix: streamPrefix, limit: manyRuns });
  const ids = new Map(
    streams.map((stream) => stream.slice(streamPrefix.length)).map((id) => [id.slice(0, given.length), id]),
  );
  return nearestNames(given, ids.keys(), 2).map((beginning) => ids.get(beginning) ?? beginning);
}

/** The shortest beginning of each id, of 8 characters at least, that no other id has. */
export function shortenIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const sorted = [...ids].toSorted();
  return new Map(
    sorted.map((id, index) => {
      const shared = Math.max(sharedLength(id, sorted[index - 1]), sharedLength(id, sorted[index + 1]));
      return [id, id.slice(0, Math.max(8, shared + 1))];
    }),
  );
}

function sharedLength(id: string, other: string = ""): number {
  for (let length = 0; length < id.length; length += 1) if (id[length] !== other[length]) return length;
  return id.length;
}

/** A call that a recorded answer asks for. */
interface RecordedCall {
  /** `step.call`: what came of it is recorded under this name. */
  readonly name: string;
  readonly id: string;
  /** As the model named the tool. */
  readonly tool: string;
  readonly input: JsonValue;
}

/** The calls that a recorded answer asks for, in order. */
export function callsOf({ step, content }: Pick<ModelAnswered, "step" | "content">): readonly RecordedCall[] {
  const calls: RecordedCall[] = [];
  for (const item of content) {
    if (item.type !== "tool-call" || item.providerExecuted === true) continue;
    const { toolCallId: id, toolName: tool, input } = item;
    calls.push({ name: `${step}.${calls.length}`, id, tool, input: parseInput(input).input });
  }
  return calls;
}
