import { isKitbagError, type Failure } from "../../../core/errors.ts";
import type { Answer, Invocation } from "../../cli-command.ts";
import { getText } from "../../options.ts";
import { toPrintableLine } from "../../printable.ts";
import { readLimit } from "../../read-limit.ts";
import { renderTable } from "../../render-table.ts";
import { findSealer } from "../../store/find-sealer.ts";
import { withKept } from "../../store/open-kept.ts";
import { showTime } from "../../store/show-time.ts";
import type { RunSummary } from "../../../records/runs/list-runs.ts";
import { showCount, showDollars } from "../view/show-cost.ts";
import { shortenIds } from "./find-run.ts";
import { findRuns, readRun, type ReadRun } from "./read-run.ts";

/** Lists the runs of agents, the newest first. */
export async function listRuns(invocation: Invocation): Promise<Answer> {
  const limit = readLimit(getText(invocation.options, "limit"));
  return withKept(invocation, async (kept) => {
    const found = await findRuns(kept.store);
    const sealer = await findSealer(kept, invocation);
    const read: ReadOne = (summary) => readRun(kept.store, summary, { sealer });
    const runs = await readNewest(read, found, limit);
    const names = shortenIds(found.map(({ id }) => id));
    const document = { runs: runs.map(toDocument) };
    if (runs.length === 0) return { document, text: `No agent has run here yet. Try: kitbag run "What can you do?"` };
    const rows = runs.map((run) => [names.get(run.id) ?? run.id, ...toCells(run)]);
    const headings = ["ID", "STATUS", "STEPS", "TOKENS", "COST", "WHEN", "TASK"];
    return { document, text: renderTable(headings, rows, invocation.terminal) };
  });
}

/** A run whose journal cannot be read. */
interface DamagedRun {
  readonly id: string;
  readonly status: "damaged";
  readonly changed: number;
  readonly error: Failure;
}

type ReadOne = (summary: RunSummary) => Promise<ReadRun | undefined>;

async function readNewest(
  read: ReadOne,
  found: readonly RunSummary[],
  limit: number,
): Promise<readonly (ReadRun | DamagedRun)[]> {
  const runs: (ReadRun | DamagedRun)[] = [];
  for (const summary of found) {
    if (runs.length === limit) break;
    const run = await read(summary).catch((cause: unknown) => toDamaged(summary, cause));
    if (run !== undefined) runs.push(run);
  }
  return runs;
}

/** One that is damaged does not keep the others from being listed. */
function toDamaged({ id, time }: RunSummary, cause: unknown): DamagedRun {
  if (!isKitbagError(cause, "run-damaged")) throw cause;
  return { id, status: "damaged", changed: time, error: cause.toJSON() };
}

function toCells(run: ReadRun | DamagedRun): readonly string[] {
  if (run.status === "damaged")
    return [run.status, "", "", "", showTime(run.changed), toPrintableLine(run.error.message)];
  return [run.status, String(run.steps), showCount(run.tokens), showDollars(run.cost), showTime(run.begun), run.task];
}

function toDocument(found: ReadRun | DamagedRun): unknown {
  if (found.status === "damaged") return found;
  const { folded, entries: _entries, waiting, ...run } = found;
  const { start } = folded;
  return {
    ...run,
    approvals: waiting.map(({ approval }) => approval),
    ...(start.conversation !== undefined && { conversation: start.conversation }),
    ...(start.forkOf !== undefined && { forkOf: start.forkOf }),
  };
}
