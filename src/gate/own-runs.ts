import { isKitbagError } from "../core/errors.ts";
import type { Store } from "../core/store.ts";
import { createRuns, type Runs, type RunSummary } from "../records/runs/create-runs.ts";
import { toStream } from "../records/runs/run-records.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Caller } from "./gate.ts";

/** Whose runs are read, and where. */
export interface RunReader {
  readonly store: Store;
  readonly workspace: Pick<Workspace, "ownerOf">;
  readonly caller: Pick<Caller, "id">;
}

/** How many lines of a journal are read to find the user who started the run. */
const firstLines = 5;
const pageSize = 500;

/** The caller's runs, in the order of their ids; at most `most`. */
export async function findOwnRuns(reader: RunReader, most: number): Promise<readonly RunSummary[]> {
  const runs = createRuns({ store: reader.store });
  const found: RunSummary[] = [];
  for (let page: readonly RunSummary[] = []; found.length < most;) {
    const after = page.at(-1)?.id;
    page = await runs.list({ limit: pageSize, ...(after !== undefined && { after }) });
    const owned = await Promise.all(page.map(({ id }) => isOwn(reader, runs, id)));
    found.push(...page.filter((_run, index) => owned[index]));
    if (page.length < pageSize) break;
  }
  return found.slice(0, most);
}

/** A run of the caller; nothing if no run has this id, or it is another user's. */
export async function findOwnRun(reader: RunReader, id: string): Promise<RunSummary | undefined> {
  const runs = createRuns({ store: reader.store });
  const found = await findRun(reader.store, runs, id);
  return found !== undefined && (await isOwn(reader, runs, id)) ? found : undefined;
}

/** Whether the caller began a run. One that names no user is the local user's. */
async function isOwn({ workspace, caller }: RunReader, runs: Runs, id: string): Promise<boolean> {
  const lines = await runs.read(id, { limit: firstLines });
  const begun = lines.find(({ value }) => value["type"] === "task-start")?.value["user"];
  return workspace.ownerOf(typeof begun === "string" ? begun : undefined) === workspace.ownerOf(caller.id);
}

/** A list cannot begin with an id, but right before all that begin like it. */
async function findRun(store: Store, runs: Runs, id: string): Promise<RunSummary | undefined> {
  const most = 100;
  const page = await runs.list({ after: id.replace(/.$/su, ""), limit: most }).catch(refuseWrong);
  const found = page.find((run) => run.id === id);
  if (found !== undefined || page.length < most) return found;
  const entries = await store.log.position(toStream(id));
  return entries === 0 ? undefined : { id, status: "idle", entries, time: 0 };
}

/** An id that no run can have is that of none. */
function refuseWrong(cause: unknown): readonly RunSummary[] {
  if (isKitbagError(cause, "store-key-invalid") || isKitbagError(cause, "option-invalid")) return [];
  throw cause;
}
