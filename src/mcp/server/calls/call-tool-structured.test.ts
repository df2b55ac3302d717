import type { Client } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";

import { clientKinds, connectHttp, listen, type ClientKind } from "../../../../test/support/mcp-clients.ts";
import { defineSkill } from "../../../core/define-skill.ts";
import { defineTool } from "../../../core/define-tool.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";

test.for(clientKinds)("call_tool gives a %s client the structured result that the tool itself gives", async (kind) => {
  const { client } = await connect(kind);

  for (const name of ["point", "list", "tree", "text", "fail"]) {
    const direct = await client.callTool({ name, arguments: {} });
    const called = await client.callTool({ name: "call_tool", arguments: { name } });

    expect([name, called]).toEqual([name, direct]);
  }
});

test("call_tool wraps what is no object for 2025 only", async () => {
  const { client: old } = await connect("v1");
  const { client: modern } = await connect("pinned");
  const request = { name: "call_tool", arguments: { name: "list" } };

  expect((await old.callTool(request)).structuredContent).toEqual({ result: [1, 2] });
  expect((await modern.callTool(request)).structuredContent).toEqual([1, 2]);
});

test.for(clientKinds)("call_tool structures for a %s client what a kept version declares", async (kind) => {
  const { client } = await connect(kind);
  const call = (version: string): Promise<unknown> =>
    client
      .callTool({ name: "call_tool", arguments: { name: "kept", version } })
      .then(({ structuredContent }) => structuredContent);

  expect(await call("1.0.0")).toEqual({ old: true });
  expect(await call("2.0.0")).toBeUndefined();
  expect(await call("9.0.0")).toBeUndefined();
});

test.for(clientKinds)("call_tool structures for a %s client what a tool of an open skill gives", async (kind) => {
  const { client } = await connect(kind);
  await client.callTool({ name: "activate_skill", arguments: { name: "maps" } });

  const called = await client.callTool({ name: "call_tool", arguments: { name: "maps__here" } });

  expect(called.structuredContent).toEqual({ x: 7 });
});

test.for(clientKinds)("call_tool shows a %s client the head of what is too large, as no error", async (kind) => {
  const { client } = await connect(kind);

  const called = await client.callTool({ name: "call_tool", arguments: { name: "large" } });

  expect([called.isError, called.structuredContent]).toEqual([undefined, undefined]);
  expect((called.content as { type: string }[]).map(({ type }) => type)).toEqual(["text", "resource_link"]);
});

test.for(clientKinds)("call_tools gives a %s client structured results that fit what it declares", async (kind) => {
  const { client } = await connect(kind);
  // A client checks results against schemas that it knows from the list.
  const { tools } = await client.listTools();
  const declared = tools.find(({ name }) => name === "call_tools")?.outputSchema;

  const { structuredContent } = await client.callTool({
    name: "call_tools",
    arguments: {
      order: "sequence",
      stopOnFailure: true,
      calls: ["point", "list", "large", "fail", "text"].map((name) => ({ name })),
    },
  });

  expect(declared).toMatchObject({ type: "object", required: ["results", "failed"] });
  expect(structuredContent).toMatchObject({
    results: [
      { name: "point", status: "ok", output: { x: 1 } },
      { name: "list", status: "ok", output: [1, 2] },
      { name: "large", status: "ok", output: { head: expect.stringContaining("xxx") as string }, capped: {} },
      { name: "fail", status: "failed", code: "tool-failed" },
      { name: "text", status: "skipped" },
    ],
    failed: 1,
  });
});

test.for(clientKinds)("call_tool tells a %s client what is wrong with an input that is none", async (kind) => {
  const { client } = await connect(kind);

  for (const input of [{}, { name: 7, version: {} }, { name: "__proto__" }, { name: "point", version: "__proto__" }]) {
    const refused = await client.callTool({ name: "call_tool", arguments: input });

    expect([refused.isError, refused.structuredContent]).toEqual([true, undefined]);
  }
});

async function connect(kind: ClientKind): Promise<{ client: Client }> {
  const text = { type: "string" };
  const tools = [
    defineTool({ name: "point", description: "A point", output: point, run: () => ({ x: 1 }) }),
    defineTool({
      name: "list",
      description: "A list",
      output: { type: "array", items: { type: "integer" } },
      run: () => [1, 2],
    }),
    defineTool({
      name: "tree",
      description: "A list of such lists",
      output: { type: "array", items: { $ref: "#" } },
      run: () => [[]],
    }),
    defineTool({ name: "text", description: "Says nothing of what it gives", run: () => ({ x: 1 }) }),
    defineTool({
      name: "large",
      description: "Gives much",
      output: { type: "object", properties: { text }, required: ["text"] },
      run: () => ({ text: "x".repeat(10_000) }),
    }),
    defineTool({
      name: "fail",
      description: "Fails",
      output: point,
      run() {
        throw new Error("no");
      },
    }),
  ];
  const here = defineTool({ name: "here", description: "Where it is", output: point, run: () => ({ x: 7 }) });
  const skills = [defineSkill({ name: "maps", description: "Knows places", tools: [here] })];
  const workspace = createWorkspace({ tools, skills, limits: { maxOutputBytes: 1000 } });
  const old = { name: "kept", version: "1.0.0", description: "Has versions", output: { type: "object" } };
  const first = defineTool({ ...old, run: () => ({ old: true }) });
  const second = defineTool({ name: "kept", version: "2.0.0", description: "Has versions", run: () => "new" });
  workspace.add(second, { versions: [first] });
  const { url } = await listen({ workspace });
  return { client: await connectHttp(url, { kind }) };
}

const point = { type: "object", properties: { x: { type: "integer" } }, required: ["x"] };
