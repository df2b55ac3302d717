/**
 * The smallest agent: one tool, one question. After `npm install`:
 *
 *     npx node --conditions=@kitbag/source examples/quick-start.ts
 *
 * Without a key a script plays the model. With a key, name a real one: KITBAG_MODEL=openai/gpt-5-mini.
 */
import assert from "node:assert/strict";

import { createWorkspace, defineTool } from "kitbag";
import { createAgent } from "kitbag/agent";
import { mockModel } from "kitbag/testing";
import { z } from "zod";

const echo = defineTool({
  name: "echo",
  description: "Says a text back to the user",
  input: z.object({ text: z.string() }),
  annotations: { readOnly: true },
  run: ({ text }) => text,
});

const script = mockModel([{ calls: [{ tool: "echo", input: { text: "Hello, world!" } }] }, "Hello, world!"]);
const agent = createAgent({
  model: process.env["KITBAG_MODEL"] ?? script,
  workspace: createWorkspace({ tools: [echo] }),
  limits: { maxSteps: 3 },
});

// Gives the answer, or throws an error that says what to do.
const { text } = await agent.run("Hello, world!");

console.log(text);
assert.match(text, /Hello/u);
