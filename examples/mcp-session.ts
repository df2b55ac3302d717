/**
 * Two MCP clients of two generations at one `kitbag serve`: the first makes a Python tool, calls it, breaks it, changes it, rolls it
 * back and makes a pipeline of it; the second is told of each change and sees it. After `npm install`:
 *
 *     npx node --conditions=@kitbag/source examples/mcp-session.ts
 *
 * Needs python3, and a sandbox (`kitbag doctor` says which there is).
 */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** What a tool answered. */
interface Result {
  readonly failed: boolean;
  readonly text: string;
  readonly output: Readonly<Record<string, unknown>>;
}

type Listed = Awaited<ReturnType<Client["listTools"]>>["tools"][number];

/** A client that counts how often it was told that the tools changed. */
interface Person {
  readonly client: Client;
  told: number;
}

const hamlet = "to be or not to be";

const countWords = {
  name: "count_words",
  description: "Counts the words of a text",
  language: "python",
  code: 'import json, sys\ntext = json.load(sys.stdin)["text"]\nprint(json.dumps({"words": len(text.split())}))\n',
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  output: { type: "object", properties: { words: { type: "integer" } }, required: ["words"] },
  annotations: { readOnly: true },
  examples: [{ input: { text: "one two three" }, output: { words: 3 } }],
};

const report = {
  name: "report",
  description: "Tells in words how many words a text has",
  input: countWords.input,
  steps: [{ id: "count", tool: "count_words", args: { text: "$input.text" } }],
  result: { text: "There are ${count.words} words" },
  examples: [{ input: { text: "one two three" }, output: { text: "There are 3 words" } }],
};

const folder = mkdtempSync(join(tmpdir(), "kitbag-session-"));
const { url, child } = await serve();
const anna = await connect("anna", "2026-07-28");
const ben = await connect("ben", "2025-11-25");
try {
  await tellStory();
} finally {
  await Promise.all([anna.client.close(), ben.client.close()]);
  child.kill("SIGTERM");
  await once(child, "exit");
  rmSync(folder, { recursive: true, force: true });
}

async function tellStory(): Promise<void> {
  await createTool();
  await breakTool();
  await changeTool();
  await rollBack();
  await compose();
}

async function createTool(): Promise<void> {
  const made = await benIsTold(() => call(anna, "create_tool", countWords));
  assert.deepEqual([made.output["status"], made.output["version"]], ["live", "1.0.0"]);
  log("anna", `create_tool: count_words 1.0.0 is live, its example passed in the sandbox`);

  const seen = await find(ben, "count_words");
  assert.deepEqual(seen?.inputSchema, { ...countWords.input, additionalProperties: false });
  log("ben", `is told, and lists count_words: ${seen?.description}`);

  const [hers, his] = [
    await call(anna, "count_words", { text: hamlet }),
    await call(ben, "count_words", { text: "hi" }),
  ];
  assert.deepEqual([hers.output, his.output], [{ words: 6 }, { words: 1 }]);
  log("both", `count_words: ${hers.text} in "${hamlet}", ${his.text} in "hi"`);
}

async function breakTool(): Promise<void> {
  const told = ben.told;
  const code = countWords.code.replace("split()", "splits()");
  const refused = await call(anna, "update_tool", { name: "count_words", changes: { code } });
  assert.ok(refused.failed);
  assert.match(refused.text, /AttributeError: 'str' object has no attribute 'splits'/u);
  log("anna", `update_tool: refused, ${/AttributeError: [^.\n]*/u.exec(refused.text)?.[0]}`);

  const still = await call(ben, "count_words", { text: hamlet });
  assert.deepEqual([still.output, ben.told], [{ words: 6 }, told]);
  log("ben", `is told nothing, and goes on: ${still.text}`);
}

async function changeTool(): Promise<void> {
  const changes = {
    description: "Counts the different words of a text",
    code: countWords.code.replace("text.split()", "set(text.split())"),
    examples: [{ input: { text: "one two two" }, output: { words: 2 } }],
  };
  const changed = await benIsTold(() => call(anna, "update_tool", { name: "count_words", changes }));
  const replay = changed.output["replay"] as { calls: number; differences: readonly object[] };
  assert.equal(changed.output["version"], "1.0.1");
  assert.deepEqual(replay.differences, [{ input: { text: hamlet }, before: { words: 6 }, after: { words: 4 } }]);
  log(
    "anna",
    `update_tool: 1.0.1 is live; of ${replay.calls} recorded calls ${replay.differences.length} comes out differently`,
  );
  log("anna", `  ${JSON.stringify(replay.differences[0])}`);

  const seen = await find(ben, "count_words");
  assert.equal(seen?.description, changes.description);
  log("ben", `is told, and lists count_words: ${seen.description}`);

  const now = await call(ben, "count_words", { text: hamlet });
  const before = await call(anna, "call_tool", { name: "count_words", version: "1.0.0", input: { text: hamlet } });
  assert.deepEqual([now.text, before.text], ['{"words":4}', '{"words":6}']);
  log("both", `count_words: ${now.text}; call_tool with version 1.0.0: ${before.text}`);
}

