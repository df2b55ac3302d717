/**
 * Asynchronous tools beside synchronous ones, a conversation that is remembered, and many runs at the same time. After `npm install`:
 *
 *     npx node --conditions=@kitbag/source examples/many-at-once.ts
 *
 * Scripts play the model.
 */
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

import { createWorkspace, defineTool, memoryStore } from "kitbag";
import { createAgent, type Agent } from "kitbag/agent";
import { mockModel } from "kitbag/testing";
import { z } from "zod";

const fetchWeather = defineTool({
  name: "fetch-weather",
  description: "Fetches the weather of a city",
  input: z.object({ city: z.string() }),
  annotations: { readOnly: true },
  async run({ city }, { signal }) {
    await wait(50, undefined, { signal });
    return `${city}: sunny, 22 °C`;
  },
});

const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  input: z.object({ a: z.number(), b: z.number() }),
  annotations: { readOnly: true },
  run: ({ a, b }) => a + b,
});

const workspace = createWorkspace({ tools: [fetchWeather, add] });
const store = memoryStore();

// A conversation: the second run knows what the first was about.
const script = mockModel([
  { calls: [{ tool: "fetch-weather", input: { city: "Seattle" } }] },
  "It is sunny in Seattle.",
  "You asked about Seattle.",
]);
const agent = createAgent({
  model: process.env["KITBAG_MODEL"] ?? script,
  workspace,
  store,
  memory: { maxMessages: 20 },
});
const first = await agent.run("What is the weather in Seattle?", { conversation: "ada" });
const second = await agent.run("Which city did I ask about?", { conversation: "ada" });

// Twenty runs at the same time: each waits for its own calls only.
const startedAt = performance.now();
const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => sumAgent(index).run(`Add ${index} and 1`)));
const tookMs = performance.now() - startedAt;

console.log(`${first.text} ${second.text} Twenty runs took ${Math.round(tookMs)} ms together.`);
assert.match(second.text, /Seattle/u);
assert.deepEqual(
  answers.map(({ text }) => text),
  Array.from({ length: 20 }, (_, index) => String(index + 1)),
);

function sumAgent(a: number): Agent {
  const calls = [
    { tool: "add", input: { a, b: 1 } },
    { tool: "fetch-weather", input: { city: "Oslo" } },
  ];
  return createAgent({ model: mockModel([{ calls }, String(a + 1)]), workspace });
}
