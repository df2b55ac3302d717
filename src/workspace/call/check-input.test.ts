import { expect, test } from "vitest";
import { z } from "zod";

import { defineTool } from "../../core/define-tool.ts";
import type { CallEvent } from "../../core/events.ts";
import { createWorkspace } from "../create-workspace.ts";

test("call() fills in defaults, makes lenient changes and says which", async () => {
  const { workspace, events } = setUp();

  const outcome = await workspace.call("take", { count: "3", tags: "new" });

  expect(outcome).toEqual({
    status: "ok",
    output: { count: 3, tags: ["new"], mode: "fast" },
    coerced: [
      { path: "count", from: '"3"', to: "3" },
      { path: "tags", from: '"new"', to: "a list of 1" },
    ],
  });
  expect(events.map(({ type }) => type)).toEqual(["call-start", "input-coerced", "call-end"]);
});

test("call() shows the input as the caller gave it when it begins, whatever becomes of it", async () => {
  const { workspace, events } = setUp();
  const given = { count: "3" };

  await workspace.call("take", given);

  expect(events[0]).toMatchObject({ type: "call-start", input: { count: "3" } });
  expect(given).toEqual({ count: "3" });
});

test("call() lists every problem, with its place and what may have been meant", async () => {
  const { workspace, ran } = setUp();

  const outcome = await workspace.call("take", { cuont: 3, mode: "fats", tags: [1, {}] });

  const problems =
    outcome.status === "failed" && outcome.error.code === "input-invalid" && outcome.error.details.problems;
  expect(new Map((problems || []).map(({ path, didYouMean }) => [path, didYouMean]))).toEqual(
    new Map([
      ["count", undefined],
      ["cuont", "count"],
      ["mode", "fast"],
      ["tags[1]", undefined],
    ]),
  );
  expect(ran).toEqual([]);
});

test.for<[string, unknown, string]>([
  ["a cycle", cycle(), "an object that contains itself"],
  ["10,000 levels", deep(10_000), "more"],
  ["50 MB", { count: 1, text: "x".repeat(50_000_000) }, "more"],
  ["9 million items", { count: Array.from({ length: 9_000_000 }, () => 1) }, "more"],
  ["NaN", { count: Number.NaN }, "NaN"],
  ["Infinity", { count: Number.POSITIVE_INFINITY }, "Infinity"],
  ["a BigInt", { count: 3n }, 'the BigInt "3"'],
  ["a Date", { count: new Date(0) }, "a Date (give its toISOString())"],
  ["a Map", { count: new Map() }, "Map"],
  ["a function", { count: () => 3 }, "a function"],
  ["a symbol", { count: Symbol("3") }, "a symbol"],
  ["the key __proto__", JSON.parse('{"__proto__": {"admin": true}}'), 'the key "__proto__"'],
  [
    "a getter that throws",
    {
      get count() {
        throw new Error("do not look");
      },
    },
    "one that throws: do not look",
  ],
  ["a list", [1, 2], "a list of 2"],
  ["a text", "take 3", '"take 3"'],
  ["an empty text", "", '""'],
  ["10 MB of text", "x".repeat(10_000_000), `"${"x".repeat(120)}…"`],
  ["a number", 3, "3"],
])("R13: call() refuses %s as input, and says what it found", async ([, input, found]) => {
  const { workspace, ran, events } = setUp();

  const outcome = await workspace.call("take", input);

  expect(outcome).toMatchObject({ status: "failed", error: { code: "input-invalid" } });
  expect(outcome.status === "failed" && outcome.error.message).toContain(found);
  expect(outcome.status === "failed" && outcome.error.message.length).toBeLessThan(1000);
  expect(ran).toEqual([]);
  expect(events.map(({ type }) => type)).toEqual(["call-start", "call-end"]);
});

test("R13: keys that only look like the right one are not taken for it", async () => {
  const { workspace, ran } = setUp();

  const outcome = await workspace.call("take", { Count: 3, COUNT: 4, count: 5, "count ": 6 });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "input-invalid" } });
  expect(ran).toEqual([]);
});

test("call() takes no input for an empty one", async () => {
  const workspace = createWorkspace({
    tools: [defineTool({ name: "now", description: "Takes nothing", run: (input) => input })],
  });

  const outcomes = await Promise.all([
    workspace.call("now"),
    workspace.call("now", undefined),
    workspace.call("now", null),
    workspace.call("now", {}),
    workspace.call("now", { nothing: undefined }),
  ]);

  expect(outcomes).toEqual(outcomes.map(() => ({ status: "ok", output: {} })));
});

