/** A run of an agent in a process of its own that kills itself: see {@link AgentProgram}. */
import { writeSync } from "node:fs";

import { openCrashStore } from "../crash-store.ts";
import { createTenStepAgent, type AgentProgram } from "../ten-steps.ts";

const program = JSON.parse(process.argv[2] ?? "") as AgentProgram;
const store = await openCrashStore(program.store);
const { agent } = createTenStepAgent(store, program.effects);
let events = 0;

const { status } = await agent.run("Take ten steps", {
  id: program.run,
  onEvent() {
    events += 1;
    if (events === program.dieAfter) process.kill(process.pid, "SIGKILL");
  },
}).result;
writeSync(1, `${status} after ${events} events\n`);
process.exit();
