import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import type { JsonObject } from "../../core/json.ts";
import { parseToolCalls } from "./parse-tool-calls.ts";
import type { CallableTool } from "./tool-index.ts";

const word = fc.stringMatching(/^[a-z][a-z0-9]{1,6}$/u);
const name = fc.tuple(word, word).map(([first, second]) => `${first}_${second}`);
const nasty = fc.constantFrom(
  '"',
  "'",
  "{",
  "}",
  "[",
  "]",
  "\\",
  "\n",
  ",",
  ":",
  "<b>",
  "```",
  "é",
  "😀",
  "”",
  "//",
  "#",
  "(",
  ")",
  "=",
  "\u200B",
);
const text = fc.array(fc.oneof(word, fc.constant(" "), nasty), { maxLength: 8 }).map((parts) => parts.join(""));
const plainText = fc.array(word, { maxLength: 4 }).map((parts) => parts.join(" "));

/** One schema for all: it is made into code once. */
const inputSchema = {
  type: "object",
  properties: {
    text: { type: "string" },
    count: { type: "integer" },
    flag: { type: "boolean" },
    list: { type: "array", items: { type: "string" } },
  },
  additionalProperties: false,
};

interface Sample {
  readonly tools: readonly CallableTool[];
  readonly name: string;
  readonly input: JsonObject;
}

/** Tools with properties of all types, and an input of one of them. */
function samples(texts: fc.Arbitrary<string>): fc.Arbitrary<Sample> {
  const value = {
    text: texts,
    count: fc.integer({ min: -1e6, max: 1e6 }),
    flag: fc.boolean(),
    list: fc.array(texts, { maxLength: 3 }),
  };
  return fc
    .tuple(fc.uniqueArray(name, { minLength: 1, maxLength: 4 }), fc.record(value, { requiredKeys: [] }))
    .map(([names, input]) => ({
      tools: names.map((tool) => ({ name: tool, inputSchema })),
      name: String(names[0]),
      input: { ...input },
    }));
}

/** The ways to write a call whose input is written as JSON. */
const jsonStyles: Readonly<Record<string, (call: string, input: string, json: string) => string>> = {
  tag: (_name, _input, json) => `<tool_call>\n${json}\n</tool_call>`,
  bare: (_name, _input, json) => json,
  fence: (_name, _input, json) => `\`\`\`json\n${json}\n\`\`\``,
  tilde: (_name, _input, json) => `~~~tool_call\n${json}\n~~~`,
  list: (_name, _input, json) => `[${json}]`,
  prose: (_name, _input, json) => `I look it up: ${json}`,
  tokens: (_name, _input, json) => `[TOOL_CALLS] [${json}]`,
  function: (call, input) => `<function=${call}>${input}</function>`,
  react: (call, input) => `Thought: so\nAction: ${call}\nAction Input: ${input}\n`,
  mistral: (call, input) => `[TOOL_CALLS]${call}[ARGS]${input}`,
  kimi: (call, input) => `<|tool_call_begin|>functions.${call}:0<|tool_call_argument_begin|>${input}<|tool_call_end|>`,
  deepseek: (call, input) =>
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>${call}<｜tool▁sep｜>${input}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  harmony: (call, input) => `<|channel|>commentary to=functions.${call} <|constrain|>json<|message|>${input}<|call|>`,
  functionary: (call, input) => `>>>${call}\n${input}`,
  apertus: (call, input) => `<|tools_prefix|>[{"${call}": ${input}}]<|tools_suffix|>`,
  tools: (_name, _input, json) => `<tools>\n${json}\n</tools>`,
  expression: (call, input) => `${call}(${input})`,
};

const styleNames = fc.constantFrom(...Object.keys(jsonStyles));

