import { expect, test } from "vitest";
import { z } from "zod";

import { defineTool } from "../../core/define-tool.ts";
import { isKitbagError, describeProblem } from "../../core/errors.ts";
import type { Tool } from "../../core/tool.ts";
import { definePipeline, type DefinePipelineOptions } from "./define-pipeline.ts";
import type { PipelineCode } from "./pipeline-runtime.ts";
import type { PipelineSpec, PipelineStep } from "./pipeline-spec.ts";

const weather = defineTool({
  name: "weather",
  description: "d",
  input: z.object({ city: z.string(), days: z.number().optional(), unit: z.enum(["c", "f"]).default("c") }),
  output: z.object({ temp: z.number(), hours: z.array(z.object({ at: z.string() })) }),
  annotations: { readOnly: true, openWorld: true },
  permissions: { network: ["weather.com"] },
  run: () => ({ temp: 20, hours: [] }),
});

const note = defineTool({
  name: "note",
  description: "d",
  input: z.object({ text: z.string() }),
  annotations: { destructive: false, idempotent: true },
  permissions: { write: ["notes"], network: ["weather.com"] },
  run: () => null,
});

const known = new Map<string, Tool>([
  ["weather", weather],
  ["note", note],
]);
const resolved: DefinePipelineOptions = { resolve: (address) => known.get(address), known: known.keys() };

test("definePipeline() makes a tool whose code is the pipeline", () => {
  const tool = definePipeline(spec([{ id: "w", tool: "weather", args: { city: "$input.city" } }]), resolved);

  expect(tool).toMatchObject({ name: "p", description: "d", code: { kind: "pipeline", dependsOn: [[]] } });
});

test.for<[string, PipelineStep[], string]>([
  ["an unknown step", [{ tool: "note", args: { text: "$wether.temp" } }], "steps[0].args.text: expected one of $input"],
  [
    "a step that has nearly this name",
    [
      { id: "weather", tool: "weather", args: { city: "Rome" } },
      { tool: "note", args: { text: "$wether.temp" } },
    ],
    '$input, $prev, $weather (or $$ for a dollar sign), found $wether.temp (did you mean "$weather"?)',
  ],
  [
    "the step before the first",
    [{ tool: "note", args: { text: "$prev" } }],
    'expected one of $input (or $$ for a dollar sign), found $prev (did you mean "$input"?)',
  ],
  ["$item without forEach", [{ tool: "note", args: { text: "$item" } }], "steps[0].args.text: expected one of $input"],
  [
    "$item in forEach itself",
    [{ tool: "note", forEach: "$item", args: { text: "a" } }],
    "steps[0].forEach: expected one of",
  ],
  [
    "a field that the tool's output does not have",
    [
      { id: "w", tool: "weather", args: { city: "Rome" } },
      { tool: "note", args: { text: "It is $w.tmp" } },
    ],
    'steps[1].args.text: expected one of temp, hours in the output of "weather", found $w.tmp (did you mean "$w.temp"?)',
  ],
  [
    "a field inside a number",
    [
      { tool: "weather", args: { city: "Rome" } },
      { tool: "note", args: { text: "$prev.temp.celsius" } },
    ],
    'steps[1].args.text: expected nothing inside number in the output of "weather", found $prev.temp.celsius',
  ],
  [
    "a field of a list",
    [
      { id: "w", tool: "weather", args: { city: "Rome" } },
      { tool: "note", if: "$w.hours.at", args: { text: "x" } },
    ],
    "steps[1].if: expected an index such as [0]",
  ],
  [
    "a field that an item does not have",
    [
      { id: "w", tool: "weather", args: { city: "Rome" } },
      { tool: "note", forEach: "$w.hours", args: { text: "$item.when" } },
    ],
    "steps[1].args.text: expected one of at in $item, found $item.when",
  ],
  [
    "a field of the outputs of forEach",
    [
      { id: "w", tool: "weather", forEach: ["Rome"], args: { city: "$item" } },
      { tool: "note", args: { text: "$w.temp" } },
    ],
    'steps[1].args.text: expected an index such as [0], or "length", because it is a list in the outputs of "weather"',
  ],
  [
    "a field of $index",
    [{ tool: "note", forEach: [1], args: { text: "$index.x" } }],
    "expected nothing inside integer in $index",
  ],
  [
    "the error of a step that would end the pipeline",
    [
      { id: "w", tool: "weather", args: { city: "Rome" } },
      { tool: "note", args: { text: "$errors.w.message" } },
    ],
    "expected a step with continueOnError, because any other failure ends the pipeline, found $errors.w.message",
  ],
  [
    "the error of no step",
    [{ tool: "note", args: { text: "$errors.x" } }],
    "expected $errors and the id of a step: no step has one",
  ],
  [
    "a field that an error does not have",
    [
      { id: "w", tool: "weather", args: { city: "Rome" }, continueOnError: true },
      { tool: "note", args: { text: "$errors.w.reason" } },
    ],
    'expected one of code, message in the failure of "w"',
  ],
  [
    "itself",
    [{ id: "a", tool: "note", args: { text: "$a" } }],
    "steps[0]: expected steps that do not wait for each other, found a waits for a",
  ],
  [
    "a step that waits for it",
    [
      { id: "a", tool: "note", args: { text: "$b" } },
      { id: "b", tool: "note", args: { text: "x" }, after: "c" },
      { id: "c", tool: "note", args: { text: "$a" } },
    ],
    "steps[0]: expected steps that do not wait for each other, found a waits for b waits for c waits for a",
  ],
])("definePipeline() refuses a reference to %s", ([, steps, message]) => {
  expect(() => definePipeline(spec(steps), resolved)).toThrow(message);
});

