import { isKitbagError } from "../../core/errors.ts";
import type { Runs, RunSummary } from "../../records/runs/create-runs.ts";
import type { RunEntry } from "../../records/runs/run-records.ts";
import type { TaskStart } from "../events.ts";

/** How many runs are listed at a time. */
const page = 100;

/** The runs of sub-agents below a run, on all levels, in the order of their ids. */
export async function listBelow(runs: Pick<Runs, "list">, id: string): Promise<readonly RunSummary[]> {
  const prefix = `${id}~`;
  const found: RunSummary[] = [];
  for (let after = prefix; ;) {
    const next = await runs.list({ after, limit: page });
    const below = next.filter((run) => run.id.startsWith(prefix));
    found.push(...below);
    const last = below.at(-1);
    if (last === undefined || below.length < page) return found;
    after = last.id;
  }
}

const endedStates: ReadonlySet<RunSummary["status"]> = new Set(["ok", "failed"]);

/** Ends the runs below one that has ended for good: nothing goes on with them, and none of their approvals is waited for. */
export async function endBelow(runs: Runs, id: string): Promise<void> {
  for (const run of await listBelow(runs, id)) {
    if (!endedStates.has(run.status)) await endRun(runs, run.id, `the run ${id}, which waited for it, has ended`);
  }
}

/** Ends a run that nothing goes on with. Another process that has it, or has ended it, knows better. */
export async function endRun(runs: Runs, id: string, reason: string): Promise<void> {
  try {
    const run = await runs.open(id);
    await run.end({ status: "failed", error: { code: "run-stopped", message: `Cannot finish the run: ${reason}` } });
  } catch (cause) {
    if (!isKitbagError(cause, "run-leased") && !isKitbagError(cause, "run-ended")) throw cause;
  }
}

/** The task of an agent's run, if its journal has one. */
export function taskOf(entries: readonly RunEntry[]): TaskStart | undefined {
  return entries.find(({ value }) => value?.type === "task-start")?.value as unknown as TaskStart | undefined;
}

/**
 * Finds the run above a run that keeps its approvals from being decided: it was cancelled, or has ended. While it waits, or its process
 * has only died, it goes on with what is decided.
 */
export async function findStoppedAbove(
  runs: Pick<Runs, "read">,
  start: Pick<TaskStart, "parent">,
): Promise<string | undefined> {
  for (let above = start.parent?.run; above !== undefined;) {
    const entries = await runs.read(above, { limit: 1_000_000 });
    const last = entries.at(-1)?.value;
    if (last?.type === "run-end" || (last?.type === "lease-end" && last["reason"] === "released")) return above;
    above = taskOf(entries)?.parent?.run;
  }
  return undefined;
}
