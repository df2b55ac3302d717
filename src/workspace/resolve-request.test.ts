import { expect, test } from "vitest";

import { createTool, defineTool } from "../core/define-tool.ts";
import type { ToolContext, FunctionCode, Tool } from "../core/tool.ts";
import { createWorkspace } from "./create-workspace.ts";

test("call() takes the tool itself instead of its address", async () => {
  const add = defineTool({ name: "add", description: "Adds one", input: number, run: ({ n }) => Number(n) + 1 });
  const workspace = createWorkspace({ components: [{ name: "math", tools: [add] }] });

  const outcome = await workspace.call(add, { n: 1 });

  expect(outcome).toEqual({ status: "ok", output: 2 });
});

test("call() refuses a tool that is not in the workspace", async () => {
  const foreign = defineTool({ name: "foreign", description: "Does something", run: () => 1 });
  const workspace = createWorkspace();

  const outcome = await workspace.call(foreign, {});

  expect(outcome).toMatchObject({ status: "failed", error: { code: "tool-foreign", details: { tool: "foreign" } } });
});

test("call() refuses a tool that looks like one that is there", async () => {
  const known = defineTool({ name: "known", description: "Does something", run: () => "the real one" });
  const workspace = createWorkspace({ tools: [known] });

  const outcome = await workspace.call({ ...known }, {});

  expect(outcome).toMatchObject({ status: "failed", error: { code: "tool-foreign" } });
});

test("call() does not choose when the same tool is there for several owners", async () => {
  const shared = defineTool({ name: "shared", description: "Does something", run: () => 1 });
  const workspace = createWorkspace({ tools: [shared], components: [{ name: "parts", tools: [shared] }] });

  const outcome = await workspace.call(shared, {});

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "tool-ambiguous", details: { tool: "shared", addresses: ["shared", "parts/shared"] } },
  });
});

test.for([undefined, null, 3, true, [], {}, { inputSchema: {}, code: {} }, { inputSchema: {}, code: {}, name: 3 }])(
  "call() refuses %o, which is neither an address nor a tool",
  async (value) => {
    const workspace = createWorkspace();

    const outcome = await workspace.call(value as never, {});

    expect(outcome).toMatchObject({ status: "failed", error: { code: "address-invalid" } });
  },
);

test("call() fails for a value that throws when it is looked at", async () => {
  const hostile = new Proxy(
    {},
    {
      has() {
        throw new Error("do not look");
      },
    },
  );

  const outcome = await createWorkspace().call(hostile as never, {});

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "call-crashed", details: { tool: "unknown", reason: "do not look" } },
  });
});

test("a composed tool calls its parts, also those that are not in the workspace, and parts of parts", async () => {
  const inner = defineTool({ name: "inner", description: "Gives 1", run: () => 1 });
  const middle = compose("middle", [inner], async (context) => output(await context.call(inner, {})) + 10);
  const outer = compose("outer", [middle], async (context) => output(await context.call(middle, {})) + 100);
  const workspace = createWorkspace({ components: [{ name: "parts", tools: [outer] }] });
  const calls: string[] = [];
  workspace.onEvent(
    (event) => event.type === "call-start" && calls.push(`${event.source} ${event.owner} ${event.tool}`),
  );

  const outcome = await workspace.call("parts/outer");

  expect(outcome).toEqual({ status: "ok", output: 111 });
  expect(calls).toEqual([
    "component parts parts/outer",
    "component parts parts/outer/middle",
    "component parts parts/outer/middle/inner",
  ]);
});

test("a tool cannot call a tool that is neither in the workspace nor one of its parts", async () => {
  const secret = defineTool({ name: "secret", description: "Not for everybody", run: () => "opened" });
  const caller = compose("caller", [], (context) => context.call(secret, {}));
  const plain = defineTool({ name: "plain", description: "Tries too", run: (_, context) => context.call(secret, {}) });
  const workspace = createWorkspace({ tools: [caller, plain] });

  const outcomes = await Promise.all([workspace.call(caller, {}), workspace.call(plain, {})]);

  expect(outcomes).toMatchObject(
    outcomes.map(() => ({ output: { status: "failed", error: { code: "tool-foreign" } } })),
  );
});

test("a part gets what is injected into the tool that it is part of", async () => {
  const part = createTool({
    name: "part",
    description: "Tells how long the key is",
    inject: { key: {} },
    code: code((_, { injected }) => String(injected["key"]).length, []),
  });
  const whole = compose("whole", [part], async (context) => output(await context.call(part, {})));
  const workspace = createWorkspace();
  workspace.add(whole, { injected: { key: "twelve chars" } });

  const outcome = await workspace.call("whole");

  expect(outcome).toEqual({ status: "ok", output: 12 });
});

const number = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;

function compose(name: string, parts: readonly Tool[], run: (context: ToolContext) => unknown): Tool {
  return createTool({ name, description: "Is made of others", code: code((_, context) => run(context), parts) });
}

function code(run: FunctionCode["run"], parts: readonly Tool[]): FunctionCode {
  return Object.assign({ kind: "function" as const, run }, { parts });
}

function output(outcome: { readonly status: string; readonly output?: unknown }): number {
  return Number(outcome.output);
}
