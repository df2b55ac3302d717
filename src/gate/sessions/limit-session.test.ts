import type { Client } from "@modelcontextprotocol/client";
import { afterAll, expect, onTestFinished, test } from "vitest";

import { connectHttp, listen, textOf, type ClientKind } from "../../../test/support/mcp-clients.ts";
import { openTestForge, openTestRuntimes } from "../../../test/support/open-test-forge.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Store } from "../../core/store.ts";
import { createForgeTools } from "../../forge/tools/create-forge-tools.ts";
import { codeRuntime } from "../../runtimes/code/code-runtime.ts";
import { createCodeTool } from "../../runtimes/code/create-code-tool.ts";
import { definePipeline } from "../../runtimes/pipeline/define-pipeline.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";

const generations: readonly ClientKind[] = ["legacy", "pinned"];
const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

const victim = 'Cannot call "victim": the token has none of the scopes';

test.for(generations)("a program of a %s client calls nothing that its token may not call", async (kind) => {
  const { connect, ran } = await setUp();
  const writer = await connect(kind, "tools:write");
  const coder = await connect(kind, "tools:of:global:execute_code");
  const code = "return await tools.victim({})";
  const caught = "try { await tools.look({}) } catch (error) { return error.message }";

  const direct = await call(writer, "call_tool", { name: "victim" });
  const program = await call(writer, "execute_code", { code });
  const inBatch = await call(writer, "call_tools", { calls: [{ name: "execute_code", input: { code } }] });
  const deletes = await call(writer, "execute_code", { code: 'return await tools.delete_tool({ name: "x" })' });
  const other = await call(coder, "execute_code", { code: caught });

  expect(direct).toContain(victim);
  expect(program).toContain(victim);
  expect(inBatch).toContain(victim.replaceAll('"', '\\"'));
  expect(deletes).toContain('Cannot call "delete_tool": the token has none of the scopes');
  expect(other).toContain("tools:of:global:look, tools:read, tools:write");
  expect(ran).toEqual([]);
});

test.for(generations)(
  "a tool that was made by somebody else does for a %s client what its token may do",
  async (kind) => {
    const { connect, ran } = await setUp();
    const few = await connect(kind, "tools:of:global:tidy", "tools:of:global:steps", "tools:read");
    const more = await connect(kind, "tools:of:global");

    expect(await call(few, "tidy")).toContain(victim);
    expect(await call(few, "steps")).toContain(victim);
    expect(await call(few, "call_tools", { calls: [{ name: "look" }, { name: "steps" }] })).toContain('"failed":1');
    expect(ran).toEqual(["look"]);
    expect(await call(more, "steps")).toContain("gone");
    expect(ran).toEqual(["look", "victim"]);
  },
);

test.for(generations)("what a %s client makes is tried with what its token may call, in its name", async (kind) => {
  const { connect, ran, store } = await setUp();
  const maker = await connect(kind, "tools:of:global:create_pipeline", "tools:of:global:pp", "tools:read");
  const draft = { name: "pp", description: "Calls another tool", examples: [{ input: {} }] };

  const refused = await call(maker, "create_pipeline", { ...draft, steps: [{ id: "a", tool: "victim", args: {} }] });
  const made = await call(maker, "create_pipeline", { ...draft, steps: [{ id: "a", tool: "look", args: {} }] });

  expect(refused).toContain('wants to call "victim", which somebody may not call');
  expect(made).toContain('"status":"live"');
  expect(ran).toEqual(["look"]);
  expect(await usersOf(store, "look")).toEqual(["somebody"]);
  expect(await call(maker, "pp")).toContain("seen");
});

test.for(generations)("test_tool runs for a %s client no tool that its token may not call", async (kind) => {
  const { connect } = await setUp();
  const maker = await connect(kind, "tools");
  const writer = await connect(kind, "tools:write");
  const draft = { ...erase, annotations: { destructive: true } };

  expect(await call(maker, "create_tool", draft)).toContain('"status":"live"');
  expect(await call(writer, "test_tool", { name: "erase" })).toContain('Cannot find the tool "erase"');
  expect(await call(maker, "test_tool", { name: "erase" })).toContain('"passed":true');
});