test.for<[string, object, string]>([
  [
    "an unknown tool",
    { tool: "wether" },
    'steps[0].tool: expected the address of a tool, found "wether" (did you mean "weather"?)',
  ],
  [
    "an address that is none",
    { tool: "a b" },
    "steps[0].tool: expected the address of a tool, found Cannot read the address",
  ],
  ["no tool", {}, "steps[0].tool: expected a string, found nothing"],
  ["a tool that is no text", { tool: 3 }, "steps[0].tool: expected a string, found 3"],
  [
    "an unknown key",
    { tool: "note", continue_on_error: true },
    'steps[0].continue_on_error: expected only id, tool, args, if, forEach, maxConcurrent, continueOnError, after, found an unknown parameter (did you mean "continueOnError"?)',
  ],
  ["another system's key", { tool: "note", condition: "true" }, '(did you mean "if"?)'],
  ["another system's name for the id", { tool: "note", name: "a" }, '(did you mean "id"?)'],
  [
    "an id that cannot be referred to",
    { id: "a b", tool: "note" },
    'steps[0].id: expected letters, digits, "_" and single "-", starting with a letter, at most 64, found "a b"',
  ],
  [
    "an id that means something",
    { id: "input", tool: "note" },
    "steps[0].id: expected another name than input, prev, item, index, errors",
  ],
  ["an id with an underscore first", { id: "__proto__", tool: "note" }, "steps[0].id: expected letters"],
  [
    "a condition that cannot be read",
    { tool: "note", if: "$input.a =" },
    'steps[0].if: expected a reference ($input.name), a number, a text in quotes, true, false or null, found "=" (did you mean "=="?)',
  ],
  [
    "after an unknown step",
    { tool: "note", after: ["x"] },
    "steps[0].after: expected the id of a step, and no step has one",
  ],
  [
    "forEach over a text",
    { tool: "note", forEach: "a $input" },
    'steps[0].forEach: expected a list, or one reference to one, found "a $input"',
  ],
  [
    "args that are a text",
    { tool: "note", args: "text" },
    'steps[0].args: expected an object, or one reference to one, found "text"',
  ],
  [
    "args that are a list",
    { tool: "note", args: [] },
    "steps[0].args: expected an object or a string, found an empty list",
  ],
  [
    "an unknown parameter",
    { tool: "note", args: { txt: "$input.a", text: "a" } },
    'steps[0].args.txt: expected only text, found an unknown parameter (did you mean "text"?)',
  ],
  [
    "a missing parameter",
    { tool: "weather", args: { days: "$input.days" } },
    "steps[0].args.city: expected a string, found nothing",
  ],
  [
    "a fixed value that does not fit",
    { tool: "weather", args: { city: "$input.city", days: "many" } },
    'steps[0].args.days: expected a number, found "many"',
  ],
  [
    "a fixed choice that does not fit",
    { tool: "weather", args: { city: "Rome", unit: "k" } },
    'steps[0].args.unit: expected one of "c", "f", found "k"',
  ],
  [
    "too many at once",
    { tool: "note", args: { text: "a" }, maxConcurrent: 0 },
    "steps[0].maxConcurrent: expected at least 1, found 0",
  ],
])("definePipeline() refuses a step with %s", ([, step, message]) => {
  expect(() => definePipeline(spec([step as PipelineStep]), resolved)).toThrow(message);
});

