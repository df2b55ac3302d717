import type { Answer, Invocation } from "../../cli-command.ts";
import { getText } from "../../options.ts";
import { readLimit } from "../../read-limit.ts";
import { renderTable } from "../../render-table.ts";
import { withKept } from "../../store/open-kept.ts";
import { showTime } from "../../store/show-time.ts";
import { createRuns } from "../../../store/runs/create-runs.ts";
import type { Store } from "../../../core/store.ts";
import { showCount, showDollars } from "../view/show-cost.ts";
import { findRunIds, shortenIds } from "./find-run.ts";
import { readRun, type ReadRun } from "./read-run.ts";

/** Lists the runs of agents, the newest first. */
export async function listRuns(invocation: Invocation): Promise<Answer> {
  const limit = readLimit(getText(invocation.options, "limit"));
  return withKept(invocation, async ({ store }) => {
    const runs = (await readRuns(store)).slice(0, limit);
    const names = shortenIds(await findRunIds(store));
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

/** All runs of agents in a store, the newest first. */
export async function readRuns(store: Store): Promise<readonly ReadRun[]> {
  const ids = await findRunIds(store);
  const times = await Promise.all(ids.map(async (id) => ({ id, time: await lastTime(store, id) })));
  const runs: ReadRun[] = [];
  for (const { id } of times.toSorted((left, right) => right.time - left.time)) {
    const run = await readRun(store, id);
    if (run !== undefined) runs.push(run);
  }
  return runs;
}

async function lastTime(store: Store, id: string): Promise<number> {
  const [first] = await createRuns({ store }).read(id, { limit: 1 });
  return first?.time ?? 0;
}

function toDocument({ folded: { start }, entries: _entries, waiting, ...run }: ReadRun): unknown {
  return {
    ...run,
    approvals: waiting.map(({ approval }) => approval),
    ...(start.conversation !== undefined && { conversation: start.conversation }),
    ...(start.forkOf !== undefined && { forkOf: start.forkOf }),
  };
}
