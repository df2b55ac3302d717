import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, onTestFinished, test } from "vitest";

import { openRuntimes } from "../runtimes/open-runtimes.ts";
import { memoryStore } from "../store/memory-store.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Forge, ForgeAnswer, ForgeOptions, LiveTool } from "./forge.ts";
import { openForge } from "./open-forge.ts";
import type { CodeDraft, ToolDraft } from "./tool-draft.ts";

const runtimes = openRuntimes({ home: mkdtempSync(join(tmpdir(), "kitbag-forge-home-")) });
afterAll(() => runtimes.close());

test("createTool() makes a Python tool that is live at once, and says how to call it", async () => {
  const { forge, workspace } = await setUp();
  const changes: string[] = [];
  workspace.onChange(({ added }) => changes.push(...added.map(({ wireName }) => wireName)));

  const answer = await forge.createTool(countWords);

  expect(answer).toMatchObject({
    status: "live",
    name: "count-words",
    wireName: "count-words",
    version: "1.0.0",
    inputSchema: { properties: { text: { type: "string" } } },
    examples: [{ passed: true, got: { words: 3 } }],
  });
  expect((answer as LiveTool).howToCall[1]).toBe(
    'Through call_tool: {"name": "count-words", "input": {"text":"one two three"}}',
  );
  expect(changes).toEqual(["count-words"]);
  expect(await workspace.call("count-words", { text: "a b" })).toMatchObject({ status: "ok", output: { words: 2 } });
});

const countWords: CodeDraft = {
  name: "count-words",
  description: "Counts the words of a text",
  language: "python",
  code: `import json, sys\ntext = json.load(sys.stdin)["text"]\nprint(json.dumps({"words": len(text.split())}))\n`,
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  output: { type: "object", properties: { words: { type: "integer" } }, required: ["words"] },
  annotations: { readOnly: true },
  examples: [{ input: { text: "one two three" }, output: { words: 3 } }],
};

async function setUp(options: Partial<ForgeOptions> = {}): Promise<{
  forge: Forge;
  workspace: Workspace;
  directory: string;
}> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), "kitbag-forge-test-"));
  const store = memoryStore();
  const workspace = options.workspace ?? createWorkspace({ runtimes, store });
  const home = options.home ?? join(directory, "home");
  const forge = await openForge({ workspace, directory, runtimes, store, home, ...options });
  onTestFinished(async () => {
    await forge.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { forge, workspace, directory };
}