test("definePipeline() takes a fixed value that the call would make fit", () => {
  const step = { tool: "weather", args: { city: "$input.city", days: "3" } };

  expect(() => definePipeline(spec([step]), resolved)).not.toThrow();
});

test("definePipeline() refuses two steps with one id", () => {
  const step = { id: "a", tool: "note", args: { text: "x" } };

  expect(() => definePipeline(spec([step, step]), resolved)).toThrow(
    'steps[1].id: expected an id of its own, found "a", the id of steps[0]',
  );
});

test("definePipeline() refuses a reference to a parameter that the declared input does not have", () => {
  const input = { properties: { city: { type: "string" } } };
  const steps = [{ tool: "weather", args: { city: "$input.town" } }];

  expect(() => definePipeline({ ...spec(steps), input }, resolved)).toThrow(
    "steps[0].args.city: expected one of city in the input, found $input.town",
  );
});

test("definePipeline() checks the references of the output", () => {
  const steps = [{ id: "w", tool: "weather", args: { city: "Rome" } }];

  expect(() => definePipeline({ ...spec(steps), output: { a: ["$w.tmep"] } }, resolved)).toThrow(
    'output.a[0]: expected one of temp, hours in the output of "weather", found $w.tmep (did you mean "$w.temp"?)',
  );
});

test("definePipeline() takes references to later steps", () => {
  const steps = [
    { tool: "note", args: { text: "$w.temp" } },
    { id: "w", tool: "weather", args: { city: "Rome" } },
  ];

  const tool = definePipeline(spec(steps), resolved);

  expect((tool.code as PipelineCode).dependsOn).toEqual([[1], []]);
});

test("definePipeline() waits for every step that a condition, a list, a text or an error names", () => {
  const text = { text: "x" };
  const steps = [
    { tool: "note", args: text, if: "not $b and ($c > 1 or $d == $e)" },
    { id: "b", tool: "note", args: text, continueOnError: true },
    { id: "c", tool: "note", args: { text: "$errors.b.code" } },
    { id: "d", tool: "note", forEach: ["$c"], args: { text: "$index $item $e" } },
    { id: "e", tool: "note", args: text, after: ["b"] },
    { tool: "note", args: { text: "$prev" }, after: "e" },
  ];

  const tool = definePipeline(spec(steps), resolved);

  expect((tool.code as PipelineCode).dependsOn).toEqual([[1, 2, 3, 4], [], [1], [2, 4], [1], [4]]);
});

