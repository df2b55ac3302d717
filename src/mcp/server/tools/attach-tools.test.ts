import { expect, test } from "vitest";

import { connectHttp, listen } from "../../../../test/support/mcp-clients.ts";
import { defineTool } from "../../../core/define-tool.ts";
import type { Tool } from "../../../core/tool.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import { findExposure } from "../create-client.ts";
import { getDispatchTools } from "../shown-tools.ts";
import { listTools, type ListForm } from "./attach-tools.ts";

const fixed = [...getDispatchTools(createWorkspace().openSession()).values()].filter(
  ({ name }) => name === "call_tool",
);
const form: ListForm = { exposure: "both", generation: "2026", dispatch: fixed };

test("listTools() is the same list while nothing changes, and another one after", () => {
  const workspace = createWorkspace({ tools: [tool("b"), tool("a")] });

  const first = listTools(workspace.getAvailableTools(), form);
  const again = listTools(workspace.getAvailableTools(), form);
  workspace.add(tool("c"));
  const after = listTools(workspace.getAvailableTools(), form);

  expect(again).toBe(first);
  expect(again.json).toBe(JSON.stringify(first.tools));
  expect(after).not.toBe(first);
});

test("listTools() lists the fixed few first and the rest by name, however they came", () => {
  const one = createWorkspace({ tools: [tool("b"), tool("a"), tool("call_tool")] });
  const other = createWorkspace({ tools: [tool("a"), tool("call_tool"), tool("b")] });
  const names = (workspace: typeof one, exposure: ListForm["exposure"]): string[] =>
    listTools(workspace.getAvailableTools(), {
      ...form,
      exposure,
      ...(exposure === "direct" && { dispatch: [] }),
    }).tools.map(({ name }) => name);

  expect(names(one, "both")).toEqual(["call_tool", "a", "b"]);
  expect(names(other, "both")).toEqual(["call_tool", "a", "b"]);
  expect(names(one, "dispatch")).toEqual(["call_tool"]);
  expect(names(one, "direct")).toEqual(["a", "b", "call_tool"]);
});

test("tools/list tells all about a tool, in the words of the protocol", async () => {
  const add = defineTool({
    name: "add",
    title: "Add",
    description: "Adds numbers",
    input: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
    output: { type: "number" },
    annotations: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    run: ({ a }) => Number(a),
  });
  const { url } = await listen({ workspace: createWorkspace({ tools: [add] }), exposure: "direct" });
  const [old, current] = [await connectHttp(url), await connectHttp(url, { kind: "pinned" })];

  const [of2025, of2026] = [(await old.listTools()).tools, (await current.listTools()).tools];

  expect(of2026).toEqual([
    {
      name: "add",
      title: "Add",
      description: "Adds numbers",
      inputSchema: add.inputSchema,
      outputSchema: { type: "number" },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
  ]);
  expect(of2025[0]?.outputSchema).toMatchObject({ type: "object", required: ["result"] });
  expect((await old.callTool({ name: "add", arguments: { a: 2 } })).structuredContent).toEqual({ result: 2 });
  expect((await current.callTool({ name: "add", arguments: { a: 2 } })).structuredContent).toBe(2);
});

test("tools/list and tools/call take tools with hostile names, schemas and descriptions", async () => {
  const hidden = "Fine.\u{E0049}\u{E0047} \u202Eevil\u202C\u200B\u001B[31m\u0000 Done.";
  const odd = defineTool({
    name: "__proto__".replaceAll("_", "x"),
    description: hidden,
    input: {
      type: "object",
      properties: Object.fromEntries([
        ["constructor", { type: "string", description: hidden }],
        ["$ref", { type: "string" }],
        ["a\nb", { type: "string" }],
      ]),
    },
    run: (input) => Object.keys(input).length,
  });
  const longName = "x".repeat(64);
  const skillTool = tool("a.b-c_d");
  const workspace = createWorkspace({
    tools: [odd, tool(longName), tool("constructor"), tool("toString"), skillTool],
    components: [{ name: longName, tools: [tool(longName)] }],
  });
  const { url } = await listen({ workspace });
  const client = await connectHttp(url, { kind: "pinned" });

  const { tools } = await client.listTools();

  expect(tools).toHaveLength(9 + 6);
  expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
  expect(tools.every(({ name }) => /^[A-Za-z0-9_-]{1,64}$/u.test(name))).toBe(true);
  const listed = tools.find(({ name }) => name.startsWith("xxproto"));
  expect(listed?.description).toBe("Fine. evil Done.");
  expect(listed?.inputSchema.properties?.["constructor"]).toMatchObject({ description: "Fine. evil Done." });
  for (const { name } of tools.slice(9)) {
    const result = await client.callTool({ name, arguments: {} });
    expect(result.isError).toBeUndefined();
  }
  await expect(client.callTool({ name: "__proto__", arguments: {} })).rejects.toThrow();
  await expect(client.callTool({ name: "../../etc/passwd", arguments: {} })).rejects.toThrow();
  await expect(client.callTool({ name: "x".repeat(100_000), arguments: {} })).rejects.toThrow();
});

test("tools/list refuses a cursor, because there is one page", async () => {
  const { url } = await listen({ workspace: createWorkspace() });
  const client = await connectHttp(url);

  await expect(client.request({ method: "tools/list", params: { cursor: "2" } })).rejects.toThrow(/one page/u);
});

test("findExposure() takes the first rule that fits what the client calls itself", async () => {
  const rules = [
    { client: "claude*", exposure: "dispatch" },
    { client: "*-inspector*", exposure: "direct" },
    { client: "exact", exposure: "direct" },
  ] as const;

  expect(findExposure("direct", "anything")).toBe("direct");
  expect(findExposure(rules, "Claude-Code")).toBe("dispatch");
  expect(findExposure(rules, "mcp-inspector-cli")).toBe("direct");
  expect(findExposure(rules, "exact")).toBe("direct");
  expect(findExposure(rules, "exactly")).toBe("both");
  expect(findExposure(rules, undefined)).toBe("both");
  expect(findExposure([{ client: "a*a", exposure: "direct" }], "a")).toBe("both");
  expect(findExposure([{ client: "a*b*c", exposure: "direct" }], "a-b-b-c")).toBe("direct");
  expect(findExposure([{ client: "a*b*bc", exposure: "direct" }], "a-bc")).toBe("both");
  expect(findExposure([{ client: `${"*a".repeat(50)}b`, exposure: "direct" }], "a".repeat(10_000))).toBe("both");
});

test("createMcpServer() shows each client what its rule says, in both generations", async () => {
  const exposure = [
    { client: "fixed-*", exposure: "dispatch" },
    { client: "plain-*", exposure: "direct" },
  ] as const;
  const { url } = await listen({ workspace: createWorkspace({ tools: [tool("a")] }), exposure });

  for (const kind of ["legacy", "pinned"] as const) {
    const counts = await Promise.all(
      ["fixed-one", "plain-one", "other"].map(async (name) => {
        const client = await connectHttp(url, { kind, name });
        return (await client.listTools()).tools.length;
      }),
    );
    expect(counts).toEqual([9, 1, 10]);
  }
});

function tool(name: string): Tool {
  return defineTool({ name, description: `The tool ${name}`, run: () => name });
}
