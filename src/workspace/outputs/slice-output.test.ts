import { expect, test } from "vitest";

import type { JsonValue } from "../../core/json.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createUsers } from "../users.ts";
import { createOutputKeeper, type OutputKeeper } from "./output-keeper.ts";
import { parsePath, type SliceOutputOptions } from "./slice-output.ts";
import { createOutputOwners, type OutputOwners, createRecentBlobs } from "./kept-outputs.ts";

const report = {
  rows: Array.from({ length: 250 }, (_, id) => ({ id, "odd key": `n${id}` })),
  total: 250,
  __proto: null,
};

test("sliceOutput() takes out what is at a path", async () => {
  const { keeper, handle } = await keep(report);

  expect(await keeper.slice(handle, { path: "total" })).toEqual({ path: "total", shape: "a number", value: 250 });
  expect(await keeper.slice(handle, { path: "rows[3].id" })).toMatchObject({ value: 3 });
  expect(await keeper.slice(handle, { path: 'rows[3]["odd key"]' })).toMatchObject({ value: "n3" });
  expect(await keeper.slice(handle)).toMatchObject({ path: "", value: { total: 250 } });
});

test("sliceOutput() gives a list in parts", async () => {
  const { keeper, handle } = await keep(report);

  const first = await keeper.slice(handle, { path: "rows" });
  const last = await keeper.slice(handle, { path: "rows", from: 200, limit: 1000 });

  expect(first).toMatchObject({ shape: expect.stringContaining("a list of 250"), nextFrom: 100 });
  expect(first.value).toHaveLength(100);
  expect(last.value).toHaveLength(50);
  expect(last).not.toHaveProperty("nextFrom");
});

test.for(["rows[250]", "rows.id", "total.x", "nothing", "__proto__", "constructor", "rows[0][1]", "__proto.x"])(
  "sliceOutput() finds nothing at %s, and says what is there",
  async (path) => {
    const { keeper, handle } = await keep(report);

    await expect(keeper.slice(handle, { path })).rejects.toMatchObject({
      code: "option-invalid",
      details: { option: "path", expected: expect.stringMatching(/^a path that exists: .+ is /u) as string },
    });
  },
);

test.for<[what: string, options: SliceOutputOptions]>([
  ["a path that is none", { path: "rows[" }],
  ["a path with a wrong text", { path: String.raw`["\x"]` }],
  ["a path that is no text", { path: 5 as never }],
  ["a long path", { path: "a.".repeat(10_000) }],
  ["a wrong beginning", { from: -1 }],
  ["too many items", { limit: 1001 }],
])("sliceOutput() refuses %s", async ([, options]) => {
  const { keeper, handle } = await keep(report);

  await expect(keeper.slice(handle, options)).rejects.toMatchObject({ code: "option-invalid" });
});

test("sliceOutput() says that a text has no parts", async () => {
  const keeper = createOutputKeeper(createRecentBlobs(1000), owners());
  const { handle } = await keeper.keep("no JSON", undefined);

  await expect(keeper.slice(handle)).rejects.toMatchObject({ code: "option-invalid", details: { option: "handle" } });
});

test.for<[path: string, steps: readonly (string | number)[]]>([
  ["", []],
  ["a", ["a"]],
  ["a.b-c.ü", ["a", "b-c", "ü"]],
  ["[0][1].a", [0, 1, "a"]],
  [String.raw`["a \"b\"\n"].c`, ['a "b"\n', "c"]],
])("parsePath() reads %s", ([path, steps]) => {
  expect(parsePath(path)).toEqual(steps);
});

async function keep(value: JsonValue): Promise<{ keeper: OutputKeeper; handle: string }> {
  const keeper = createOutputKeeper(createRecentBlobs(10_000_000), owners());
  const { handle } = await keeper.keep(JSON.stringify(value), undefined);
  return { keeper, handle };
}

function owners(): OutputOwners {
  return createOutputOwners(memoryStore().kv, createUsers(undefined));
}
