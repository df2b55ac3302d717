import type { Client } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";

import { connect2025, connect2026, type ServedParts } from "../../../../test/support/mcp-client.ts";
import { defineSkill } from "../../../core/define-skill.ts";
import { defineTool } from "../../../core/define-tool.ts";
import type { Skill } from "../../../core/skill.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import { createRuns } from "../../../records/runs/create-runs.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";

const toolTemplate = "kitbag://tools/{address}";
const valueTemplate = "kitbag://values/{tool}/{argument}{?value}";

const convert = defineTool({
  name: "convert",
  description: "Converts a file",
  input: {
    type: "object",
    properties: {
      format: { type: "string", enum: ["png", "pdf", "jpeg"] },
      quality: { $ref: "#/$defs/quality" },
      strict: { type: "boolean" },
      inputFile: { type: "string" },
      title: { type: "string" },
      apiKey: { type: "string" },
      password: { type: "string", enum: ["not-shown"] },
      hidden: { type: "string", writeOnly: true },
      many: { type: "array", items: { enum: ["a", "b"] } },
    },
    $defs: { quality: { anyOf: [{ const: "high" }, { type: "integer", enum: [1, 2] }] } },
  },
  examples: [{ input: { title: "Example title", format: "png" } }],
  run: () => "done",
});

test.for([connect2025, connect2026])(
  "completion/complete finds tools by the beginning of their names, then by what is near",
  async (connect) => {
    const workspace = createWorkspace({
      tools: ["merge", "measure", "remerge", "clock"].map(toolNamed),
      skills: [skillWith("pdf", "merge-pages")],
    });
    const { client } = await connect(workspace);

    const answers = await Promise.all(
      ["", "me", "merg", "clokc", "zzzz"].map((value) => complete(client, toolTemplate, { address: value })),
    );

    expect(answers).toEqual([
      ["clock", "measure", "merge", "remerge", "pdf/merge-pages"],
      ["measure", "merge", "remerge", "pdf/merge-pages"],
      ["merge", "remerge", "pdf/merge-pages"],
      ["clock"],
      [],
    ]);
  },
);

test("completion/complete gives at most 100 values, and says how many there are", async () => {
  const tools = Array.from({ length: 250 }, (_, index) => toolNamed(`tool-${String(index).padStart(3, "0")}`));
  const { client } = await connect2025(createWorkspace({ tools }));

  const { completion } = await client.complete({
    ref: { type: "ref/resource", uri: toolTemplate },
    argument: { name: "address", value: "tool" },
  });

  expect(completion).toMatchObject({ total: 250, hasMore: true });
  expect(completion.values).toHaveLength(100);
});

test.for([
  ["format", "", ["png", "pdf", "jpeg"]],
  ["format", "P", ["png", "pdf", "jpeg"]],
  ["format", "pd", ["pdf"]],
  ["quality", "", ["high", "1", "2"]],
  ["strict", "t", ["true"]],
  ["many", "", ["a", "b"]],
  ["title", "", ["Example title"]],
  ["password", "", []],
  ["nothing", "", []],
  ["__proto__", "", []],
] as const)(
  "the values of the argument %s for %j come from its schema and the examples",
  async ([argument, value, expected]) => {
    const { client } = await connect2025(createWorkspace({ tools: [convert] }));

    const values = await complete(client, valueTemplate, { value: value }, { tool: "convert", argument });

    expect(values).toEqual(expected);
  },
);

test("the arguments of a tool are completed too", async () => {
  const { client } = await connect2025(createWorkspace({ tools: [convert] }));

  expect(await complete(client, valueTemplate, { tool: "conv" })).toEqual(["convert"]);
  expect(await complete(client, valueTemplate, { argument: "f" }, { tool: "convert" })).toEqual([
    "format",
    "inputFile",
  ]);
  expect(await complete(client, valueTemplate, { argument: "f" }, { tool: "nothing" })).toEqual([]);
  expect(await complete(client, valueTemplate, { argument: "f" })).toEqual([]);
});

