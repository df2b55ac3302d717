import type { Client } from "@modelcontextprotocol/client";
import { afterAll, expect, onTestFinished, test } from "vitest";

import { connectHttp, listen, textOf, type ClientKind } from "../../../../test/support/mcp-clients.ts";
import { openTestForge, openTestRuntimes } from "../../../../test/support/open-test-forge.ts";
import { defineTool } from "../../../core/define-tool.ts";
import type { Store } from "../../../core/store.ts";
import { createForgeTools } from "../../../forge/tools/create-forge-tools.ts";
import { codeRuntime } from "../../../runtimes/code/code-runtime.ts";
import { createCodeTool } from "../../../runtimes/code/create-code-tool.ts";
import { definePipeline } from "../../../runtimes/pipeline/define-pipeline.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";

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

  expect(refused).toContain(victim);
  expect(made).toContain('"status":"live"');
  expect(ran).toEqual(["look"]);
  expect(await usersOf(store, "look")).toEqual(["somebody"]);
  expect(await call(maker, "pp")).toContain("seen");
});

test.for(generations)("test_tool runs for a %s client no tool that its token may not call", async (kind) => {
  const { connect } = await setUp();
  const maker = await connect(kind, "tools");
  const writer = await connect(kind, "tools:write");
  const draft = {
    name: "erase",
    description: "Erases",
    language: "bash",
    code: "echo erased",
    annotations: { destructive: true },
    examples: [{ input: {} }],
  };

  expect(await call(maker, "create_tool", draft)).toContain('"status":"live"');
  expect(await call(writer, "test_tool", { name: "erase" })).toContain('Cannot find the tool "erase"');
  expect(await call(maker, "test_tool", { name: "erase" })).toContain('"passed":true');
});

interface Served {
  /** What ran. */
  readonly ran: string[];
  readonly store: Store;
  connect(kind: ClientKind, ...scopes: string[]): Promise<Client>;
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
    async connect(kind, ...scopes) {
      const token = crypto.randomUUID();
      const { url } = await listen({ workspace }, { tokens: [{ id: "somebody", token, scopes }] });
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
