import { createWorkspace, defineTool, type RateLimit, type Workspace } from "kitbag";

import { cpuMicroseconds, type Contender, type Question } from "./question.ts";

const calls = 5000;
const plenty: readonly RateLimit[] = [
  { per: "workspace", calls: 1_000_000_000, inMs: 60_000 },
  { per: "user", calls: 1_000_000_000, inMs: 60_000, burst: 1_000_000 },
];

const question: Question = {
  title: "What do limits and breakers cost?",
  text: `A tool is called ${calls} times, each call awaited: with nothing, and with two limits (a window for all, a bucket for each user) and a breaker, counted in memory.`,
  unit: "µs CPU a call",
  rounds: 31,
  targets: [
    {
      text: "two limits and a breaker, in memory",
      unit: "µs",
      limit: 5,
      value: (cost) => cost("two limits and a breaker") - cost("nothing"),
    },
  ],
  contenders: async () => [
    contend("nothing", createWorkspace({ tools: [echo] })),
    contend("two limits", createWorkspace({ tools: [echo], rates: plenty })),
    contend("two limits and a breaker", createWorkspace({ tools: [echo], rates: plenty, breaker: { failures: 5 } })),
  ],
};

export default question;

const echo = defineTool({ name: "echo", description: "Answers", run: () => "ok" });

function contend(name: string, workspace: Workspace): Contender {
  return {
    name,
    async measure() {
      const cost = await cpuMicroseconds(async () => {
        for (let call = 0; call < calls; call += 1) await workspace.call("echo", {}, { user: "Ada" });
      });
      return cost / calls;
    },
  };
}