/** What models do to JSON. Each keeps what was meant. */
const jsonDamages: Readonly<Record<string, (value: JsonObject) => string>> = {
  none: (value) => JSON.stringify(value),
  pretty: (value) => JSON.stringify(value, null, 2),
  python: toPython,
  commas: (value) => JSON.stringify(value, null, 1).replaceAll(/([^[{,\s])(\n\s*[\]}])/gu, "$1,$2"),
  keys: (value) => JSON.stringify(value, null, 1).replaceAll(/^(\s*)"(\w+)":/gmu, "$1$2:"),
  comments: (value) => JSON.stringify(value, null, 1).replaceAll(/([^"\\])\n/gu, "$1 // note\n"),
  spaces: (value) => JSON.stringify(value, null, "\u00A0\u200B"),
};

const textDamages: Readonly<Record<string, (text: string) => string>> = {
  none: (whole) => whole,
  before: (whole) => `Let me see.\n${whole}`,
  thought: (whole) => `<think>Perhaps {"name": "x"} or ${whole.slice(0, 20)}</think>\n${whole}`,
  mark: (whole) => `\uFEFF${whole}`,
  ending: (whole) => `${whole}<|im_end|>`,
  windows: (whole) => whole.replaceAll("\n", "\r\n"),
};

const rate = { exact: 0, all: 0 };

afterAll(() => {
  process.stdout.write(
    `parseToolCalls() reads ${rate.exact} of ${rate.all} damaged calls exactly, and none as another\n`,
  );
});

test("parseToolCalls() reads any input in any style exactly, if it is JSON", () => {
  fc.assert(
    fc.property(samples(text), styleNames, (sample, style) => {
      expect(found(render(sample, style, "none"), sample)).toEqual([[sample.name, sample.input]]);
    }),
    { numRuns: 1500 },
  );
});

test("parseToolCalls() reads a damaged call exactly or not at all", () => {
  const damages = fc.tuple(fc.constantFrom(...Object.keys(jsonDamages)), fc.constantFrom(...Object.keys(textDamages)));
  fc.assert(
    fc.property(samples(text), styleNames, damages, (sample, style, [json, whole]) => {
      const calls = found(textDamages[whole]!(render(sample, style, json)), sample);

      rate.all += 1;
      rate.exact += calls.length;
      // A text that has a line break in it is changed by the damage itself.
      if (whole !== "windows" || !JSON.stringify(sample.input).includes("\\n")) {
        expect([[], [[sample.name, sample.input]]]).toContainEqual(calls);
      }
    }),
    { numRuns: 4000 },
  );
});

test("parseToolCalls() reads a call that was cut off exactly or not at all", () => {
  fc.assert(
    fc.property(samples(text), styleNames, fc.nat(), (sample, style, at) => {
      const whole = render(sample, style, "none");
      const calls = found(whole.slice(0, at % whole.length), sample);

      expect([[], [[sample.name, sample.input]]]).toContainEqual(calls);
    }),
    { numRuns: 4000 },
  );
});

test("parseToolCalls() reads a call without its last brackets exactly or not at all", () => {
  fc.assert(
    fc.property(
      samples(plainText),
      fc.constantFrom("tag", "fence", "tokens"),
      fc.integer({ min: 1, max: 3 }),
      (sample, style, count) => {
        const json = JSON.stringify({ name: sample.name, arguments: sample.input });
        const calls = found(
          jsonStyles[style]!(sample.name, "", json.slice(0, json.length - Math.min(count, 2))),
          sample,
        );

        expect([[], [[sample.name, sample.input]]]).toContainEqual(calls);
      },
    ),
    { numRuns: 1000 },
  );
});

test("parseToolCalls() never throws and never finds what is no tool or does not fit, whatever is changed", () => {
  const change = fc.tuple(
    fc.nat(),
    fc.constantFrom("drop", "double", "insert"),
    fc.oneof(nasty, fc.string({ maxLength: 3 })),
  );
  fc.assert(
    fc.property(samples(text), styleNames, fc.array(change, { maxLength: 6 }), (sample, style, changes) => {
      let whole = render(sample, style, "none");
      for (const [place, kind, added] of changes) {
        const at = place % (whole.length + 1);
        if (kind === "drop") whole = whole.slice(0, at) + whole.slice(at + 1);
        else if (kind === "double") whole = whole.slice(0, at) + whole.slice(Math.max(0, at - 5));
        else whole = whole.slice(0, at) + added + whole.slice(at);
      }

      const { calls } = parseToolCalls(whole, sample.tools);

      for (const call of calls) {
        expect(sample.tools.map((tool) => tool.name)).toContain(call.name);
        expect(Object.keys(call.input).every((key) => ["text", "count", "flag", "list"].includes(key))).toBe(true);
      }
    }),
    { numRuns: 4000 },
  );
});

test("parseToolCalls() takes any text, and finds nothing where there are no tools", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (whole) => {
      expect(parseToolCalls(whole, []).calls).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

function render({ name: call, input }: Sample, style: string, damage: string): string {
  const damaged = jsonDamages[damage]!;
  return jsonStyles[style]!(call, damaged(input), damaged({ name: call, arguments: input }));
}

function found(whole: string, { tools }: Sample): unknown[] {
  return parseToolCalls(whole, tools).calls.map((call) => [call.name, call.input]);
}

/** Writes a value as Python's `repr` does. */
function toPython(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") {
    return `'${value
      .replaceAll("\\", "\\\\")
      .replaceAll("'", String.raw`\'`)
      .replaceAll("\n", String.raw`\n`)}'`;
  }
  if (Array.isArray(value)) return `[${value.map(toPython).join(", ")}]`;
  return `{${Object.entries(value as object)
    .map(([key, inner]) => `${toPython(key)}: ${toPython(inner)}`)
    .join(", ")}}`;
}
