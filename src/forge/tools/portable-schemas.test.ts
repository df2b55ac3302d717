import { afterAll, expect, test } from "vitest";

import type { JsonValue } from "../../core/json.ts";
import { innerSchemas, isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";
import { openTestForge, openTestRuntimes } from "../../../test/support/open-test-forge.ts";
import { createWorkflowTools } from "../workflow/create-workflow-tools.ts";
import { createForgeTools } from "./create-forge-tools.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

test("the forge's tools take what every provider can say: one type for each schema", async () => {
  const { forge } = await openTestForge(runtimes);

  const tools = [...createForgeTools(forge), ...createWorkflowTools(forge)];

  expect(tools.length).toBeGreaterThan(10);
  expect(tools.flatMap(({ name, inputSchema }) => findUnportable(inputSchema, name))).toEqual([]);
});

test("findUnportable() finds what some providers cannot say", () => {
  const schema = {
    type: "object",
    properties: {
      any: { description: "Anything" },
      choice: { enum: ["a", "b"] },
      either: { type: ["string", "null"] },
      fine: { anyOf: [{ type: "string", enum: ["a"] }, { type: "null" }] },
    },
  };

  expect(findUnportable(schema, "it")).toEqual(["it.any", "it.choice", "it.either"]);
});

test.for<[part: string, value: JsonValue, after: JsonValue | undefined]>([
  ["title", null, undefined],
  ["title", "Another", "Another"],
  ["limits", { limitMs: 5000 }, { limitMs: 5000 }],
  ["limits", '{"limitMs": 5000}', { limitMs: 5000 }],
])("update_tool takes %s as %j", async ([part, value, after]) => {
  const { forge, workspace } = await openTestForge(runtimes);
  for (const tool of createForgeTools(forge)) workspace.add(tool);
  await workspace.call("create_tool", { ...shout, title: "Shout" });

  const outcome = await workspace.call("update_tool", { name: "shout", changes: { [part]: value } });

  expect(outcome).toMatchObject({ status: "ok", output: { status: "live" } });
  const { tool } = workspace.getTool("shout") ?? {};
  expect(part === "title" ? tool?.title : tool?.limits).toEqual(after);
});

test("update_tool refuses a part that is of another kind, and says which", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  for (const tool of createForgeTools(forge)) workspace.add(tool);

  const outcome = await workspace.call("update_tool", { name: "shout", changes: { language: "cobol" } });

  expect(outcome).toMatchObject({
    error: { code: "input-invalid", message: expect.stringContaining("changes.language") as string },
  });
});

/** Where a schema says a list of types, a choice without a type, or nothing at all. */
function findUnportable(schema: JsonSchema, path: string): string[] {
  const { type, enum: choices, anyOf, description: _, title: __, ...rest } = schema;
  const isNothing =
    type === undefined && choices === undefined && anyOf === undefined && Object.keys(rest).length === 0;
  const isUnportable = isNothing || Array.isArray(type) || (choices !== undefined && typeof type !== "string");
  const inside = [...innerSchemas(schema)].flatMap(([at, inner]) =>
    isSchemaObject(inner) ? findUnportable(inner, `${path}.${at.at(-1) ?? ""}`) : [],
  );
  return [...(isUnportable ? [path] : []), ...inside];
}

const shout = {
  name: "shout",
  description: "Writes a text in capitals",
  language: "javascript",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  code: 'console.log(JSON.parse(require("node:fs").readFileSync(0, "utf8")).text.toUpperCase());\n',
  examples: [{ input: { text: "hi" }, output: "HI" }],
};
