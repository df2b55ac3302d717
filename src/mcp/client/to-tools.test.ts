import { expect, test, vi } from "vitest";

import { openMcp, programOf } from "../../../test/support/mcp-sources.ts";
import type { McpDefinition } from "../../core/mcp-source.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { toTools } from "./to-tools.ts";

vi.setConfig({ testTimeout: 60_000 });

const source = { name: "far", url: "https://example.com/mcp" };

test("toTools() keeps schemas word for word", () => {
  const inputSchema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { a: { type: "number" } },
  };

  const { tools } = toTools(source, [{ ...define("a"), inputSchema, outputSchema: { type: "object" } }]);

  expect(tools[0]?.inputSchema).toEqual(inputSchema);
  expect(tools[0]?.outputSchema).toEqual({ type: "object" });
  expect(tools[0]?.permissions).toEqual({ network: ["example.com"] });
});

test.for([
  [{}, { readOnly: false, destructive: true, idempotent: false, openWorld: true }],
  [{ readOnlyHint: true }, { readOnly: true, destructive: false, idempotent: false, openWorld: true }],
  [{ readOnlyHint: "yes" }, { readOnly: false, destructive: true, idempotent: false, openWorld: true }],
  [
    { readOnlyHint: true, destructiveHint: true },
    { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  ],
  [
    { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    { readOnly: false, destructive: false, idempotent: true, openWorld: false },
  ],
] as const)("toTools() trusts no hint that is not there: %j", ([annotations, expected]) => {
  const { tools } = toTools(source, [{ ...define("a"), annotations }]);

  expect(tools[0]?.annotations).toEqual(expected);
});

test("toTools() refuses tools that would get the same name, but for the one that has it", () => {
  const { tools, refused } = toTools(source, ["a b", "a_b", "a/b", "x y", "x/y"].map(define));

  expect(tools.map(({ name }) => name)).toEqual(["a_b"]);
  expect(refused.map(({ name }) => name)).toEqual(["a b", "a/b", "x y", "x/y"]);
});

test("toTools() makes tools of a hostile server's list, or says by name why not, and none of them gets out", async () => {
  const { runtime } = openMcp();
  const hostile = programOf("raw-server.mjs", ["names"]);
  const { definitions } = await runtime.connect(hostile);

  const { tools, refused } = toTools(hostile, definitions.tools.values());

  expect(tools.map(({ name }) => name)).toEqual(["x", "proto__", "a_b", "hidden_", "liar", "fine"]);
  const reasons = Object.fromEntries([...definitions.refused, ...refused].map(({ name, reason }) => [name, reason]));
  expect(reasons).toMatchObject({
    twice: "the server has two tools of this name",
    "": "it has no name",
    "no-schema": "its input schema is not an object",
    "a b": "another tool of the server has the name that it would get here",
    cyclic: expect.stringContaining("its input schema cannot be used") as string,
    list: 'its input schema is not of type "object"',
    outside: expect.stringContaining("a reference to a schema inside this one") as string,
    "slow-pattern": expect.stringContaining("its input schema cannot be used") as string,
    huge: "it is larger than 614400 bytes",
    deep: expect.stringContaining("levels") as string,
  });
  const hidden = tools.find(({ name }) => name === "hidden_");
  expect(hidden?.description).toMatch(/^Reads well/u);
  expect(hidden?.description).not.toMatch(/[\u200b\u202e]/u);
  expect(hidden?.description.length).toBe(10_000);
});

test("toTools() gives tools with odd names back to the server under its own names", async () => {
  const { open } = openMcp();
  const workspace = await open(programOf("raw-server.mjs", ["names"]));

  const outcome = await workspace.call("other/proto__", {});

  expect(outcome).toMatchObject({ status: "failed", error: { code: "tool-failed" } });
  expect(JSON.stringify(outcome)).toContain("no tool __proto__");
  expect(workspace.getTool("other/x")?.wireName).toBe("other__x");
});

test("a server with 10,000 tools gives the first thousand, and says how many are left out", async () => {
  const { runtime } = openMcp();
  const many = programOf("raw-server.mjs", ["many"]);
  const { definitions } = await runtime.connect(many);

  const { tools } = toTools(many, definitions.tools.values());
  const workspace = createWorkspace({ components: [{ name: "other", tools }] });

  expect(workspace.getAvailableTools()).toHaveLength(1000);
  expect(definitions.refused).toEqual([
    { name: "*", reason: expect.stringContaining("9000 tools more than the 1000") as string },
  ]);
});

test("a server with 10,000 tools gives those that its source names", async () => {
  const { runtime } = openMcp();

  const { definitions } = await runtime.connect(programOf("raw-server.mjs", ["many"], { tools: ["t9999", "t3"] }));

  expect([...definitions.tools.keys()]).toEqual(["t3", "t9999"]);
  expect(definitions.refused).toEqual([]);
});

function define(name: string): McpDefinition {
  return { name, description: "Does something", inputSchema: { type: "object", properties: {} } };
}