async function rollBack(): Promise<void> {
  const back = await benIsTold(() => call(anna, "rollback_tool", { name: "count_words", version: "1.0.0" }));
  assert.equal(back.output["version"], "1.0.0");
  log("anna", "rollback_tool: 1.0.0 is live again");

  const [seen, now] = [await find(ben, "count_words"), await call(ben, "count_words", { text: hamlet })];
  assert.deepEqual([seen?.description, now.output], [countWords.description, { words: 6 }]);
  log("ben", `is told, and lists count_words: ${seen?.description}; it answers ${now.text}`);
}

async function compose(): Promise<void> {
  const made = await benIsTold(() => call(anna, "create_pipeline", report));
  assert.equal(made.output["status"], "live");
  log("anna", "create_pipeline: report is live");

  const told = await call(ben, "report", { text: hamlet });
  assert.deepEqual(told.output, { text: "There are 6 words" });
  log("ben", `is told, and calls report: ${told.text}`);

  const calls = [
    { name: "report", input: { text: "one two" } },
    { name: "count_words", version: "1.0.1", input: { text: hamlet } },
    { name: "count_words", input: {} },
  ];
  const batch = await call(ben, "call_tools", { calls });
  const { results } = JSON.parse(batch.text) as { results: { status: string; output?: object; code?: string }[] };
  assert.deepEqual(
    results.map(({ status, output, code }) => (status === "ok" ? output : code)),
    [{ text: "There are 2 words" }, { words: 4 }, "input-invalid"],
  );
  log("ben", `call_tools: ${results.map(({ output, code }) => JSON.stringify(output) ?? code).join(", ")}`);

  const code = `const counts = await Promise.all(["a b", "a b c"].map((text) => tools.count_words({ text })));
    return counts.reduce((sum, { words }) => sum + words, 0);`;
  const ran = await call(anna, "execute_code", { code });
  assert.equal(ran.output["result"], 5);
  log("anna", `execute_code: a program that calls count_words twice gives ${ran.output["result"]}`);
}

/** Starts the real command in a project of its own. */
async function serve(): Promise<{ url: URL; child: ChildProcess }> {
  const program = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
  const args = [
    "--conditions=@kitbag/source",
    program,
    "serve",
    "--no-token",
    "--http",
    "127.0.0.1:0",
    "--open",
    "forge,code",
  ];
  const started = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, KITBAG_HOME: join(folder, "home") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: started.stdout })) return { url: new URL(line), child: started };
  throw new Error("kitbag serve ended before it said where it listens");
}

async function connect(name: string, version: string): Promise<Person> {
  const mode = version === "2025-11-25" ? ("legacy" as const) : { pin: version };
  const onChanged = (): void => void (person.told += 1);
  const client = new Client(
    { name, version: "1.0.0" },
    { versionNegotiation: { mode }, listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } } },
  );
  const person: Person = { client, told: 0 };
  await client.connect(new StreamableHTTPClientTransport(url));
  log(name, `connects and speaks ${version}`);
  return person;
}

async function call(person: Person, name: string, input: object): Promise<Result> {
  const result = await person.client.callTool({ name, arguments: { ...input } }, { timeout: 60_000 });
  const [first] = result.content as readonly { readonly text?: string }[];
  const output = (result.structuredContent ?? {}) as Result["output"];
  return { failed: result.isError === true, text: first?.text ?? "", output };
}

/** Does something that changes the tools, and waits until the other client was told of it. */
async function benIsTold(change: () => Promise<Result>): Promise<Result> {
  const before = ben.told;
  const result = await change();
  assert.ok(!result.failed, result.text);
  for (const end = Date.now() + 10_000; ben.told === before;) {
    assert.ok(Date.now() < end, "ben was not told that the tools changed");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return result;
}

async function find(person: Person, name: string): Promise<Listed | undefined> {
  const { tools } = await person.client.listTools();
  return tools.find((tool) => tool.name === name);
}

function log(who: string, what: string): void {
  console.log(`${who.padEnd(5)} ${what}`);
}
