import type { Answer, Invocation } from "../../cli-command.ts";
import { getText } from "../../options.ts";
import { readLimit } from "../../read-limit.ts";
import { renderTable } from "../../render-table.ts";
import { withKept } from "../../store/open-kept.ts";
import { showTime } from "../../store/show-time.ts";
import type { RunSummary } from "../../../store/runs/list-runs.ts";
import type { Store } from "../../../core/store.ts";
import { showCount, showDollars } from "../view/show-cost.ts";
import { shortenIds } from "./find-run.ts";
import { findRuns, readRun, type ReadRun } from "./read-run.ts";

/** Lists the runs of agents, the newest first. */
export async function listRuns(invocation: Invocation): Promise<Answer> {
  const limit = readLimit(getText(invocation.options, "limit"));
  return withKept(invocation, async ({ store }) => {
    const found = await findRuns(store);
    const runs = await readNewest(store, found, limit);
    const names = shortenIds(found.map(({ id }) => id));
    const document = { runs: runs.map(toDocument) };
    if (runs.length === 0) return { document, text: `No agent has run here yet. Try: kitbag run "What can you do?"` };
    const rows = runs.map((run) => [
      names.get(run.id) ?? run.id,
      run.status,
      String(run.steps),
      showCount(run.tokens),
      showDollars(run.cost),
      showTime(run.begun),
      run.task,
    ]);
    const headings = ["ID", "STATUS", "STEPS", "TOKENS", "COST", "WHEN", "TASK"];
    return { document, text: renderTable(headings, rows, invocation.terminal) };
  });
}

async function readNewest(store: Store, found: readonly RunSummary[], limit: number): Promise<readonly ReadRun[]> {
  const runs: ReadRun[] = [];
  for (const summary of found) {
    if (runs.length === limit) break;
    const run = await readRun(store, summary);
    if (run !== undefined) runs.push(run);
  }
  return runs;
}

function toDocument({ folded: { start }, entries: _entries, waiting, ...run }: ReadRun): unknown {
  return {
    ...run,
    approvals: waiting.map(({ approval }) => approval),
    ...(start.conversation !== undefined && { conversation: start.conversation }),
    ...(start.forkOf !== undefined && { forkOf: start.forkOf }),
  };
}
