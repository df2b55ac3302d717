import type { RunEntry } from "../../records/runs/run-records.ts";
import { foldJournal } from "../log/fold-journal.ts";
import type { CostRow } from "./cost-row.ts";
import { toCostRows } from "./cost-table.ts";
import type { Question } from "./question.ts";

/**
 * Reads from the journal of a run what its tokens were spent on, like `run.breakdown()`. A journal does not say which tools
 * were in a model's list: their definitions are in the row `instructions`.
 *
 * @throws {KitbagError} `run-not-found` if it is not the journal of an agent's run; `run-damaged` if a line is not what it should be.
 *
 * @example
 * ```ts
 * import { createWorkspace, memoryStore } from "kitbag";
 * import { createAgent, readRunCosts } from "kitbag/agent";
 * import { createRuns } from "kitbag/store";
 *
 * const store = memoryStore();
 * const agent = createAgent({ model: "local", workspace: createWorkspace(), store });
 * const { run, usage } = await agent.run("Hello").result;
 *
 * const rows = readRunCosts(await createRuns({ store }).read(run));
 * console.assert(rows[0]?.kind === "model" && rows[0].inputTokens === usage.inputTokens);
 * ```
 */
export function readRunCosts(entries: readonly RunEntry[]): readonly CostRow[] {
  return toCostRows([...foldJournal(idOf(entries), entries).questions, ...entries.flatMap(toOther)]);
}

function idOf(entries: readonly RunEntry[]): string {
  const run = entries.find(({ value }) => value?.type === "task-start")?.value["run"];
  return typeof run === "string" ? run : "";
}

/** The question for an answer that is no part of the conversation: for a summary, or that a hook did not want. */
function toOther({ value }: RunEntry): readonly Question[] {
  const { type, answer } = value as { readonly type: string; readonly answer?: Omit<Question["answer"], "content"> };
  if ((type !== "memory-compacted" && type !== "answer-dropped") || answer === undefined) return [];
  return [{ answer: { ...answer, content: [] }, messages: [], count: 0 }];
}
