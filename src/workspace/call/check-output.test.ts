import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { createWorkspace } from "../create-workspace.ts";

test("call() gives a copy of the output, which the tool cannot change any more", async () => {
  const kept = { list: [1] };
  const workspace = createWorkspace({ tools: [tool(() => kept)] });

  const outcome = await workspace.call("make");
  kept.list.push(2);

  expect(outcome).toEqual({ status: "ok", output: { list: [1] } });
});

test.for<[string, unknown, unknown]>([
  ["undefined", undefined, null],
  ["null", null, null],
  ["false", false, false],
  ["0", 0, 0],
  ["an empty text", "", ""],
  ["an object with undefined inside", { a: undefined, b: 1 }, { b: 1 }],
  ["an object without a prototype", Object.assign(Object.create(null) as object, { a: 1 }), { a: 1 }],
])("call() gives %s as JSON", async ([, value, output]) => {
  const workspace = createWorkspace({ tools: [tool(() => value)] });

  expect(await workspace.call("make")).toEqual({ status: "ok", output });
});

test.for<[string, () => unknown, string]>([
  ["a cycle", cycle, "an object that contains itself"],
  ["10,000 levels", () => deep(10_000), "more"],
  ["a function", () => () => 1, "a function"],
  ["a function inside", () => ({ a: [() => 1] }), "a function"],
  ["a BigInt", () => 10n, "the BigInt"],
  ["a symbol", () => Symbol("x"), "a symbol"],
  ["NaN", () => ({ a: Number.NaN }), "NaN"],
  ["a Date", () => new Date(0), "a Date"],
  ["a Map", () => new Map(), "Map"],
  ["an error", () => new Error("returned, not thrown"), "Error"],
  ["a class instance", () => new URL("https://example.com"), "URL"],
  ["the key __proto__", () => JSON.parse('{"__proto__": 1}') as unknown, "__proto__"],
  [
    "a getter that throws",
    () => ({
      get a() {
        throw new Error("do not look");
      },
    }),
    "do not look",
  ],
])("call() fails, and does not succeed, for an output that is %s", async ([, make, found]) => {
  const workspace = createWorkspace({ tools: [tool(make), tool(async () => make(), "later")] });

  const outcomes = await Promise.all([workspace.call("make"), workspace.call("later")]);

  expect(outcomes).toMatchObject(outcomes.map(() => ({ status: "failed", error: { code: "output-invalid" } })));
  expect(JSON.stringify(outcomes)).toContain(found);
});

test("R22: call() fails for 100 MB, in bounded time and memory", async () => {
  const workspace = createWorkspace({ tools: [tool(() => "x".repeat(100_000_000)), tool(huge, "list")] });

  const outcomes = await Promise.all([workspace.call("make"), workspace.call("list")]);

  expect(outcomes).toMatchObject(
    outcomes.map(() => ({
      status: "failed",
      error: { code: "output-too-large", details: { limitBytes: 64 * 1024 * 1024 } },
    })),
  );
  expect(JSON.stringify(outcomes).length).toBeLessThan(1000);
});

test("call() holds the output against its schema: a wrong shape is a failure that says what is wrong", async () => {
  const weather = defineTool({
    name: "weather",
    description: "Tells the weather",
    input: { type: "object", properties: { answer: {} } },
    output: {
      type: "object",
      properties: { celsius: { type: "number" }, sky: { enum: ["clear", "cloudy"] } },
      required: ["celsius"],
      additionalProperties: false,
    },
    run: ({ answer }) => answer as never,
  });
  const workspace = createWorkspace({ tools: [weather] });

  const outcomes = await Promise.all(
    [{ celsius: 3 }, { celsius: "3" }, { sky: "clear" }, {}, null, "warm", { celsius: 3, wind: 1 }].map((answer) =>
      workspace.call("weather", { answer }),
    ),
  );

  expect(outcomes.map(({ status }) => status)).toEqual(["ok", ...Array.from({ length: 6 }, () => "failed")]);
  expect(outcomes[1]).toMatchObject({
    error: { code: "output-invalid", details: { problems: [{ path: "celsius", expected: "a number", found: '"3"' }] } },
  });
});

function tool(run: () => unknown, name = "make"): ReturnType<typeof defineTool> {
  return defineTool({ name, description: "Makes something", run });
}

function huge(): unknown {
  return Array.from({ length: 2000 }, () => "y".repeat(50_000));
}

function cycle(): unknown {
  const value: unknown[] = [];
  value.push({ value });
  return value;
}

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}
