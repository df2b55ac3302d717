import { expect, test } from "vitest";

import { checkExamples, checkInject, checkPartNames, checkParts } from "./check-tool.ts";
import { describeProblem, type Problem } from "./errors.ts";

const right = { name: "read", description: "Reads a file", code: { kind: "function", run: () => null } };

test("checkParts() finds nothing wrong with a tool that is right", () => {
  expect(checkParts(right)).toEqual([]);
  expect(
    checkParts({
      ...right,
      title: "Read",
      version: "1.2.0-beta.1+5",
      needsApproval: true,
      inject: { user: {} },
      permissions: { read: ["/data"] },
      annotations: { readOnly: true, idempotent: undefined, destructive: false, openWorld: false, parallelSafe: true },
      limits: { limitMs: 0.5, maxConcurrent: 1 },
    }),
  ).toEqual([]);
  expect(checkParts({ ...right, code: { kind: "script" } })).toEqual([]);
});

test.for<[part: string, value: unknown, message: string]>([
  [
    "name",
    "no spaces",
    'name: expected letters, digits, ".", "_" and "-", starting with a letter or digit, at most 64, found "no spaces"',
  ],
  [
    "name",
    undefined,
    'name: expected letters, digits, ".", "_" and "-", starting with a letter or digit, at most 64, found nothing',
  ],
  [
    "name",
    "__proto__",
    'name: expected letters, digits, ".", "_" and "-", starting with a letter or digit, at most 64, found "__proto__"',
  ],
  ["description", "", 'description: expected a text that says what the tool does, found ""'],
  ["description", "  ", 'description: expected a text that says what the tool does, found "  "'],
  ["description", 5, "description: expected a text that says what the tool does, found 5"],
  ["description", "a".repeat(20_001), "description: expected at most 20000 characters, found more"],
  ["title", 5, "title: expected a text, found 5"],
  ["version", "1.2", 'version: expected a version like 1.2.0, found "1.2"'],
  ["version", 1, "version: expected a version like 1.2.0, found 1"],
  ["version", `1.2.0-${"a".repeat(64)}`, `version: expected a version like 1.2.0, found "1.2.0-${"a".repeat(64)}"`],
  ["needsApproval", "false", 'needsApproval: expected true or false, found "false"'],
  ["inject", ["user"], "inject: expected an object with a name for each injected value, found a list of 1"],
  ["code", undefined, "code: expected code with a kind, found nothing"],
  ["code", { kind: 5 }, "code: expected code with a kind, found an object"],
  ["code", { kind: "function" }, "run: expected a function, found nothing"],
  [
    "permissions",
    { netwrok: [] },
    'permissions.netwrok: expected one of read, write, network, env, run, sockets, found an unknown permission (did you mean "network"?)',
  ],
  ["permissions", null, "permissions: expected an object, found null"],
  [
    "annotations",
    { readonly: true },
    'annotations.readonly: expected one of readOnly, destructive, idempotent, openWorld, parallelSafe, found an unknown word (did you mean "readOnly"?)',
  ],
  [
    "annotations",
    { toString: true },
    "annotations.toString: expected one of readOnly, destructive, idempotent, openWorld, parallelSafe, found an unknown word",
  ],
  ["annotations", { readOnly: "yes" }, 'annotations.readOnly: expected true or false, found "yes"'],
  [
    "annotations",
    { readOnly: true, destructive: true },
    "annotations: expected readOnly or destructive, not both, found both",
  ],
  ["annotations", null, "annotations: expected an object, found null"],
  ["limits", { limitMs: 0 }, "limits.limitMs: expected a number above 0, at most 2147483647, found 0"],
  ["limits", { limitMs: Infinity }, "limits.limitMs: expected a number above 0, at most 2147483647, found Infinity"],
  ["limits", { limitMs: NaN }, "limits.limitMs: expected a number above 0, at most 2147483647, found NaN"],
  ["limits", { maxConcurrent: 0.5 }, "limits.maxConcurrent: expected a whole number above 0, found 0.5"],
  [
    "limits",
    { timeout: 5 },
    "limits.timeout: expected one of limitMs, maxConcurrent, retries, rate, found an unknown word",
  ],
  ["limits", [], "limits: expected an object, found an empty list"],
])("checkParts() refuses the wrong %s %j", ([part, value, message]) => {
  expect(texts(checkParts({ ...right, [part]: value }))).toEqual([message]);
});

