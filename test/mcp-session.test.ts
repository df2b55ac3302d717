import type { Client } from "@modelcontextprotocol/client";
import { expect, test, vi } from "vitest";

import { createProject } from "./run-kitbag.ts";
import { connectHttp, textOf, type ClientKind } from "./support/mcp-clients.ts";
import { needProgram } from "./support/need-program.ts";
import { connectStdio, startHttp } from "./support/serve-kitbag.ts";

vi.setConfig({ testTimeout: 180_000 });

const patience = { timeout: 20_000, interval: 20 };

const countWords = {
  name: "count_words",
  description: "Counts words",
  language: "python",
  code: 'import json, sys\ntext = json.load(sys.stdin)["text"]\nprint(json.dumps({"words": len(text.split())}))\n',
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  output: { type: "object", properties: { words: { type: "integer" } }, required: ["words"] },
  annotations: { readOnly: true },
  examples: [{ input: { text: "one two three" }, output: { words: 3 } }],
};

const different = {
  description: "Counts different words",
  code: countWords.code.replace("text.split()", "set(text.split())"),
  examples: [{ input: { text: "one two two" }, output: { words: 2 } }],
};

const report = {
  name: "report",
  description: "Tells how many words",
  input: countWords.input,
  steps: [{ id: "count", tool: "count_words", args: { text: "$input.text" } }],
  result: { text: "There are ${count.words} words" },
  examples: [{ input: { text: "one two three" }, output: { text: "There are 3 words" } }],
};

test.for<[ClientKind, ClientKind]>([
  ["pinned", "v1"],
  ["legacy", "auto"],
])(
  "kitbag serve tells a client of each change that another makes: %s makes, %s sees",
  async ([maker, viewer], context) => {
    needProgram(context, "python3");
    const { url } = await startHttp(createProject(), ["--no-token", "--open", "forge,code"]);
    const client = await connectHttp(url, { kind: maker });
    const other = await watch(url, viewer);

    const seen = [
      await other.seeAfter(() => call(client, "create_tool", countWords)),
      await other.seeAfter(() => call(client, "update_tool", { name: "count_words", changes: different })),
      await other.seeAfter(() => call(client, "rollback_tool", { name: "count_words", version: "1.0.0" })),
      await other.seeAfter(() => call(client, "create_pipeline", report)),
      await other.seeAfter(() => call(client, "delete_tool", { name: "report" })),
      await other.seeAfter(() => call(client, "delete_tool", { name: "report", undo: true })),
    ];

    expect(seen).toEqual([
      ["Counts words"],
      ["Counts different words"],
      ["Counts words"],
      ["Counts words", "Tells how many words"],
      ["Counts words"],
      ["Counts words", "Tells how many words"],
    ]);
  },
);

test("kitbag serve keeps the tool that is live when a change of it does not pass, and tells nobody else", async (context) => {
  needProgram(context, "python3");
  const { url } = await startHttp(createProject(), ["--no-token", "--open", "forge,code"]);
  const client = await connectHttp(url);
  const other = await watch(url, "legacy");
  await other.seeAfter(() => call(client, "create_tool", countWords));
  const told = other.told();

  const code = countWords.code.replace("split()", "splits()");
  const broken = await client.callTool({ name: "update_tool", arguments: { name: "count_words", changes: { code } } });
  const answer = await call(other.client, "count_words", { text: "to be or not to be" });

  expect(broken.isError).toBe(true);
  expect(textOf(broken)).toContain("AttributeError: 'str' object has no attribute 'splits'");
  expect(textOf(broken)).toContain('main.py", line 3');
  expect(answer).toEqual({ words: 6 });
  expect(other.told()).toBe(told);
});

test("kitbag serve says which recorded calls come out differently, and still calls the version before", async (context) => {
  needProgram(context, "python3");
  const { url } = await startHttp(createProject(), ["--no-token", "--open", "forge,code"]);
  const client = await connectHttp(url, { kind: "pinned" });
  const text = "to be or not to be";
  await call(client, "create_tool", countWords);
  await call(client, "count_words", { text });

  const changed = await call(client, "update_tool", { name: "count_words", changes: different });
  const inputs = ["1.0.0", "1.0.1"].map((version) => ({ name: "count_words", version, input: { text } }));
  const batch = await client.callTool({ name: "call_tools", arguments: { calls: inputs } });
  const code = "return (await tools.count_words({ text: 'to be or not to be' })).words";
  const ran = await call(client, "execute_code", { code });

  expect(changed).toMatchObject({
    version: "1.0.1",
    change: { from: "1.0.0", step: "patch" },
    replay: { calls: 1, same: 0, differences: [{ input: { text }, before: { words: 6 }, after: { words: 4 } }] },
  });
  expect(JSON.parse(textOf(batch))).toMatchObject({ results: [{ output: { words: 6 } }, { output: { words: 4 } }] });
  expect(ran).toMatchObject({ result: 4 });
});

test("kitbag serve shows on stdio what another kitbag serve of the same project made", async (context) => {
  needProgram(context, "python3");
  const project = createProject();
  const { client: first } = await connectStdio(project, ["--open", "forge,code"]);
  const { client: second } = await connectStdio(project, ["--open", "forge,code"]);
  let told = 0;
  second.setNotificationHandler("notifications/tools/list_changed", () => void (told += 1));

  await call(first, "create_tool", countWords);
  await expect.poll(() => told, patience).toBeGreaterThan(0);
  const answer = await call(second, "count_words", { text: "a b" });
  await call(second, "update_tool", { name: "count_words", changes: different });
  await expect.poll(() => look(first), patience).toEqual(["Counts different words"]);

  expect(answer).toEqual({ words: 2 });
  expect(await call(first, "count_words", { text: "a a" })).toEqual({ words: 1 });
});

interface Watching {
  readonly client: Client;
  told(): number;
  /** Makes a change, waits until the client was told, and answers with what it sees then. */
  seeAfter(change: () => Promise<unknown>): Promise<readonly string[]>;
}

async function watch(url: string, kind: ClientKind): Promise<Watching> {
  let told = 0;
  const client = await connectHttp(url, { kind, onToolsChanged: () => void (told += 1) });
  // The stream on which a client is told opens after it is connected.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return {
    client,
    told: () => told,
    async seeAfter(change) {
      const before = told;
      await change();
      await expect.poll(() => told, patience).toBeGreaterThan(before);
      return look(client);
    },
  };
}

/** The descriptions of the tools that were made here. */
async function look(client: Client): Promise<readonly string[]> {
  const { tools } = await client.listTools();
  return tools
    .filter(({ name }) => ["count_words", "report"].includes(name))
    .map(({ description }) => description ?? "");
}

async function call(client: Client, name: string, input: object): Promise<unknown> {
  const result = await client.callTool({ name, arguments: { ...input } }, { timeout: 60_000 });
  if (result.isError === true) throw new Error(textOf(result));
  return result.structuredContent;
}
