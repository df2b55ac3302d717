import { isKitbagError } from "../../../core/errors.ts";
import { hasScope } from "../../../core/scopes.ts";
import type { Store } from "../../../core/store.ts";
import type { Caller } from "../../../gate/gate.ts";
import type { ModelMessage } from "../../../models/model.ts";
import type { RunSummary } from "../../../records/runs/create-runs.ts";
import type { RunEntry } from "../../../records/runs/run-records.ts";
import type { ServedClient } from "../client.ts";
import { type KitbagUri, toKitbagUri } from "./kitbag-uri.ts";
import type { ReadPart, ResourcePart } from "./resource-part.ts";

const mimeType = "application/json";

/** The maximum number of runs in the list; it has the newest first. */
const mostRuns = 100;
/** The maximum number of runs that are read to find the newest. */
const mostLookedAt = 1000;
/** A page of a journal ends with the event that makes it longer than this. */
const pageBytes = 256 * 1024;
const mostEvents = 1000;

/** The scope of those who may read what agents did. */
const scope = "runs";

/** Tells whether a caller may read what agents did. */
function mayReadRuns(caller: Caller): boolean {
  return hasScope(caller.scopes, scope);
}

/** Tells whether a client may read a run, or the list of runs (an empty id): it is there, and the caller's own. */
export async function mayReadRun(client: ServedClient, id: string): Promise<boolean> {
  const { store, caller } = client;
  if (store === undefined || !mayReadRuns(caller)) return false;
  return id === "" || (await readOwn(store, client, id)) !== undefined;
}

/** The caller's runs of agents that the store keeps, and their journals page by page. */
export const runResources: ResourcePart = {
  kind: "runs",
  isFor: (client) => client.store !== undefined && mayReadRuns(client.caller),
  templates: [
    {
      name: "run",
      title: "Run",
      uriTemplate: "kitbag://runs/{id}{?after}",
      description: "What one run of an agent did, event by event; next is the URI of the next page",
      mimeType,
    },
  ],
  list: () => runIndex,
  read(uri, client) {
    const { store } = client;
    if (store === undefined) return undefined;
    return uri.name === "" ? readRuns(store, client) : readRun(store, client, uri);
  },
};

const runIndex = [
  {
    uri: toKitbagUri("runs"),
    name: "runs",
    title: "Runs",
    description: `Your last ${mostRuns} runs of agents`,
    mimeType,
  },
];

async function readRuns(store: Store, client: ServedClient): Promise<ReadPart> {
  const { findOwnRuns } = await loadOwnRuns();
  const found = await findOwnRuns({ ...client, store }, mostLookedAt);
  const runs = found
    .toSorted((left, right) => right.time - left.time || (left.id < right.id ? -1 : 1))
    .slice(0, mostRuns)
    .map((run) => ({ ...toSummary(run), uri: toKitbagUri("runs", run.id) }));
  const text = JSON.stringify({ runs, ...(found.length > runs.length && { more: found.length - runs.length }) });
  return { contents: [{ uri: toKitbagUri("runs"), mimeType, text }] };
}

function toSummary({ id, status, entries, time }: RunSummary): object {
  return { id, status, events: entries, changed: new Date(time).toISOString() };
}

/** The ids of runs, for completions; the newest of them are not known without looking at each. */
export async function findRunIds(client: ServedClient, most: number): Promise<readonly string[]> {
  const { store, caller } = client;
  if (store === undefined || !mayReadRuns(caller)) return [];
  const { findOwnRuns } = await loadOwnRuns();
  const runs = await findOwnRuns({ ...client, store }, most);
  return runs.map((run) => run.id);
}

/** What reads journals is loaded for who asks: most clients never do. */
const loadOwnRuns = () => import("../../../gate/own-runs.ts");

async function readOwn(store: Store, client: ServedClient, id: string): Promise<RunSummary | undefined> {
  const { findOwnRun } = await loadOwnRuns();
  return findOwnRun({ ...client, store }, id);
}

const position = /^\d{1,15}$/u;

async function readRun(
  store: Store,
  client: ServedClient,
  { name: id, query }: KitbagUri,
): Promise<ReadPart | undefined> {
  const after = query.get("after") ?? "0";
  if (!position.test(after)) return undefined;
  const summary = await readOwn(store, client, id);
  if (summary === undefined) return undefined;
  const { createRuns } = await import("../../../records/runs/create-runs.ts");
  const runs = createRuns({ store });
  const entries = await runs.read(id, { after: Number(after), limit: mostEvents });
  const shown = cutEntries(entries);
  const last = shown.at(-1)?.position ?? summary.entries;
  const next = last < summary.entries && { next: toKitbagUri("runs", id, { after: String(last) }) };
  const head = after === "0" && (await describeRun(id, entries));
  const events = shown.map(({ position: at, time, value }) => ({ position: at, time, ...value }));
  const text = JSON.stringify({ ...toSummary(summary), ...head, events, ...next });
  return { contents: [{ uri: toKitbagUri("runs", id, after === "0" ? {} : { after }), mimeType, text }] };
}

function cutEntries(entries: readonly RunEntry[]): readonly RunEntry[] {
  let bytes = 0;
  const end = entries.findIndex((entry) => (bytes += Buffer.byteLength(JSON.stringify(entry.value))) > pageBytes);
  return end === -1 ? entries : entries.slice(0, end + 1);
}

/** What an agent was asked; nothing for a run of something else. */
async function describeRun(id: string, entries: readonly RunEntry[]): Promise<object> {
  const { foldJournal } = await import("../../../agent/log/fold-journal.ts");
  try {
    const { start } = foldJournal(id, entries);
    return { model: start.model, task: toTask(start.messages) };
  } catch (cause) {
    if (isKitbagError(cause, "run-not-found") || isKitbagError(cause, "run-damaged")) return {};
    throw cause;
  }
}

function toTask(messages: readonly ModelMessage[]): string {
  const asked = messages.findLast(({ role }) => role === "user");
  if (asked === undefined || typeof asked.content === "string") return "";
  return asked.content.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join(" ");
}
