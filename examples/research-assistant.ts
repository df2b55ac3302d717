/**
 * An agent that works in several steps: it searches, extracts and saves. Only the tool that saves may write, and only into its own folder.
 * After `npm install`:
 *
 *     npx node --conditions=@kitbag/source examples/research-assistant.ts
 *
 * Without a key a script plays the model; KITBAG_MODEL names a real one.
 */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { createWorkspace, defineTool, injected } from "kitbag";
import { createAgent } from "kitbag/agent";
import { mockModel } from "kitbag/testing";
import { z } from "zod";

const searchPapers = defineTool({
  name: "search-papers",
  description: "Searches scientific papers",
  input: z.object({ query: z.string(), from: z.int().default(2015).describe("the earliest year") }),
  annotations: { readOnly: true },
  run({ from }) {
    const papers = [
      { title: "Attention Is All You Need", year: 2017, finding: "Self-attention alone is enough to translate." },
      { title: "BERT", year: 2018, finding: "Training in both directions improves understanding." },
    ];
    return papers.filter(({ year }) => year >= from);
  },
});

const extractInsights = defineTool({
  name: "extract-insights",
  description: "Picks the sentences of a text that matter most",
  input: z.object({ text: z.string(), count: z.int().min(1).default(5) }),
  annotations: { readOnly: true },
  run: ({ text, count }) => text.split(/(?<=\.)\s+/u).slice(0, count),
});

const saveFindings = defineTool({
  name: "save-findings",
  description: "Saves findings as a text file",
  input: z.object({ file: z.string().regex(/^[\w-]+\.txt$/u), content: z.string() }),
  // The model never sees the folder, and cannot choose another.
  inject: { folder: injected<string>() },
  async run({ file, content }, { injected: { folder } }) {
    await writeFile(join(folder, basename(file)), content);
    return `Saved ${file}`;
  },
});

const findings = "Self-attention alone is enough to translate. Training in both directions improves understanding.";
const script = mockModel([
  { calls: [{ tool: "search-papers", input: { query: "transformer architectures" } }] },
  { calls: [{ tool: "extract-insights", input: { text: findings, count: 2 } }] },
  { calls: [{ tool: "save-findings", input: { file: "research-notes.txt", content: findings } }] },
  "I have saved two insights about transformers to research-notes.txt.",
]);

const folder = await mkdtemp(join(tmpdir(), "kitbag-research-"));
try {
  const agent = createAgent({
    model: process.env["KITBAG_MODEL"] ?? script,
    workspace: createWorkspace({ tools: [searchPapers, extractInsights, saveFindings], injected: { folder } }),
    limits: { maxSteps: 8 },
  });

  const { text, steps } = await agent.run(
    "Research transformer architectures, extract the key insights, and save them to research-notes.txt",
  );

  console.log(`${text} (${steps} steps)`);
  assert.match(await readFile(join(folder, "research-notes.txt"), "utf8"), /attention/iu);
} finally {
  await rm(folder, { recursive: true });
}
