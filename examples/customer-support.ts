/**
 * A support agent with three tools: it looks up an order, searches the help pages, and opens a ticket only after a person has agreed. After
 * `npm install`:
 *
 *     npx node --conditions=@kitbag/source examples/customer-support.ts
 *
 * Without a key a script plays the model; KITBAG_MODEL names a real one.
 */
import assert from "node:assert/strict";

import { createWorkspace, defineTool } from "kitbag";
import { createAgent } from "kitbag/agent";
import { mockModel } from "kitbag/testing";
import { z } from "zod";

const searchHelp = defineTool({
  name: "search-help",
  description: "Searches the help pages",
  input: z.object({ query: z.string(), limit: z.int().min(1).max(10).default(5) }),
  annotations: { readOnly: true },
  run({ query, limit }) {
    const pages = [
      { title: "How to reset a password", url: "https://help.example.com/reset" },
      { title: "Shipping and delivery", url: "https://help.example.com/shipping" },
    ];
    const words = query.toLowerCase().split(/\s+/u);
    return pages.filter(({ title }) => words.some((word) => title.toLowerCase().includes(word))).slice(0, limit);
  },
});

const checkOrder = defineTool({
  name: "check-order",
  description: "Looks up an order by its number. Use it before you say anything about an order.",
  input: z.object({ order: z.string().regex(/^\d+$/u) }),
  annotations: { readOnly: true },
  run: ({ order }) => ({ order, status: "shipped", tracking: "1Z999AA10123456784", expected: "2026-12-10" }),
});

const tickets: string[] = [];
const createTicket = defineTool({
  name: "create-ticket",
  description: "Opens a support ticket",
  input: z.object({
    email: z.email(),
    subject: z.string(),
    priority: z.enum(["low", "normal", "high"]).default("normal"),
  }),
  needsApproval: true,
  run({ subject, priority }) {
    tickets.push(subject);
    return { ticket: `TKT-${tickets.length}`, priority };
  },
});

const question =
  "I ordered something last week (order 12345) and it has not arrived. Can you help? I am ada@example.com.";
const ticket = { email: "ada@example.com", subject: "Order 12345 has not arrived" };
const script = mockModel([
  {
    calls: [
      { tool: "check-order", input: { order: "12345" } },
      { tool: "search-help", input: { query: "shipping" } },
    ],
  },
  { calls: [{ tool: "create-ticket", input: ticket }] },
  "Your order 12345 was shipped, and is expected on 2026-12-10. I have opened the ticket TKT-1.",
]);

const asked: string[] = [];
const agent = createAgent({
  model: process.env["KITBAG_MODEL"] ?? script,
  workspace: createWorkspace({ tools: [searchHelp, checkOrder, createTicket] }),
  instructions: "You help the customers of a shop. Be brief. Say only what the tools have told you.",
  limits: { maxSteps: 5 },
  approve({ address, tool, input }) {
    if (!tool.needsApproval) return { decision: "approve" };
    asked.push(address);
    console.log(`A person is asked: ${address} ${JSON.stringify(input)}`);
    return { decision: "approve" };
  },
});

const { text, usage } = await agent.run(question);

console.log(text);
assert.match(text, /12345/u);
assert.ok(usage.toolCalls >= 1);
// Whatever the model does, no ticket is opened that a person was not asked about.
assert.equal(tickets.length, asked.length);
