/**
 * The same agent and tools with three providers: only the name of the model changes. After `npm install`:
 *
 *     npx node --conditions=@kitbag/source examples/switch-provider.ts
 *
 * A small server on this machine speaks the wire formats of the three. With your own keys, leave out `baseUrl` and `apiKey`: then
 * `createAgent({ model: "anthropic/claude-sonnet-5" })` is all there is to it.
 */
import assert from "node:assert/strict";

import { createWorkspace, defineTool } from "kitbag";
import { createAgent } from "kitbag/agent";
import { resolveModel } from "kitbag/models";
import { z } from "zod";

import { startModelServer } from "../test/support/model-server.ts";

const calculateInterest = defineTool({
  name: "calculate-interest",
  description: "Calculates compound interest",
  input: z.object({ principal: z.number(), rate: z.number().describe("percent a year"), years: z.int() }),
  annotations: { readOnly: true },
  run: ({ principal, rate, years }) => `After ${years} years: $${(principal * (1 + rate / 100) ** years).toFixed(2)}`,
});
const workspace = createWorkspace({ tools: [calculateInterest] });
const question = "If I invest $10,000 at 7 % a year for 10 years, how much will I have?";

const input = { principal: 10_000, rate: 7, years: 10 };
const turns = [
  { calls: [{ id: "call_1", name: "calculate-interest", input }] },
  { text: "You will have $19,671.51 after 10 years." },
];
const server = await startModelServer([...turns, ...turns, ...turns]);
try {
  for (const [name, dialect] of [
    ["openai/gpt-5-mini", "openai-responses"],
    ["anthropic/claude-sonnet-5", "anthropic"],
    ["google/gemini-3-flash", "google"],
  ] as const) {
    const model = await resolveModel(name, { baseUrl: server.url(dialect), apiKey: server.key });
    const { text } = await createAgent({ model, workspace }).run(question);
    console.log(`${name}: ${text}`);
    assert.match(text, /19,671\.51/u);
  }
} finally {
  await server.close();
}