test("call() refuses an input that is larger than the workspace allows", async () => {
  const tool = defineTool({
    name: "echo",
    description: "Says it again",
    input: { type: "object", properties: { text: { type: "string" } } },
    run: ({ text }) => text,
  });
  const workspace = createWorkspace({ tools: [tool], limits: { maxInputBytes: 100 } });

  const outcomes = await Promise.all([
    workspace.call("echo", { text: "x".repeat(80) }),
    workspace.call("echo", { text: "x".repeat(101) }),
  ]);

  expect(outcomes).toMatchObject([
    { status: "ok" },
    {
      status: "failed",
      error: { details: { problems: [{ path: "", expected: "at most 100 bytes of JSON", found: "more" }] } },
    },
  ]);
});

test("call() gives a tool what the author's schema library makes of the input", async () => {
  const tool = defineTool({
    name: "shout",
    description: "Shouts",
    input: z.object({ text: z.string().transform((text) => text.toUpperCase()) }),
    run: ({ text }) => text,
  });
  const workspace = createWorkspace({ tools: [tool] });

  expect(await workspace.call(tool, { text: "hi" })).toEqual({ status: "ok", output: "HI" });
});

test("call() fails with what the author's schema library says, also if that takes time", async () => {
  const check = z.object({ name: z.string().refine((name) => name !== "root", "not root") });
  const checkLater = z.object({ name: z.string().refine(async (name) => name !== "root", "not root") });
  const workspace = createWorkspace({
    tools: [
      defineTool({ name: "now", description: "Checks at once", input: check, run: () => "ran" }),
      defineTool({ name: "later", description: "Checks later", input: checkLater, run: () => "ran" }),
    ],
  });

  const outcomes = await Promise.all(
    ["now", "later"].flatMap((name) => [workspace.call(name, { name: "ada" }), workspace.call(name, { name: "root" })]),
  );

  expect(outcomes).toMatchObject(
    ["now", "later"].flatMap(() => [
      { status: "ok", output: "ran" },
      { status: "failed", error: { code: "input-invalid", details: { problems: [{ path: "name" }] } } },
    ]),
  );
  expect(JSON.stringify(outcomes)).toContain("not root");
});

test("call() fails when the author's schema library throws", async () => {
  const workspace = createWorkspace({
    tools: [
      refining("throws", () => {
        throw new Error("a bug in the schema");
      }),
      refining("rejects", () => Promise.reject(new Error("a bug in the schema"))),
    ],
  });

  const outcomes = await Promise.all([workspace.call("throws"), workspace.call("rejects")]);

  expect(outcomes).toMatchObject(
    outcomes.map(() => ({
      error: { code: "input-invalid", details: { problems: [{ found: "its schema threw: a bug in the schema" }] } },
    })),
  );
});

test("call() fails at its limit when the author's schema library hangs, and when it is cancelled meanwhile", async () => {
  const asked = Promise.withResolvers<void>();
  const workspace = createWorkspace({
    tools: [
      refining("hang", () => {
        asked.resolve();
        return new Promise(() => {});
      }),
    ],
  });
  const controller = new AbortController();

  const timedOut = await workspace.call("hang", {}, { limitMs: 10 });
  const call = workspace.call("hang", {}, { signal: controller.signal });
  await asked.promise;
  controller.abort();

  expect([timedOut, await call]).toMatchObject([
    { status: "failed", error: { code: "call-timeout" } },
    { status: "failed", error: { code: "call-cancelled" } },
  ]);
});

function setUp(): { workspace: ReturnType<typeof createWorkspace>; ran: unknown[]; events: CallEvent[] } {
  const ran: unknown[] = [];
  const events: CallEvent[] = [];
  const take = defineTool({
    name: "take",
    description: "Takes something",
    input: {
      type: "object",
      properties: {
        count: { type: "integer" },
        tags: { type: "array", items: { type: "string" } },
        mode: { enum: ["fast", "slow"], default: "fast" },
      },
      required: ["count"],
    },
    run: (input) => {
      ran.push(input);
      return input;
    },
  });
  const workspace = createWorkspace({ tools: [take] });
  workspace.onEvent((event) => events.push(event));
  return { workspace, ran, events };
}

function refining(name: string, validate: (value: unknown) => unknown): ReturnType<typeof defineTool> {
  const json = () => ({ type: "object" });
  const standard = { version: 1, vendor: "test", jsonSchema: { input: json, output: json }, validate };
  return defineTool({ name, description: "Checks", input: { "~standard": standard } as never, run: () => "ran" });
}

function cycle(): object {
  const value: Record<string, unknown> = {};
  value["count"] = value;
  return value;
}

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { count: value };
  return value;
}