test("definePipeline() does not judge arguments by a schema that leaves it open what fits", () => {
  const either = defineTool({
    name: "either",
    description: "d",
    input: {
      type: "object",
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
      additionalProperties: false,
      properties: {},
    },
    run: () => null,
  });

  const define = (): unknown =>
    definePipeline(spec([{ tool: "either", args: { a: "$input.a" } }]), { resolve: () => either });

  expect(define).not.toThrow();
});

test("definePipeline() tells everything that is wrong at once", () => {
  const wrong = {
    name: "no spaces",
    description: "",
    stepz: [],
    input: { type: "objekt" },
    annotations: { readOnly: true, nice: true },
    permissions: { fly: ["moon"] },
    limits: { limitMs: -1 },
    steps: [
      { id: "a", tool: "wether", args: { city: "$b" } },
      { id: "a", tool: "note", args: { text: "${" }, if: "(" },
      { tool: "note", args: {}, after: "z" },
    ],
  };

  const problems = problemsOf(() => definePipeline(wrong as never, resolved));

  expect(problems.map((problem) => problem.split(":")[0])).toEqual([
    "stepz",
    "steps[1].if",
    "steps[1].args.text",
    "steps[1].id",
    "steps[2].after",
    "steps[0].tool",
    "steps[0].args.city",
    "steps[2].args.text",
    "annotations.readOnly",
    "permissions.fly",
    "name",
    "description",
    "annotations.nice",
    "limits.limitMs",
    "input.type",
  ]);
});

test.for<[string, unknown, string]>([
  ["nothing", undefined, "expected a JSON value, found"],
  ["null", null, "expected a pipeline, found null"],
  ["a text", "steps", 'expected a pipeline, found "steps"'],
  ["a list", [], "expected a pipeline, found an empty list"],
  ["an empty object", {}, "steps: expected a list of objects, found nothing"],
  ["no steps", spec([]), "steps: expected at least 1 item, found an empty list"],
  ["201 steps", spec(Array.from({ length: 201 }, () => ({ tool: "note" }))), "steps: expected at most 200 items"],
  [
    "NaN",
    spec([{ tool: "note", args: { text: Number.NaN } }]),
    "steps[0].args.text: expected a finite number, found NaN",
  ],
  [
    "a Date",
    spec([{ tool: "note", args: { text: new Date(0) } } as never]),
    "steps[0].args.text: expected a plain object",
  ],
  ["a function", { ...spec([]), output: () => 1 }, "output: expected a JSON value, found a function"],
  ["__proto__", JSON.parse('{"steps":[{"tool":"note","args":{"__proto__":{"a":1}}}]}'), 'found the key "__proto__"'],
  ["a cycle", cyclic(), "an object that contains itself"],
  ["10,000 levels", spec([{ tool: "note", args: deep(10_000) as never }]), "expected at most 64 levels, found more"],
  [
    "2 MB",
    spec([{ tool: "note", args: { text: "x".repeat(2_000_000) } }]),
    "expected at most 1048576 bytes, found more",
  ],
  [
    "a steps object",
    { name: "p", description: "d", steps: { a: 1 } },
    "steps: expected a list of objects, found an object",
  ],
  ["steps that are none", spec([1, null, [], "a"] as never), "steps[0]: expected an object, found 1"],
  ["examples that are none", { ...spec([]), examples: "a" }, 'examples: expected a list, found "a"'],
])("definePipeline() refuses %s", ([, wrong, message]) => {
  expect(() => definePipeline(wrong as PipelineSpec)).toThrow(message);
});

test("definePipeline() survives a spec that throws when it is read", () => {
  const hostile = {
    get name(): string {
      throw new Error("boo");
    },
  };

  expect(() => definePipeline(hostile as never)).toThrow(/Cannot define the pipeline "unnamed": .*boo/u);
});