test("values that were given before are offered, the latest first: to those who gave them, and no secrets", async () => {
  const store = memoryStore();
  const workspace = createWorkspace({ tools: [convert], store, secrets: { CODE: "open-sesame-42" } });
  const calls = [
    { title: "first", apiKey: "k-1" },
    { title: "second", hidden: "h-1" },
    { title: "first" },
    { title: "the code is open-sesame-42" },
    { title: "write to ada@example.com" },
    { title: "x".repeat(5000) },
  ];
  for (const input of calls) await workspace.call("convert", input, { user: "token-1" });
  await workspace.call("convert", { title: "of somebody else" }, { user: "token-2" });
  const { client } = await connect2025(workspace, { store, caller: { id: "token-1", scopes: "all" } });

  const seen = (argument: string): Promise<string[]> =>
    complete(client, valueTemplate, { value: "" }, { tool: "convert", argument });

  expect(await seen("title")).toEqual(["Example title", "first", "second"]);
  expect(await seen("apiKey")).toEqual([]);
  expect(await seen("hidden")).toEqual([]);
});

test("only the last records are looked at, however many there are", async () => {
  const store = memoryStore();
  const workspace = createWorkspace({ tools: [convert], store });
  for (let index = 0; index < 400; index++) await workspace.call("convert", { title: `title ${index}` });
  const { client } = await connect2025(workspace, { store });

  const values = await complete(client, valueTemplate, { value: "title" }, { tool: "convert", argument: "title" });

  expect(values.length).toBe(51);
  expect(values.slice(0, 2)).toEqual(["title 399", "title 398"]);
});

test("kitbag://values reads the same values", async () => {
  const { client } = await connect2025(createWorkspace({ tools: [convert] }));

  const { contents } = await client.readResource({ uri: "kitbag://values/convert/format?value=p" });

  expect(JSON.parse((contents[0] as { text: string }).text)).toEqual({
    tool: "convert",
    argument: "format",
    values: ["png", "pdf", "jpeg"],
    total: 3,
    hasMore: false,
  });
});

test("paths are completed through listFiles, which is not asked for a way up and whose ways up are left out", async () => {
  const asked: string[] = [];
  const listFiles = async (prefix: string): Promise<string[]> => {
    asked.push(prefix);
    return ["docs/a.md", "docs/b.md", "docs/../../etc/passwd", "docs/\0.md"];
  };
  const { client } = await connect2025(createWorkspace({ tools: [convert], skills: [skillWith("pdf")] }), {
    listFiles,
  });
  const path = (value: string): Promise<string[]> =>
    complete(client, valueTemplate, { value: value }, { tool: "convert", argument: "inputFile" });

  const found = await path("docs/");
  const up = await Promise.all(["../", "docs/../..", "..\\x", "a\0b", `docs/${"x".repeat(2000)}`].map(path));
  const inText = await completePrompt(client, "use_skill", "arguments", "merge these: docs/");

  expect(found).toEqual(["docs/a.md", "docs/b.md"]);
  expect(up).toEqual([[], [], [], [], []]);
  expect(inText).toEqual(["merge these: docs/a.md", "merge these: docs/b.md"]);
  expect(asked).toEqual(["docs/", "docs/"]);
});

test("a search for paths that fails finds nothing", async () => {
  const listFiles = (): Promise<never> => Promise.reject(new Error("no disk"));
  const { client } = await connect2025(createWorkspace({ tools: [convert] }), { listFiles });

  const values = await complete(client, valueTemplate, { value: "docs/" }, { tool: "convert", argument: "inputFile" });

  expect(values).toEqual([]);
});

test("prompts complete the names of skills and tools, and values of the tool behind them", async () => {
  const create = defineTool({
    name: "create_tool",
    description: "Makes a tool",
    input: { type: "object", properties: { language: { enum: ["python", "node", "bash"] } } },
    run: () => "",
  });
  const workspace = createWorkspace({
    tools: [create, toolNamed("update_tool")],
    skills: [skillWith("pdf"), skillWith("png")],
  });
  const { client } = await connect2025(workspace);

  expect(await completePrompt(client, "use_skill", "name", "p")).toEqual(["pdf", "png"]);
  expect(await completePrompt(client, "improve_tool", "tool", "create")).toEqual(["create_tool"]);
  expect(await completePrompt(client, "create_tool", "language", "py")).toEqual(["python"]);
  expect(await completePrompt(client, "create_tool", "purpose", "x")).toEqual([]);
});

