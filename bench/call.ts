import { createWorkspace, defineTool, memoryStore, type Store, type Tool, type Workspace } from "kitbag";

import { cpuMicroseconds, type Contender, type Question } from "./question.ts";

const calls = 5000;

interface Sum {
  readonly a: number;
  readonly b: number;
}

const add = ({ a, b }: Sum): number => a + b;

const question: Question = {
  title: "What does one call cost?",
  text: `A tool that adds two numbers is called ${calls} times, each call awaited: through all phases, with every call recorded in a memory store, against the function itself.`,
  unit: "µs CPU a call",
  rounds: 40,
  targets: [
    {
      text: "1 tool, more than the function",
      unit: "µs",
      limit: 15,
      value: (cost) => cost("1 tool") - cost("the function"),
    },
    {
      text: "10,000 tools to 1 tool",
      unit: "×",
      limit: 1.2,
      value: (cost) => cost("10,000 tools") / cost("1 tool"),
    },
  ],
  contenders: async () => [
    { name: "the function", measure: () => measureCalls(async (index) => add({ a: index, b: 1 })) },
    bag("1 tool", 1),
    bag("100 tools", 100),
    bag("10,000 tools", 10_000),
    bag("10,000 tools, 100 of them in turn", 10_000, { called: 100 }),
    bag("1 tool, nothing recorded", 1, { recorded: false }),
  ],
};

export default question;

interface BagOptions {
  /** How many of the tools are called, in turn. */
  readonly called?: number;
  readonly recorded?: boolean;
}

/** A workspace with `count` tools, the same in all rounds. */
function bag(name: string, count: number, { called = 1, recorded = true }: BagOptions = {}): Contender {
  const tools = Array.from({ length: count }, (_, index) => addTool(index));
  const step = Math.floor(count / called);
  const names = tools.filter((_, index) => index % step === Math.floor(step / 2)).map((tool) => tool.name);
  const { store, empty } = emptyableStore();
  const workspace = createWorkspace({ tools, ...(recorded && { store }) });
  return {
    name,
    measure() {
      empty();
      return measureCalls((index) => callOne(workspace, names[index % called] ?? "", index));
    },
  };
}

/** A memory store that can be emptied, so that no round pays for the records of those before it. */
function emptyableStore(): { store: Store; empty: () => void } {
  let current = memoryStore();
  const store: Store = {
    get kv() {
      return current.kv;
    },
    get log() {
      return current.log;
    },
    get blobs() {
      return current.blobs;
    },
    queue: (name) => current.queue(name),
    close: () => current.close(),
  };
  return {
    store,
    empty() {
      current = memoryStore();
    },
  };
}

function addTool(index: number): Tool {
  return defineTool({
    name: `add-${index}`,
    description: "Adds two numbers",
    input: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    },
    output: { type: "number" },
    run: (input) => add(input as unknown as Sum),
  });
}

async function callOne(workspace: Workspace, tool: string, index: number): Promise<number> {
  const outcome = await workspace.call(tool, { a: index, b: 1 });
  if (outcome.status !== "ok") throw new Error(outcome.error.message);
  return outcome.output as number;
}

async function measureCalls(call: (index: number) => Promise<number>): Promise<number> {
  let sum = 0;
  const cost = await cpuMicroseconds(async () => {
    for (let index = 0; index < calls; index += 1) sum += await call(index);
  });
  // Nobody can leave out calls whose answers are used.
  if (sum !== (calls * (calls + 1)) / 2) throw new Error(`Cannot trust the measurement: the sum is ${sum}`);
  return cost / calls;
}