test.for([
  ["a text that is wrong at every place", "${".repeat(400_000)],
  ["a text of unknown references", "$nobody".repeat(120_000)],
])("definePipeline() tells only so much about %s", ([, text]) => {
  const ids = Array.from({ length: 150 }, (_, index) => ({ id: `${"x".repeat(60)}${index}`, tool: "note" }));

  const problems = problemsOf(() => definePipeline(spec([...ids, { tool: "note", args: { text: text ?? "" } }])));

  expect(problems).toHaveLength(50);
  expect(problems.join("").length).toBeLessThan(100_000);
});

test("definePipeline() checks arguments inside objects and lists, also through references", () => {
  const item = {
    type: "object",
    properties: { id: { type: "integer" } },
    required: ["id"],
    additionalProperties: false,
  };
  const nested = defineTool({
    name: "nested",
    description: "d",
    input: {
      type: "object",
      properties: { items: { type: "array", items: { $ref: "#/$defs/item" } }, one: item },
      $defs: { item },
    },
    run: () => null,
  });
  const args = { items: [{ id: "$input.id", idd: 1 }, { id: "$input.id" }, {}], one: { id: "one", more: "$input.x" } };

  const problems = problemsOf(() => definePipeline(spec([{ tool: "nested", args }]), { resolve: () => nested }));

  expect(problems).toEqual([
    'steps[0].args.items[0].idd: expected only id, found an unknown parameter (did you mean "id"?)',
    "steps[0].args.items[2].id: expected a whole number, found nothing",
    'steps[0].args.one.id: expected a whole number, found "one"',
    "steps[0].args.one.more: expected only id, found an unknown parameter",
  ]);
});

test("definePipeline() keeps a copy, so that nobody can change what was checked", () => {
  const steps = [{ tool: "note", args: { text: "a" } }];
  const tool = definePipeline(spec(steps), resolved);

  steps[0] = { tool: "other", args: { text: "b" } };

  expect((tool.code as PipelineCode).spec.steps).toEqual([{ tool: "note", args: { text: "a" } }]);
});

test("definePipeline() takes ids and parameters that every object has", () => {
  const steps = [
    { id: "constructor", tool: "note", args: { text: "a" } },
    { id: "toString", tool: "note", args: { text: "$constructor.valueOf" } },
  ];

  const tool = definePipeline(spec(steps));

  expect((tool.code as PipelineCode).dependsOn).toEqual([[], [0]]);
});

test("definePipeline() refuses what the shape of every object would let pass", () => {
  const steps = [{ tool: "note", args: { text: "$toString" } }];

  expect(() => definePipeline(spec(steps))).toThrow("steps[0].args.text: expected one of $input");
});

test("definePipeline() derives annotations and permissions from its tools", () => {
  const steps = [
    { tool: "weather", args: { city: "Rome" } },
    { tool: "note", args: { text: "x" } },
  ];

  const tool = definePipeline({ ...spec(steps), permissions: { env: ["HOME"] } }, resolved);

  expect(tool.annotations).toEqual({ readOnly: false, destructive: false, idempotent: true, openWorld: true });
  expect(tool.permissions).toEqual({ network: ["weather.com"], write: ["notes"], env: ["HOME"] });
});

test("definePipeline() assumes the worst of tools it cannot see", () => {
  const tool = definePipeline(spec([{ tool: "weather" }]));

  expect(tool.annotations).toEqual({ readOnly: false, destructive: true, idempotent: false, openWorld: true });
});

test("definePipeline() lets nobody claim more than the tools bear out", () => {
  const claim = { ...spec([{ tool: "weather", args: { city: "Rome" } }]), annotations: { readOnly: true } };

  expect(definePipeline(claim, resolved).annotations.readOnly).toBe(true);
  expect(() => definePipeline(claim)).toThrow(
    'annotations.readOnly: expected no readOnly: true, because "weather" is not read-only, found true',
  );
});

test("definePipeline() infers its parameters from the tools they are handed to", () => {
  const steps = [
    { tool: "weather", args: { city: "$input.city", days: "$input.days" } },
    { tool: "note", args: { text: "$input.city, $input.more.x" }, if: "$input.force" },
  ];

  const tool = definePipeline(spec(steps), resolved);

  expect(tool.inputSchema).toEqual({
    type: "object",
    properties: { city: { type: "string" }, days: { type: "number" }, more: {}, force: {} },
    required: ["city"],
    additionalProperties: false,
  });
});

