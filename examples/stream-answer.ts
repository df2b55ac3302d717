/**
 * Shows an answer while the model writes it, and what the agent does in between. After `npm install`:
 *
 *     npx node --conditions=@kitbag/source examples/stream-answer.ts
 *
 * Without a key a script plays the model; KITBAG_MODEL names a real one.
 */
import assert from "node:assert/strict";

import { createWorkspace, defineTool } from "kitbag";
import { createAgent } from "kitbag/agent";
import { mockModel } from "kitbag/testing";
import { z } from "zod";

const getTime = defineTool({
  name: "get-time",
  description: "Tells the time in a time zone",
  input: z.object({ zone: z.string().default("UTC").describe("a name of the IANA list: Asia/Tokyo") }),
  annotations: { readOnly: true },
  run: ({ zone }) => new Intl.DateTimeFormat("en-GB", { timeZone: zone, timeStyle: "short" }).format(),
});

const script = mockModel([
  { calls: ["Asia/Tokyo", "America/New_York"].map((zone) => ({ tool: "get-time", input: { zone } })) },
  "In Tokyo it is later than in New York.",
]);
const agent = createAgent({
  model: process.env["KITBAG_MODEL"] ?? script,
  workspace: createWorkspace({ tools: [getTime] }),
});

const run = agent.run("What time is it in Tokyo and in New York?");
let shown = "";
for await (const event of run) {
  if (event.type === "tool-end") console.log(`✓ ${event.tool}`);
  if (event.type !== "text-delta") continue;
  shown += event.text;
  process.stdout.write(event.text);
}
console.log();

const { text, usage } = await run;
assert.ok(shown.endsWith(text) && text !== "");
assert.ok(usage.toolCalls >= 1);
