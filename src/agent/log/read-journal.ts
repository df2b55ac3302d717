import type { RunEntry } from "../../records/runs/run-records.ts";
import { needRuns, type AgentParts } from "../agent-parts.ts";

/** The whole journal of a run. @throws {KitbagError} `option-invalid` if the agent keeps nothing. */
export async function readJournal({ runs }: Pick<AgentParts, "runs">, id: string): Promise<readonly RunEntry[]> {
  return needRuns(runs).read(id, { limit: 1_000_000 });
}
