/** A run of an agent in a process of its own that kills itself: see {@link AgentProgram}. */
import { writeSync } from "node:fs";

import { openCrashStore } from "../crash-store.ts";
import { createTenStepAgent, type AgentProgram } from "../ten-steps.ts";

const program = JSON.parse(process.argv[2] ?? "") as AgentProgram;
const store = await openCrashStore(program.store);
let moments = 0;
function pass(): void {
  moments += 1;
  if (moments === program.dieAfter) process.kill(process.pid, "SIGKILL");
}

const { agent } = createTenStepAgent(store, program.effects, program.isHeard ? undefined : pass);
const { status } = await agent.run("Take ten steps", { id: program.run, ...(program.isHeard && { onEvent: pass }) })
  .result;
writeSync(1, `${status} after ${moments} moments\n`);
process.exit();
