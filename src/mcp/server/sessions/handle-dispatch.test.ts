import type { Client } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";

import { connectHttp, listen, textOf, toolNames } from "../../../../test/support/mcp-clients.ts";
import { defineSkill } from "../../../core/define-skill.ts";
import { defineTool } from "../../../core/define-tool.ts";
import type { Tool } from "../../../core/tool.ts";
import { codeRuntime } from "../../../runtimes/code/code-runtime.ts";
import { createCodeTool } from "../../../runtimes/code/create-code-tool.ts";
import { definePipeline } from "../../../runtimes/pipeline/define-pipeline.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";

const tokens = [
  { id: "one", token: "token-of-one-1234567890" },
  { id: "two", token: "token-of-two-1234567890" },
];

test("activate_skill gives a client of 2026 a session, in which alone the skill is open", async () => {
  const { client } = await connect();

  const { session, tools } = await activate(client);
  const inside = await client.callTool({ name: "call_tool", arguments: { name: "pdf__extract", session } });
  const outside = await client.callTool({ name: "call_tool", arguments: { name: "pdf__extract" } });
  const batch = await client.callTool({
    name: "call_tools",
    arguments: { session, calls: [{ name: "pdf__extract" }, { name: "pdf__extract" }] },
  });

  expect(tools).toMatchObject([{ name: "pdf__extract" }]);
  expect(textOf(inside)).toBe("text");
  expect([outside.isError, textOf(outside)]).toEqual([true, expect.stringContaining("pdf")]);
  expect(textOf(batch)).toContain('"failed":0');
  expect(await toolNames(client)).not.toContain("pdf__extract");
});

test("list_skills and deactivate_skill look into the session that they are given", async () => {
  const { client } = await connect();
  const { session } = await activate(client);

  const before = await client.callTool({ name: "list_skills", arguments: { session } });
  const everywhere = await client.callTool({ name: "list_skills", arguments: {} });
  const closed = await client.callTool({ name: "deactivate_skill", arguments: { name: "pdf", session } });
  const after = await client.callTool({ name: "call_tool", arguments: { name: "pdf__extract", session } });
  const nowhere = await client.callTool({ name: "deactivate_skill", arguments: { name: "pdf" } });

  expect(textOf(before)).toContain('"open":true');
  expect(textOf(everywhere)).toContain('"open":false');
  expect(textOf(closed)).toContain('"closed":["pdf"]');
  expect(after.isError).toBe(true);
  expect([nowhere.isError, textOf(nowhere)]).toEqual([true, expect.stringContaining("activate_skill answered with")]);
});

test("a session that is forged, somebody else's or no text is refused alike", async () => {
  const { client, url } = await connect();
  const other = await connectHttp(url, { kind: "pinned", token: tokens[1]?.token ?? "" });
  const { session } = await activate(client);
  const call = (by: Client, handle: unknown): Promise<unknown> =>
    by.callTool({ name: "call_tool", arguments: { name: "pdf__extract", session: handle } }).then(textOf);

  expect(await call(other, session)).toContain("it has ended, or its id is wrong");
  expect(await call(client, `${session}x`)).toContain("it has ended, or its id is wrong");
  expect(await call(client, 7)).toContain("the session that activate_skill answered with");
  expect(await call(client, "__proto__")).toContain("it has ended, or its id is wrong");
  expect(await call(client, session)).toBe("text");
});

test("a caller keeps no more sessions than it may: the oldest makes room", async () => {
  const { client } = await connect({ maxHandlesPerCaller: 2 });
  const [first, second, third] = [await activate(client), await activate(client), await activate(client)];
  const call = (session: string): Promise<string> =>
    client.callTool({ name: "call_tool", arguments: { name: "pdf__extract", session } }).then(textOf);

  expect(await call(first.session)).toContain("it has ended");
  expect(await call(second.session)).toBe("text");
  expect(await call(third.session)).toBe("text");
});

test("a session ends when nobody uses it, and with the server", async () => {
  const { client } = await connect({ idleMs: 200 });
  const { session } = await activate(client);
  const call = (): Promise<string> =>
    client.callTool({ name: "call_tool", arguments: { name: "pdf__extract", session } }).then(textOf);

  expect(await call()).toBe("text");
  await new Promise((resolve) => setTimeout(resolve, 600));

  expect(await call()).toContain("it has ended");
});