test.for(generations)("a %s client changes no tool that its token may not call", async (kind) => {
  const { connect } = await setUp();
  const maker = await connect(kind, "tools");
  const writer = await connect(kind, "tools:write");
  const eraser = await connect(kind, "tools:write", "tools:of:global:erase", "tools:of:clean");
  const draft = { ...erase, annotations: { destructive: true } };
  const other = { ...erase, name: "other" };
  const skill = (...tools: object[]) => ({ name: "clean", description: "Cleans", instructions: "Clean.", tools });
  await call(maker, "create_tool", draft);
  await call(maker, "create_skill", skill(draft, other));
  const examples = { examples: [{ input: {}, output: "erased" }] };
  const edit = { name: "erase", changes: examples };

  expect(await call(writer, "update_tool", edit)).toContain('Cannot call "erase": the token has none of the scopes');
  expect(await call(writer, "update_tool", { name: "erase", changes: { annotations: null } })).toContain("scopes");
  for (const tools of [[{ ...draft, ...examples }, other], [other]]) {
    const refused = await call(writer, "create_skill", { ...skill(...tools), replace: true });
    expect(refused).toContain('Cannot call "clean/erase": the token has none of the scopes');
  }
  expect(await call(eraser, "update_tool", edit)).toContain('"status":"live"');
  expect(await call(eraser, "create_skill", { ...skill(other), replace: true })).toContain('"status":"live"');
  // It is gone from the skill by now, and is what it was.
  expect(await call(writer, "create_skill", { ...skill({ ...draft, ...examples }, other), replace: true })).toContain(
    'Cannot call "clean/erase"',
  );
});

test.for(generations)("an edit by a %s client makes only calls again that its user made", async (kind) => {
  const { connect, store, approve } = await setUp();
  const maker = await connect(kind, "tools");
  const draft = { ...erase, name: "echo", code: "cat", annotations: { readOnly: true } };
  const input = { type: "object", properties: { q: { type: "string" } } };
  await call(maker, "create_tool", { ...draft, input });
  const sharing = await call(maker, "update_tool", { name: "echo", changes: { shared: true } });
  await approve(String(JSON.parse(sharing).id));
  await call(maker, "echo", { q: "mine" });
  const boss = await connect(kind, "tools", { id: "boss" });
  await call(boss, "echo", { q: "theirs" });
  const writer = await connect(kind, "tools:write");

  const own = await call(writer, "update_tool", { name: "echo", changes: { code: "cat; echo 2" } });

  expect(await usersOf(store, "echo")).toEqual(["somebody", "boss"]);
  expect(own).toContain("mine");
  expect(own).not.toContain("theirs");
});

