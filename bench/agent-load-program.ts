/**
 * Measures one contender under one load for `agent-load.ts`, in a process of its own. Prints one JSON object: the CPU time of the first run and
 * of a later run, in milliseconds, and the resident memory at its largest, in megabytes.
 */
import { createWorkspace, defineTool } from "kitbag";
import { createAgent } from "kitbag/agent";

import { benchModel, callSteps } from "./agent-models.ts";
import { addSchema, earlierMessages, piRun, streamTextRun, type Load } from "./agent-peers.ts";
import { loads, runsAfterwards, warmUpRuns, type LoadName } from "./agent-load.ts";

const contenders: Readonly<Record<string, (load: Load) => Promise<() => Promise<void>>>> = {
  Kitbag: async (load) => kitbagRun(load),
  "AI SDK": async (load) => streamTextRun(load),
  pi: piRun,
};

const [name = "", load = ""] = process.argv.slice(2);
const make = contenders[name];
if (make === undefined) throw new Error(`Cannot measure "${name}"`);
const run = await make(loads[load as LoadName]);
const first = await cpuOf(run, 1);
for (let index = 1; index < warmUpRuns; index++) await run();
const later = await cpuOf(run, runsAfterwards);
console.log(JSON.stringify({ first, later, megabytes: process.resourceUsage().maxRSS / 1000 }));

/** CPU milliseconds of a run, of all threads of this process. */
async function cpuOf(work: () => Promise<void>, runs: number): Promise<number> {
  const before = process.cpuUsage();
  for (let index = 0; index < runs; index++) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / runs;
}

function kitbagRun({ tools: count, calls, result, earlier }: Load): () => Promise<void> {
  const tools = Array.from({ length: count }, (_, index) =>
    defineTool({
      name: index === 0 ? "add" : `tool-${index}`,
      description: "Adds two numbers",
      annotations: { readOnly: true },
      input: addSchema,
      run: ({ a, b }) => result ?? Number(a) + Number(b),
    }),
  );
  // The peers keep whole results and all messages: so does Kitbag here.
  const workspace = createWorkspace({ tools, limits: { maxOutputBytes: 1_000_000 } });
  const agent = createAgent({ model: benchModel(callSteps, calls), workspace });
  const task = [
    ...earlierMessages(earlier).map(({ role, content }) => ({
      role,
      content: [{ type: "text" as const, text: content }],
    })),
    { role: "user" as const, content: [{ type: "text" as const, text: "Add" }] },
  ];
  return async () => {
    const { text, usage } = await agent.run(task).result;
    if (text !== "done" || usage.toolCalls !== callSteps * calls) throw new Error("Kitbag did something else");
  };
}