test("activate_skill that fails leaves no session", async () => {
  const { client } = await connect();

  const failed = await client.callTool({ name: "activate_skill", arguments: { name: "pfd" } });

  expect(failed.isError).toBe(true);
  expect(textOf(failed)).toContain("pdf");
  expect(textOf(failed)).not.toContain("howToCall");
});

test("a client of 2026 that names no session is told that this is what is missing, whatever it calls", async () => {
  const { client } = await connect();
  await activate(client);
  const code = "return await tools.pdf.extract({})";

  const direct = await call(client, "pdf__extract");
  const called = await call(client, "call_tool", { name: "pdf__extract" });
  const batch = await call(client, "call_tools", { calls: [{ name: "pdf/extract" }] });
  const program = await call(client, "execute_code", { code });
  const steps = await call(client, "steps");
  const other = await call(client, "execute_code", { code: "throw new Error('mine')" });

  const missing = /belongs to the skill .*pdf.*, and no .*session.* says where that is open; use call_tool with/u;
  for (const answer of [direct, called, batch]) expect(answer).toMatch(missing);
  for (const answer of [program, steps])
    expect(answer).toMatch(/\n→ Give the "session" that activate_skill answers with/u);
  expect(other).toContain("mine");
  expect(other).not.toContain("session");
});

test("execute_code of a client of 2026 runs its program in the session that it is given", async () => {
  const { client, url } = await connect();
  const { session } = await activate(client);
  const code = "return await tools.pdf.extract({})";
  const older = await connectHttp(url, { kind: "legacy", token: tokens[0]?.token ?? "" });

  expect(await call(client, "execute_code", { code, session })).toContain('"result":"text"');
  expect(await call(client, "execute_code", { code: "return 1" })).toContain('"result":1');
  expect(await call(client, "execute_code", { code, session: "none" })).toContain("it has ended, or its id is wrong");
  expect(await call(client, "execute_code", { code, session: 7 })).toContain(
    "session that activate_skill answered with",
  );
  expect(await parametersOf(client, "execute_code")).toContain("session");
  expect(await parametersOf(client, "keeper")).toEqual(["session", "code"]);
  expect(await call(client, "keeper", { code: "return 1", session: "own" })).toContain('"result":1');
  expect(await parametersOf(older, "execute_code")).not.toContain("session");
});

const pdf = defineSkill({
  name: "pdf",
  description: "Works with PDF files",
  workDirection: "Extract first.",
  tools: [defineTool({ name: "extract", description: "Extracts the text", run: () => "text" })],
});

async function connect(limits: object = {}): Promise<{ client: Client; url: string }> {
  const runtime = codeRuntime({ tools: ({ availableTools }) => availableTools() });
  onTestFinished(() => runtime.close());
  const { inputSchema, ...keeper } = createCodeTool({ name: "keeper" });
  const own = { session: { type: "string" }, code: { type: "string" } } as const;
  const tools: Tool[] = [
    createCodeTool(),
    { ...keeper, inputSchema: { ...inputSchema, properties: own } },
    definePipeline({ name: "steps", description: "Extracts", steps: [{ id: "a", tool: "pdf/extract", args: {} }] }),
  ];
  const workspace = createWorkspace({ tools, skills: [pdf], runtimes: [runtime] });
  const { url } = await listen({ workspace, limits }, { tokens });
  return { client: await connectHttp(url, { kind: "pinned", token: tokens[0]?.token ?? "" }), url };
}

async function activate(client: Client): Promise<{ session: string; tools: unknown }> {
  const opened = await client.callTool({ name: "activate_skill", arguments: { name: "pdf" } });
  return JSON.parse(textOf(opened)) as { session: string; tools: unknown };
}

async function call(client: Client, name: string, input: object = {}): Promise<string> {
  return textOf(await client.callTool({ name, arguments: { ...input } }));
}

async function parametersOf(client: Client, name: string): Promise<string[]> {
  const { tools } = await client.listTools();
  return Object.keys(tools.find((tool) => tool.name === name)?.inputSchema.properties ?? {});
}