test.for(generations)("what a %s client makes is another user's neither to see nor to change", async (kind) => {
  const { connect, approve } = await setUp();
  const ada = await connect(kind, "tools", { id: "ada" });
  const bob = await connect(kind, "tools", { id: "bob" });
  const draft = { ...erase, name: "echo", code: "cat", description: "Ada's own" };
  const skill = { name: "notes", description: "Ada's notes", instructions: "Write it down" };
  await call(ada, "create_tool", draft);
  await call(ada, "create_skill", skill);

  for (const [tool, input] of [
    ["echo", {}],
    ["update_tool", { name: "echo", changes: { code: "true" } }],
    ["delete_tool", { name: "echo" }],
    ["delete_tool", { name: "echo", undo: true }],
    ["rollback_tool", { name: "echo", version: "1.0.0" }],
    ["test_tool", { name: "echo" }],
    ["list_versions", { name: "echo" }],
    ["tool_state", { action: "list", tool: "echo" }],
    ["create_tool", draft],
    ["list_versions", { name: "notes" }],
    ["delete_skill", { name: "notes" }],
    ["delete_skill", { name: "notes", undo: true }],
    ["rollback_tool", { name: "notes", version: "1.0.0" }],
    ["create_skill", { ...skill, replace: true }],
    ["create_skill", skill],
    ["activate_skill", { name: "notes" }],
    ["read_skill_file", { skill: "notes", path: "SKILL.md" }],
  ] as const) {
    const answer = await call(bob, tool, input).catch(String);
    expect(answer, tool).toMatch(/not found|Cannot find|Cannot read|is taken/u);
    expect(answer, tool).not.toContain("Ada's");
  }
  for (const tool of ["list_versions", "list_skills"]) {
    expect(await call(bob, tool)).not.toMatch(/echo|notes/u);
    expect(await call(ada, tool)).toMatch(/echo|notes/u);
  }
  const { tools } = await bob.listTools();
  expect(tools.map(({ name }) => name)).not.toContain("echo");

  const sharing = await call(ada, "update_tool", { name: "echo", changes: { shared: true } });
  expect(sharing).toContain("to be shared with every user");
  expect(await approve(String(JSON.parse(sharing).id))).toBe("live");

  expect(await call(bob, "echo")).toBe("{}");
  for (const [tool, input] of [
    ["update_tool", { name: "echo", changes: { code: "true" } }],
    ["delete_tool", { name: "echo" }],
    ["rollback_tool", { name: "echo", version: "1.0.0" }],
  ] as const) {
    expect(await call(bob, tool, input)).toContain('Cannot change the tool "echo": another user made it');
  }
  expect(await call(ada, "update_tool", { name: "echo", changes: { code: "echo 2" } })).toContain('"status":"live"');
});

const erase = {
  name: "erase",
  description: "Erases",
  language: "bash",
  code: "echo erased",
  examples: [{ input: {} }],
};

interface Served {
  /** What ran. */
  readonly ran: string[];
  readonly store: Store;
  /** Agrees to a draft as the person who runs Kitbag; answers with what it is then. */
  approve(id: string): Promise<string>;
  /** Whoever they are, they are `somebody` unless an id is given. */
  connect(kind: ClientKind, ...scopes: readonly (string | { readonly id: string })[]): Promise<Client>;
}

async function setUp(): Promise<Served> {
  const ran: string[] = [];
  const code = codeRuntime();
  onTestFinished(() => code.close());
  const store = memoryStore();
  const workspace = createWorkspace({ runtimes: [...runtimes, code], store });
  const { forge } = await openTestForge(runtimes, { workspace, store });
  const tools = [
    defineTool({
      name: "victim",
      description: "Destroys",
      annotations: { destructive: true },
      run: () => (ran.push("victim"), "gone"),
    }),
    defineTool({
      name: "look",
      description: "Looks",
      annotations: { readOnly: true },
      run: () => (ran.push("look"), "seen"),
    }),
    defineTool({
      name: "tidy",
      description: "Calls another tool",
      async run(_input, { call: callInside }) {
        const outcome = await callInside("victim");
        return outcome.status === "ok" ? outcome.output : outcome.error.message;
      },
    }),
    definePipeline({ name: "steps", description: "Calls another", steps: [{ id: "a", tool: "victim", args: {} }] }),
    createCodeTool(),
    ...createForgeTools(forge),
  ];
  for (const tool of tools) workspace.add(tool);
  return {
    ran,
    store,
    approve: async (id) => (await forge.approve(id)).status,
    async connect(kind, ...given) {
      const token = crypto.randomUUID();
      const scopes = given.filter((one) => typeof one === "string");
      const id = given.find((one) => typeof one === "object")?.id ?? "somebody";
      const { url } = await listen({ workspace }, { tokens: [{ id, token, scopes }] });
      return connectHttp(url, { kind, token });
    },
  };
}

async function call(client: Client, name: string, input: object = {}): Promise<string> {
  return textOf(await client.callTool({ name, arguments: { ...input } }));
}

/** Whose the recorded calls of a tool are. */
async function usersOf({ log }: Store, tool: string): Promise<unknown[]> {
  const entries = await log.read("calls", { after: 0, limit: 1000 });
  const calls = entries.map(({ value }) => value as { type?: unknown; tool?: unknown; user?: unknown });
  return calls.filter((one) => one.type === "call-start" && one.tool === tool).map(({ user }) => user);
}
