import { codeRuntime, createCodeTool, createWorkspace, defineTool, type Workspace } from "kitbag";

import type { Contender, Question } from "./question.ts";

const calls = 100;
/** So many programs it takes until the code is compiled as well as it will be. */
const warmUps = 200;

const inTurn = `let sum = 0;
for (let index = 0; index < ${calls}; index++) sum += await tools.add({ a: index, b: 1 });
return sum`;
const atOnce = `const all = await Promise.all(Array.from({ length: ${calls} }, (_, index) => tools.add({ a: index, b: 1 })));
return all.reduce((sum, one) => sum + one, 0)`;

const question: Question = {
  title: "What does a program cost that calls a tool 100 times?",
  text: `A program that a model could have written calls a tool which adds two numbers ${calls} times, one after the other and all at once, in a machine of its own (QuickJS in a thread that is there already); against the same calls from this process, one after the other. Elapsed time, until the result is there. Everything runs ${warmUps} times before it is measured.`,
  unit: "ms",
  rounds: 60,
  targets: [
    {
      text: "100 calls in turn, more than the tools",
      unit: "ms",
      limit: 10,
      value: (cost) => cost("a program, in turn") - cost("the tools alone"),
    },
    {
      text: "100 calls at once, more than the tools",
      unit: "ms",
      limit: 10,
      value: (cost) => cost("a program, at once") - cost("the tools alone"),
    },
  ],
  async contenders() {
    const workspace = toWorkspace();
    const contenders = [
      { name: "the tools alone", measure: () => elapsed(() => callDirectly(workspace)) },
      program("a program that calls nothing", workspace, `return ${(calls * (calls + 1)) / 2}`),
      program("a program, in turn", workspace, inTurn),
      program("a program, at once", workspace, atOnce),
    ];
    for (let index = 0; index < warmUps; index += 1) for (const { measure } of contenders) await measure();
    return contenders;
  },
};

export default question;

function toWorkspace(): Workspace {
  const add = defineTool({
    name: "add",
    description: "Adds two numbers",
    input: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    },
    output: { type: "number" },
    run: ({ a, b }) => Number(a) + Number(b),
  });
  return createWorkspace({ tools: [add, createCodeTool()], runtimes: [codeRuntime()] });
}

function program(name: string, workspace: Workspace, code: string): Contender {
  return { name, measure: () => elapsed(() => runProgram(workspace, code)) };
}

async function callDirectly(workspace: Workspace): Promise<number> {
  let sum = 0;
  for (let index = 0; index < calls; index += 1) {
    const outcome = await workspace.call("add", { a: index, b: 1 });
    if (outcome.status !== "ok") throw new Error(outcome.error.message);
    sum += Number(outcome.output);
  }
  return sum;
}

async function runProgram(workspace: Workspace, code: string): Promise<number> {
  const outcome = await workspace.call("execute_code", { code });
  if (outcome.status !== "ok") throw new Error(outcome.error.message);
  return Number((outcome.output as { readonly result?: unknown }).result);
}

async function elapsed(work: () => Promise<number>): Promise<number> {
  const startedAt = performance.now();
  const sum = await work();
  const ms = performance.now() - startedAt;
  // Nobody can leave out calls whose answers are used.
  if (sum !== (calls * (calls + 1)) / 2) throw new Error(`Cannot trust the measurement: the sum is ${sum}`);
  // The next machine is made while nobody waits, as between two turns of a model.
  await new Promise((resolve) => setTimeout(resolve, 20));
  return ms;
}
