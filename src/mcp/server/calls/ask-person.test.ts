import type { Client } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";

import { connectHttp, listen, textOf, type ClientKind } from "../../../../test/support/mcp-clients.ts";
import { defineSkill } from "../../../core/define-skill.ts";
import { defineTool } from "../../../core/define-tool.ts";
import type { JsonObject } from "../../../core/json.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";

const generations: readonly ClientKind[] = ["legacy", "pinned"];

test.for(generations)(
  "call_tool asks a %s client for what the model left out, as the tool itself does",
  async (kind) => {
    const { client, questions } = await connect(kind);

    const bare = await client.callTool({ name: "call_tool", arguments: { name: "greet" } });
    const part = await client.callTool({ name: "call_tool", arguments: { name: "greet", input: { times: 2 } } });
    const whole = await client.callTool({
      name: "call_tool",
      arguments: { name: "greet", input: { who: "B", times: 1 } },
    });

    expect([bare, part, whole].map(textOf)).toEqual(["Hello Ada 3", "Hello Ada 2", "Hello B 1"]);
    expect(questions).toEqual([["who", "times"], ["who"]]);
  },
);

test.for(generations)("call_tools asks a %s client for each call that lacks something", async (kind) => {
  const { client, questions } = await connect(kind);
  const calls = [{ name: "greet" }, { name: "nobody" }, { name: "greet", input: { who: "B", times: 1 } }, "odd"];

  const few = await client.callTool({ name: "call_tools", arguments: { calls: calls.slice(0, 3) } });
  const wrong = await client.callTool({ name: "call_tools", arguments: { calls } });
  const asked = questions.length;
  const many = await client.callTool({
    name: "call_tools",
    arguments: { calls: Array.from({ length: 9 }, () => ({ name: "greet" })) },
  });

  expect(textOf(few)).toContain('"output":"Hello Ada 3"');
  expect(textOf(few)).toContain('"output":"Hello B 1"');
  expect(textOf(few)).toContain('"failed":1');
  expect(wrong.isError).toBe(true);
  expect(textOf(many)).toContain('"failed":9');
  expect(questions).toHaveLength(asked);
});

test.for(generations)("nobody at a %s client is asked for a tool that cannot be called", async (kind) => {
  const { client, questions } = await connect(kind);

  const direct = await client.callTool({ name: "shut__open", arguments: {} });
  const called = await client.callTool({ name: "call_tool", arguments: { name: "shut__open" } });
  const odd = await client.callTool({ name: "call_tool", arguments: { name: "greet", input: "who" } });

  expect([direct.isError, called.isError, odd.isError]).toEqual([true, true, true]);
  expect(questions).toEqual([]);
});

test.for(generations)("nobody at a %s client is asked for a secret in a form", async (kind) => {
  const { client, questions } = await connect(kind);

  const answers = [];
  for (const name of secrets.keys()) {
    answers.push(await client.callTool({ name: `secret-${name}`, arguments: {} }));
    answers.push(await client.callTool({ name: "call_tool", arguments: { name: `secret-${name}` } }));
  }

  for (const answer of answers) {
    expect([answer.isError, textOf(answer)]).toEqual([true, expect.stringContaining("the input is wrong")]);
  }
  expect(questions).toEqual([]);
});

const text = { type: "string" } as const;

/** Properties, each of which is a secret by its name or by what is said of it. */
const secrets: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ["password", { user: text, password: text }],
  ["key", { api_key: text }],
  ["token", { token: text }],
  ["hidden", { word: { ...text, writeOnly: true } }],
  ["shown", { word: { ...text, format: "password" } }],
]);

async function connect(kind: ClientKind): Promise<{ client: Client; questions: string[][] }> {
  const greet = defineTool({
    name: "greet",
    description: "Greets",
    input: { type: "object", properties: { who: text, times: { type: "integer" } }, required: ["who", "times"] },
    run: ({ who, times }) => `Hello ${String(who)} ${String(times)}`,
  });
  const keepers = [...secrets].map(([name, properties]) =>
    defineTool({
      name: `secret-${name}`,
      description: "Takes a secret",
      input: { type: "object", properties, required: Object.keys(properties) },
      run: () => "in",
    }),
  );
  const open = defineTool({
    name: "open",
    description: "Opens",
    input: { type: "object", properties: { door: text }, required: ["door"] },
    run: () => "open",
  });
  const skills = [defineSkill({ name: "shut", description: "Shut", tools: [open] })];
  const { url } = await listen({ workspace: createWorkspace({ tools: [greet, ...keepers], skills }) });
  const client = await connectHttp(url, { kind, capabilities: { elicitation: { form: {} } } });
  const questions: string[][] = [];
  const values: Readonly<Record<string, string | number>> = { who: "Ada", times: 3 };
  client.setRequestHandler("elicitation/create", ({ params }) => {
    const names = Object.keys("requestedSchema" in params ? params.requestedSchema.properties : {});
    questions.push(names);
    return { action: "accept", content: Object.fromEntries(names.map((name) => [name, values[name] ?? ""])) };
  });
  return { client, questions };
}