test("templates complete skills, files of skills, runs and handles", async () => {
  const store = memoryStore();
  await (await createRuns({ store }).open("report-1")).end({ status: "ok", output: 1 });
  const large = defineTool({ name: "large", description: "Gives much", run: () => "x".repeat(5000) });
  const workspace = createWorkspace({
    tools: [large],
    skills: [skillWith("pdf")],
    store,
    limits: { maxOutputBytes: 1000 },
  });
  await workspace.call("large", {}, { user: "somebody else" });
  const mine = await workspace.call("large");
  const { client } = await connect2025(workspace, { store });

  expect(await complete(client, "kitbag://skills/{name}", { name: "" })).toEqual(["pdf"]);
  expect(await complete(client, "skill://kitbag/{+path}", { path: "pdf/" })).toEqual(["pdf/SKILL.md"]);
  expect(await complete(client, "kitbag://runs/{id}{?after}", { id: "rep" })).toEqual(["report-1"]);
  expect(await complete(client, "kitbag://outputs/{handle}{?offset}", { handle: "" })).toEqual([
    mine.status === "ok" && mine.capped?.handle,
  ]);
  expect(await complete(client, "kitbag://runs/{id}{?after}", { after: "" })).toEqual([]);
});

test("runs and what others may see are not completed for callers without the scope", async () => {
  const store = memoryStore();
  await (await createRuns({ store }).open("report-1")).end({ status: "ok", output: 1 });
  const caller = { id: "token-1", scopes: new Set(["tools"]) };
  const { client } = await connect2025(createWorkspace({ store }), { store, caller });

  expect(await complete(client, "kitbag://runs/{id}{?after}", { id: "" })).toEqual([]);
});

test("completion/complete refuses what is not there, and gives nothing for what is too long", async () => {
  const { client } = await connect2025(createWorkspace({ skills: [skillWith("pdf")] }));

  await expect(completePrompt(client, "use_skil", "name", "")).rejects.toMatchObject({
    code: -32602,
    message: "Prompt not found: use_skil; did you mean use_skill?",
  });
  await expect(complete(client, "kitbag://nothing/{x}", { x: "" })).rejects.toMatchObject({ code: -32602 });
  expect(await complete(client, toolTemplate, { address: "x".repeat(100_000) })).toEqual([]);
  expect(await complete(client, toolTemplate, { nothing: "x" })).toEqual([]);
});

test("completion/complete asks the sources beside Kitbag's own", async () => {
  const parts: ServedParts = {
    prompts: [
      {
        list: () => [{ name: "hello" }, { name: "bare" }],
        get: async () => undefined,
        complete: async (prompt, { value }) => (prompt === "hello" ? [`${value}!`] : undefined),
      },
    ],
    resources: [
      {
        templates: () => [{ name: "t", uriTemplate: "test://{id}" }],
        read: async () => undefined,
        complete: async (template) => (template === "test://{id}" ? Array.from({ length: 150 }, String) : undefined),
      },
    ],
  };
  const { client } = await connect2025(createWorkspace(), parts);

  expect(await completePrompt(client, "hello", "who", "Ada")).toEqual(["Ada!"]);
  expect(await completePrompt(client, "bare", "who", "Ada")).toEqual([]);
  expect(await complete(client, "test://{id}", { id: "" })).toHaveLength(100);
});

/** Completes one variable of a template; `others` are filled in already. */
async function complete(
  client: Client,
  uri: string,
  typed: Record<string, string>,
  others?: Record<string, string>,
): Promise<string[]> {
  const [name = "", value = ""] = Object.entries(typed)[0] ?? [];
  const context = others === undefined ? {} : { context: { arguments: others } };
  const { completion } = await client.complete({
    ref: { type: "ref/resource", uri },
    argument: { name, value },
    ...context,
  });
  return completion.values;
}

async function completePrompt(client: Client, prompt: string, name: string, value: string): Promise<string[]> {
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: prompt },
    argument: { name, value },
  });
  return completion.values;
}

function toolNamed(name: string): ReturnType<typeof defineTool<string>> {
  return defineTool({ name, description: `Does ${name}`, run: () => name });
}

function skillWith(name: string, ...tools: string[]): Skill {
  return defineSkill({ name, description: `About ${name}`, tools: tools.map((tool) => toolNamed(tool)) });
}
