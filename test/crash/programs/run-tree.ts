/** A tree of runs in a process of its own that kills itself: see {@link TreeProgram}. */
import { writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

import { openCrashStore } from "../crash-store.ts";
import { createThreeAgents, leaseMs, type TreeProgram, treeRun } from "../three-agents.ts";

const program = JSON.parse(process.argv[2] ?? "") as TreeProgram;
const store = await openCrashStore(program.store);
let moments = 0;
function pass(): void {
  moments += 1;
  if (moments === program.dieAfter) process.kill(process.pid, "SIGKILL");
}

const agent = createThreeAgents(store, program.effects, pass);
let result = program.isResumed
  ? await agent.resume(treeRun, { onEvent: pass }).result
  : await agent.run("Go", { id: treeRun, onEvent: pass }).result;
for (;;) {
  if (result.status !== "paused" && result.error?.code !== "run-leased") break;
  if (result.status === "paused") {
    for (const approval of result.approvals) {
      pass();
      await agent.decide(approval, { decision: "approve" });
    }
  } else await setTimeout(leaseMs / 5);
  result = await agent.resume(treeRun, { onEvent: pass }).result;
}
writeSync(1, `${result.status} after ${moments} moments\n`);
process.exit();