test("definePipeline() takes any value for a parameter that two tools want different things of", () => {
  const steps = [
    { tool: "weather", args: { city: "Rome", days: "$input.a" } },
    { tool: "note", args: { text: "$input.a" } },
    { tool: "note", args: { text: "$input.a" } },
  ];

  const tool = definePipeline(spec(steps), resolved);

  expect(tool.inputSchema["properties"]).toEqual({ a: { description: "Any value" } });
});

test("definePipeline() takes the parameters of a tool that gets the whole input, and any other", () => {
  const tool = definePipeline(spec([{ tool: "weather", args: "$input" }]), resolved);

  expect(tool.inputSchema).toEqual({
    type: "object",
    properties: weather.inputSchema["properties"],
    required: ["city"],
    additionalProperties: true,
  });
});

test("definePipeline() takes no parameters if nothing refers to them", () => {
  const tool = definePipeline(spec([{ tool: "weather", args: { city: "Rome" } }]), resolved);

  expect(tool.inputSchema).toEqual({ type: "object", properties: {}, required: [], additionalProperties: false });
});

test.for<[string, PipelineStep, unknown]>([
  ["the last step's output", { tool: "weather", args: { city: "a" } }, weather.outputSchema],
  [
    "null where the step may not run",
    { tool: "weather", args: { city: "a" }, if: "$input.a" },
    { anyOf: [weather.outputSchema, { type: "null" }] },
  ],
  [
    "a list for forEach",
    { tool: "weather", forEach: ["a"], args: { city: "$item" } },
    { type: "array", items: weather.outputSchema },
  ],
  ["nothing for a tool that does not say", { tool: "note", args: { text: "a" } }, undefined],
])("definePipeline() derives its output schema: %s", ([, step, expected]) => {
  const tool = definePipeline(spec([step]), resolved);

  expect(tool.outputSchema).toEqual(expected);
});

test("definePipeline() derives the schema of its output template", () => {
  const steps = [{ id: "w", tool: "weather", args: { city: "$input.city" } }];
  const output = { text: "It is $w.temp", temp: "$w.temp", all: "$w", list: ["$w"], fixed: 1 };

  const tool = definePipeline({ ...spec(steps), output }, resolved);

  expect(tool.outputSchema).toEqual({
    type: "object",
    properties: {
      text: { type: "string" },
      temp: { anyOf: [{ type: "number" }, { type: "null" }] },
      all: weather.outputSchema,
      list: { type: "array" },
      fixed: {},
    },
  });
});

test("definePipeline() reports what resolve refuses, and lets its bugs through", () => {
  const refuse = (): never =>
    definePipeline(spec([{ tool: "note" }]), { resolve: () => definePipeline({} as never) }) as never;
  const crash = (): never =>
    definePipeline(spec([{ tool: "note" }]), {
      resolve() {
        throw new TypeError("bug");
      },
    }) as never;

  expect(refuse).toThrow("steps[0].tool: expected the address of a tool, found Cannot define the pipeline");
  expect(crash).toThrow(TypeError);
});

function spec(steps: readonly PipelineStep[]): PipelineSpec {
  return { name: "p", description: "d", steps };
}

function cyclic(): unknown {
  const args: Record<string, unknown> = {};
  args["self"] = args;
  return { name: "p", description: "d", steps: [{ tool: "note", args }] };
}

function deep(levels: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level++) value = { inner: value };
  return value;
}

function problemsOf(define: () => unknown): string[] {
  try {
    define();
  } catch (cause) {
    if (isKitbagError(cause, "pipeline-invalid")) return cause.details.problems.map(describeProblem);
    throw cause;
  }
  return [];
}
