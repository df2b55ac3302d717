import { createWorkspace, defineTool, type JsonObject } from "kitbag";
import { expect, test } from "vitest";

import { createToolFunctions } from "./tool-functions.ts";

test("createToolFunctions() writes only over what is expected", async () => {
  const answers = await run(
    ["state.compareAndSet", { key: "a", version: 0, value: 1 }],
    ["state.compareAndSet", { key: "a", version: 0, value: 2 }],
    ["state.compareAndSet", { key: "a", expected: 1, value: 2, expiresInMs: null }],
    ["state.get", { key: "a", scope: null }],
    ["state.keys", { prefix: null, after: null, limit: null }],
  );

  expect(answers).toEqual([true, false, true, 2, ["a"]]);
});

test.for([
  ["state.compareAndSet", { key: "a", version: { version: 7 }, value: 1 }, "version"],
  ["state.compareAndSet", { key: "a", version: "zero", value: 1 }, "version"],
  ["state.compareAndSet", { key: "a", version: null, value: 1 }, "version"],
  ["state.compareAndSet", { key: "a", version: 0.5, value: 1 }, "version"],
  ["state.compareAndSet", { key: "a", value: 1 }, "version"],
  ["state.set", { key: "a", value: 1, expiresInMs: "50" }, "expiresInMs"],
  ["state.set", { key: "a" }, "value"],
  ["state.set", { key: 1, value: 1 }, "key"],
  ["state.set", { key: "a", value: 1, scope: "user" }, "scope"],
  ["state.list", { prefix: 1 }, "prefix"],
  ["state.list", { after: {} }, "after"],
  ["state.list", { limit: "3" }, "limit"],
] as const)("createToolFunctions() refuses %s with %j, and writes nothing", async ([name, params, wrong]) => {
  const [failure, ...rest] = await run([name, params], ["state.list", {}]);

  expect(failure).toMatch(`Error: ${wrong}: found `);
  expect(rest).toEqual([[]]);
});

type Request = readonly [name: string, params: JsonObject];

/** What a tool is answered with that asks for these. */
async function run(...requests: readonly Request[]): Promise<readonly unknown[]> {
  const answers: unknown[] = [];
  const tool = defineTool({
    name: "ask",
    description: "Asks",
    async run(_input, context) {
      const refuse = (name: string, found: string): Error => new Error(`${name}: found ${found}`);
      const secrets = { show: <Value>(value: Value) => value, showMessage: (message: string) => message };
      const functions = new Map(createToolFunctions({ context, secrets, refuse }));
      for (const [name, params] of requests) {
        answers.push(await Promise.resolve(functions.get(name)?.(params)).catch(String));
      }
    },
  });
  await createWorkspace({ tools: [tool] }).call("ask");
  return answers;
}
