import { createWorkspace, defineTool } from "kitbag";
import { createAgent, type Agent } from "kitbag/agent";

import { benchModel, callSteps } from "./agent-models.ts";
import { addSchema, piRun, plainLoad, streamTextRun } from "./agent-peers.ts";
import { cpuMicroseconds, type Contender, type Question } from "./question.ts";

const runs = 100;
const steps = callSteps + 1;

const question: Question = {
  title: "What does a step of an agent cost?",
  text: `A model in memory asks for ${callSteps} calls of a tool that adds two numbers, one after the other, and then answers; ${runs} runs, one after the other. Kitbag: \`agent.run\` with everything that is on by default (checked calls through all phases, retries, limits, loop detection, cost). AI SDK: \`streamText\` with schemas that were converted once. pi: its agent core with a stream function of its own kind.`,
  unit: "µs CPU a step",
  rounds: 61,
  targets: [
    { text: "to streamText, 1 tool", unit: "×", limit: 0.15, value: (cost) => cost("1 tool") / cost("AI SDK, 1 tool") },
    { text: "to pi, 1 tool", unit: "×", limit: 1, value: (cost) => cost("1 tool") / cost("pi, 1 tool") },
    { text: "100 tools to 1 tool", unit: "×", limit: 1.3, value: (cost) => cost("100 tools") / cost("1 tool") },
    { text: "1,000 tools to 1 tool", unit: "×", limit: 1.3, value: (cost) => cost("1,000 tools") / cost("1 tool") },
  ],
  contenders: async () => [
    contend("1 tool", agentRun(1)),
    contend("100 tools", agentRun(100)),
    contend("1,000 tools", agentRun(1000)),
    contend("pi, 1 tool", await piRun(plainLoad(1))),
    contend("pi, 100 tools", await piRun(plainLoad(100)), 10),
    contend("AI SDK, 1 tool", streamTextRun(plainLoad(1)), 20),
    contend("AI SDK, 100 tools", streamTextRun(plainLoad(100)), 10),
  ],
};

export default question;

function contend(name: string, run: () => Promise<void>, count = runs): Contender {
  return {
    name,
    async measure() {
      const spent = await cpuMicroseconds(async () => {
        for (let index = 0; index < count; index++) await run();
      });
      return spent / count / steps;
    },
  };
}

function agentRun(count: number): () => Promise<void> {
  const agent = createBenchAgent(count);
  return async () => {
    const { text, usage } = await agent.run("Add");
    if (text !== "done" || usage.toolCalls !== callSteps) throw new Error("Kitbag did something else");
  };
}

function createBenchAgent(count: number): Agent {
  const tools = Array.from({ length: count }, (_, index) =>
    defineTool({
      name: index === 0 ? "add" : `tool-${index}`,
      description: "Adds two numbers",
      input: addSchema,
      run: ({ a, b }) => Number(a) + Number(b),
    }),
  );
  return createAgent({ model: benchModel(), workspace: createWorkspace({ tools }) });
}
