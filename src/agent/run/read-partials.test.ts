import { expect, expectTypeOf, test } from "vitest";
import * as z from "zod";

import { defineTool } from "../../core/define-tool.ts";
import type { SchemaSource } from "../../core/schema/to-schema.ts";
import { mockModel, type MockScript } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import { createAgent } from "../create-agent.ts";

const city = z.object({ name: z.string(), size: z.number().optional(), kind: z.enum(["town", "village"]).optional() });

test("partials() gives what there is of the output, each time more", async () => {
  const run = createTestAgent([pieces('{"name": "Ro', 'me", "size": 1', '2, "kind": "to', 'wn"}')]).run("Which?", {
    output: city,
  });

  const seen = [];
  for await (const partial of run.partials()) {
    expectTypeOf(partial.name).toEqualTypeOf<string | undefined>();
    seen.push(partial);
  }

  expect(seen).toEqual([
    { name: "Ro" },
    { name: "Rome" },
    { name: "Rome", size: 12 },
    { name: "Rome", size: 12, kind: "town" },
  ]);
  expect(await run.output()).toEqual(seen.at(-1));
});

test("partials() are typed at every depth", () => {
  const run = createTestAgent([]).run("Which?", { output: z.array(z.object({ at: z.object({ x: z.number() }) })) });

  expectTypeOf(run.partials()).toEqualTypeOf<AsyncIterable<readonly { readonly at?: { readonly x?: number } }[]>>();
});

test.for<[schema: SchemaSource, text: string, last: unknown]>([
  [city, '{"name": "Rome", "size": null, "kind": null}', { name: "Rome" }],
  [z.object({ a: z.string().nullish() }), '{"a": null}', { a: null }],
  [z.array(city), '{"answer": [{"name": "Rome", "size": null}]}', [{ name: "Rome" }]],
  [z.array(city), '[{"name": "Rome"}]', [{ name: "Rome" }]],
  [z.object({ v: z.union([city, z.null()]) }), '{"v": {"name": "Rome", "kind": null}}', { v: { name: "Rome" } }],
  [z.object({ grid: z.array(z.array(z.number())) }), '{"grid": [[1, 2], [3]]}', { grid: [[1, 2], [3]] }],
  [city, 'Here:\n```json\n{"name": "Rome"}\n```', { name: "Rome" }],
  [city, '<think>{"name": "Bern"}</think>{"name": "Rome"}', { name: "Rome" }],
])("partials() of %j in %j end as the output", async ([output, text, last]) => {
  const run = createTestAgent([pieces(...(text.match(/[^]{1,3}/gu) ?? []))]).run("Which?", { output });

  const seen = await listAll(run.partials());

  expect(seen.at(-1)).toEqual(last);
  expect(await run.output()).toEqual(last);
});

test("partials() go on with an answer that was cut, and begin anew with one that is mended", async () => {
  const model: MockScript = [
    { ...pieces('{"name": "Ro'), finishReason: "length" },
    pieces('me", "size": "x"}'),
    pieces('{"name": "Bern"}'),
  ];

  const seen = await listAll(createTestAgent(model).run("Which?", { output: city }).partials());

  expect(seen).toEqual([{ name: "Ro" }, { name: "Rome" }, { name: "Bern" }]);
});

test("partials() say nothing of answers that ask for calls", async () => {
  const seen = await listAll(
    createTestAgent([{ text: "I look.", calls: [{ tool: "look" }] }, '{"name": "Rome"}'])
      .run("Which?", { output: city })
      .partials(),
  );

  expect(seen).toEqual([{}, { name: "Rome" }]);
});

test("partials() end when the run does, whatever became of it", async () => {
  const run = createTestAgent([{ refused: { status: 401 } }]).run("Which?", { output: city });

  expect(await listAll(run.partials())).toEqual([]);
  expect((await run.result).status).toBe("failed");
});

test("partials() of a long output are not given for each piece of it", async () => {
  const items = Array.from({ length: 20_000 }, (_, index) => `item ${index}`);
  const run = createTestAgent([pieces(...(JSON.stringify({ items }).match(/[^]{1,8}/gu) ?? []))]).run("Which?", {
    output: z.object({ items: z.array(z.string()) }),
  });

  const seen = await listAll(run.partials());

  expect(seen.at(-1)).toEqual({ items });
  expect(seen.length).toBeLessThan(1000);
});

test.for<[text: string, last: unknown]>([
  ['{"__proto__": {"a": 1}, "b": "x"}', JSON.parse('{"__proto__": {"a": 1}, "b": "x"}')],
  ['{"a": "\\ud83d\\ude00", "b": "\\u0000"}', { a: "😀", b: "\u0000" }],
])("partials() survive %j", async ([text, last]) => {
  const run = createTestAgent([pieces(text)]).run("Which?", { output: { type: "object" } });

  const seen = await listAll(run.partials());

  expect(seen.at(-1)).toEqual(last);
  expect(Object.getPrototypeOf(seen.at(-1))).toBe(Object.prototype);
});

test("partials() end where an answer is too deep to be read", async () => {
  const run = createTestAgent([pieces(`{"a": ${"[".repeat(20_000)}${"]".repeat(20_000)}}`)]).run("Which?", {
    output: { type: "object" },
  });

  expect((await listAll(run.partials())).length).toBeLessThan(2);
  expect((await run.result).status).toBe("failed");
});

test("partials() can be left early", async () => {
  const run = createTestAgent([pieces('{"name": "Ro', 'me"}')]).run("Which?", { output: city });

  for await (const partial of run.partials()) if (partial.name !== undefined) break;

  expect(await run.output()).toEqual({ name: "Rome" });
});

test("partials() of a run without an output schema are refused", async () => {
  const run = createTestAgent(["Hello"]).run("Say hello");

  await expect(listAll(run.partials())).rejects.toMatchObject({
    code: "option-invalid",
    details: { option: "output" },
  });
  expect(await run.text()).toBe("Hello");
});

/** An answer that comes in these pieces. */
function pieces(...deltas: string[]): { readonly parts: MockParts } {
  const all = deltas.map((delta) => ({ type: "text-delta", id: "1", delta }) as const);
  return { parts: [{ type: "text-start", id: "1" }, ...all, { type: "text-end", id: "1" }] };
}

type MockParts = NonNullable<
  Exclude<Extract<MockScript, readonly unknown[]>[number], string | ((call: never) => unknown)>["parts"]
>;

function createTestAgent(script: MockScript): Agent {
  const look = defineTool({ name: "look", description: "Looks", run: () => "nothing" });
  return createAgent({
    model: mockModel(script),
    workspace: createWorkspace({ tools: [look] }),
    retries: { maxRetries: 0 },
  });
}

async function listAll<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