test("checkParts() says everything that is wrong at once", () => {
  expect(checkParts({ title: 1, version: "x" }).map(({ path }) => path)).toEqual([
    "name",
    "description",
    "title",
    "version",
    "code",
  ]);
});

test("checkPartNames() says which part was probably meant", () => {
  expect(texts(checkPartNames({ name: "a", inputs: {}, "odd\nkey": 1 }, ["name", "input"]))).toEqual([
    'inputs: expected only name, input, found an unknown part (did you mean "input"?)',
    String.raw`["odd\nkey"]: expected only name, input, found an unknown part`,
  ]);
});

test("checkInject() refuses a value that the model could set", () => {
  const schema = { properties: { user: {}, path: {} } };

  expect(texts(checkInject(["user", "toString"], schema))).toEqual([
    "inject.user: expected a name that is not a parameter, found a parameter the model could set",
  ]);
  expect(checkInject(["user"], {})).toEqual([]);
});

const input = {
  type: "object",
  properties: { n: { type: "integer" }, unit: { enum: ["c", "f"], default: "c" } },
  required: ["n"],
  additionalProperties: false,
};

test("checkExamples() takes examples that fit as they are", () => {
  const examples = [{ input: { n: 1 } }, { description: "Two", input: { n: 2, unit: "f" }, output: "hot" }];

  expect(checkExamples(examples, input, undefined)).toEqual([]);
  expect(checkExamples(examples, input, { type: "string" })).toEqual([]);
  expect(checkExamples([], input, undefined)).toEqual([]);
});

test("checkExamples() takes an example without what has a default", () => {
  const schema = { ...input, required: ["n", "unit"] };

  expect(checkExamples([{ input: { n: 1 } }], schema, undefined)).toEqual([]);
});

test.for<[what: string, examples: unknown, messages: string[]]>([
  ["no list", "a", ['examples: expected a list, found "a"']],
  [
    "no object",
    [5, null],
    [
      "examples[0]: expected an object with an input, found 5",
      "examples[1]: expected an object with an input, found null",
    ],
  ],
  ["no input", [{}], ["examples[0].input: expected a JSON object, found nothing"]],
  [
    "an input that is not JSON",
    [{ input: new Date(0) }],
    ["examples[0].input: expected a JSON object, found a Date (give its toISOString())"],
  ],
  [
    "a wrong input",
    [{ input: { n: 1 } }, { input: { n: "x", unit: "k" } }],
    [
      'examples[1].input.n: expected a whole number, found "x"',
      'examples[1].input.unit: expected one of "c", "f", found "k"',
    ],
  ],
  ["an input of another type", [{ input: [] }], ["examples[0].input: expected an object, found an empty list"]],
  [
    "an input that only fits when it is put right",
    [{ input: { n: "1" } }],
    ['examples[0].input.n: expected 1, found "1"'],
  ],
  ["a wrong output", [{ input: { n: 1 }, output: ["a", 5] }], ["examples[0].output[1]: expected a string, found 5"]],
  [
    "an output that is not JSON",
    [{ input: { n: 1 }, output: 5n }],
    ['examples[0].output: expected a JSON value, found the BigInt "5"'],
  ],
  [
    "a description that is no text",
    [{ description: 5, input: { n: 1 } }],
    ["examples[0].description: expected a text, found 5"],
  ],
  [
    "an unknown part",
    [{ input: { n: 1 }, result: 5 }],
    ["examples[0].result: expected only description, input, output, found an unknown part"],
  ],
])("checkExamples() refuses %s", ([, examples, messages]) => {
  expect(texts(checkExamples(examples, input, { type: "array", items: { type: "string" } }))).toEqual(messages);
});

function texts(problems: readonly Problem[]): string[] {
  return problems.map(describeProblem);
}
