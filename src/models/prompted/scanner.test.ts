import fc from "fast-check";
import { expect, test } from "vitest";

import { tools } from "../../../test/prompted-calls/case.ts";
import { damageCases } from "../../../test/prompted-calls/damage-cases.ts";
import { expressionCases } from "../../../test/prompted-calls/expression-cases.ts";
import { fenceCases } from "../../../test/prompted-calls/fence-cases.ts";
import { headCases } from "../../../test/prompted-calls/head-cases.ts";
import { jsonCases } from "../../../test/prompted-calls/json-cases.ts";
import { nameCases } from "../../../test/prompted-calls/name-cases.ts";
import { proseCases } from "../../../test/prompted-calls/prose-cases.ts";
import { reactCases } from "../../../test/prompted-calls/react-cases.ts";
import { tagCases } from "../../../test/prompted-calls/tag-cases.ts";
import { tokenCases } from "../../../test/prompted-calls/token-cases.ts";
import { createScanner, type Piece } from "./scanner.ts";
import { toToolIndex } from "./tool-index.ts";

const index = toToolIndex(tools);
const texts = [
  ...damageCases,
  ...expressionCases,
  ...fenceCases,
  ...headCases,
  ...jsonCases,
  ...nameCases,
  ...proseCases,
  ...reactCases,
  ...tagCases,
  ...tokenCases,
].map(({ text }) => text);

test.for(texts)("createScanner() finds the same in single characters: %j", (text) => {
  expect(scan(text.split(""))).toEqual(scan([text]));
});

test("createScanner() finds the same however several answers are cut into chunks", () => {
  const answers = fc.array(fc.constantFrom(...texts), { minLength: 1, maxLength: 3 });
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(answers, fc.constantFrom("", "\n", " and ", "\n\n"), sizes, (parts, between, lengths) => {
      const text = parts.join(between);

      expect(scan(split(text, lengths))).toEqual(scan([text]));
    }),
    { numRuns: 500 },
  );
});

test("createScanner() finds the same in random text of the characters that matter, however it is cut", () => {
  const pieces = [
    "<",
    ">",
    "</",
    "<tool_call>",
    "</tool_call>",
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    "`",
    "```",
    "~~~",
    "\n",
    " ",
    ":",
    ",",
    "\\",
    "name",
    "arguments",
    '"name"',
    '"arguments"',
    "search",
    '"search"',
    "get_weather",
    "(",
    ")",
    "query",
    '"query"',
    "=",
    "cats",
    "Action:",
    "Action Input:",
    "<think>",
    "</think>",
    "[TOOL_CALLS]",
    "<|",
    "|>",
    '<invoke name="search">',
    '<parameter name="query">',
    "</parameter>",
    "</invoke>",
    "<search>",
    "<query>",
    "</query>",
    "</search>",
    "example",
    ">",
    ">>>",
    ">>>search\n",
    "<|channel|>",
    "commentary",
    "analysis",
    " to=functions.search",
    "<|message|>",
    "<|end|>",
    "<|start|>assistant",
    "<|recipient|>search\n<|content|>",
    "<tools>",
    "</tools>",
    "<start_function_call>",
    "call:search{",
    "<end_function_call>",
    "<escape>",
    '<|"|>',
    "<|tools_prefix|>",
    "<|tools_suffix|>",
    "<|inner_prefix|>",
    "<|inner_suffix|>",
    "<invoke><tool_name>search</tool_name><parameters>",
    "</parameters></invoke>",
    "Let me know if I should run it.",
    "json",
    "tool_code",
    "1",
    "#",
    "//",
    "<!--",
    "-->",
  ];
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join(""));
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(text, sizes, (whole, lengths) => {
      expect(scan(split(whole, lengths))).toEqual(scan([whole]));
    }),
    { numRuns: 4000 },
  );
});

test("createScanner() lets text pass as soon as it cannot be part of a call", () => {
  const scanner = createScanner(index);
  const pass = (chunk: string): string =>
    scanner
      .push(chunk)
      .map((piece) => (piece.type === "text" ? piece.text : ""))
      .join("");

  const passed = [
    "The weather",
    " is fine, a < b",
    ", see <b",
    "old>",
    "\n```js\nlet a = {",
    "};\n```\nDone <tool_c",
    "all> no way",
  ].map(pass);

  expect(passed).toEqual([
    "The weather",
    " is fine, a < b",
    ", see",
    // The last character could be the first of `>>>`.
    " <bold",
    ">\n```js",
    "\nlet a = {};\n```\nDone",
    " <tool_call> no way",
  ]);
});

const hostile: Readonly<Record<string, string>> = {
  "nested objects": '{"a":',
  "open brackets": "[",
  "open braces": "{",
  "open tags": "<tool_call>",
  "open tags with an object": "<tool_call>{",
  "open tags with a name": '<tool_call>{"name":"search","arguments":{',
  "open fences": "```json\n",
  "open fences with an object": "```json\n{",
  "open tildes": "~~~\n",
  "single backticks": "`",
  quotes: '"',
  "open texts": '{"name":"',
  "escaped quotes": '\\"',
  "open calls": "search(\n",
  "open calls with a text": 'search(query="\n',
  "open invokes": '<invoke name="search">',
  "open parameters": '<invoke name="search"><parameter name="query">',
  "open elements": "<search><query>",
  "open functions": "<function=search>",
  "open thoughts": "<think>",
  "closed thoughts": "</think>",
  "open comments": "<!--",
  "open examples": "<example>",
  "react lines": "Action: search\nAction Input: {\n",
  "open tokens": "[TOOL_CALLS]",
  "open tokens with a list": "[TOOL_CALLS][{",
  "argument keys": "<tool_call>search<arg_key>query</arg_key>",
  "less-than signs": "<",
  "open angle and pipe": "<|",
  commas: '{"a",,,,,,',
  "line comments": '{"a": // x\n',
  "block comments": '{"a": /* x',
  spaces: "{       ",
  lines: "\n",
  "list of expressions": "[search(",
  "inner quotes": '<tool_call>{"name":"search","arguments":{"query":"a "b" ',
  "heads of Harmony": "<|channel|>commentary to=functions.search<|message|>",
  "heads with an object": '<|channel|>commentary to=functions.search<|message|>{"query":',
  "heads that never end": "<|start|>assistant to=search ",
  "thoughts of Harmony": "<|channel|>analysis<|message|>",
  "recipients of Functionary": '>>>search\n{"query":',
  "greater-than signs": ">",
  "open lists of tools": "<tools>",
  "lists of tools with an object": '<tools>{"name":"search","arguments":{',
  "calls of FunctionGemma": "<start_function_call>call:search{query:<escape>",
  "tokens around texts": "<escape>",
  "tokens around texts in an object": '{"query":<escape>a<|"|>',
  "tokens of Apertus": '<|tools_prefix|>[{"search":{',
  "invokes of Claude 2": "<invoke><tool_name>search</tool_name><parameters><query>",
  "whole calls": '<tool_call>{"name":"search","arguments":{"query":"cats"}}</tool_call>',
  "whole objects": '{"name":"search","arguments":{"query":"cats"}}\n',
};

test.for(Object.entries(hostile))("createScanner() takes time in proportion to the text: %s", ([, unit]) => {
  const once = steps(unit, 50_000);
  const twice = steps(unit, 100_000);

  expect(twice).toBeLessThan(once * 2.2 + 10_000);
  expect(twice).toBeLessThan(100_000 * 60);
});

test.for(["nested objects", "open brackets", "open tags", "open fences", "open tags with a name", "open parameters"])(
  "createScanner() gets through a megabyte: %s",
  (name) => {
    expect(steps(String(hostile[name]), 1_000_000)).toBeLessThan(1_000_000 * 60);
  },
);

function steps(unit: string, length: number): number {
  const scanner = createScanner(index);
  scanner.push(unit.repeat(Math.ceil(length / unit.length)).slice(0, length));
  scanner.end();
  return scanner.steps();
}

test("createScanner() takes time in proportion to a text that comes in small chunks", () => {
  const steps = [200_000, 400_000].map((length) => {
    const scanner = createScanner(index);
    const text = `<tool_call>{"name":"write_file","arguments":{"path":"a","content":"${"x } > y ".repeat(length / 8)}"}}</tool_call>`;
    for (let at = 0; at < text.length; at += 16) scanner.push(text.slice(at, at + 16));
    scanner.end();
    return scanner.steps();
  });

  expect(steps[1]).toBeLessThan(Number(steps[0]) * 2.5);
});

/** What was found, with the texts of one kind in a row as one. */
function scan(chunks: readonly string[]): Piece[] {
  const scanner = createScanner(index);
  const found = [...chunks.flatMap((chunk) => scanner.push(chunk)), ...scanner.end()];
  const joined: Piece[] = [];
  for (const piece of found) {
    const last = joined.at(-1);
    if ((piece.type === "text" || piece.type === "reasoning") && last?.type === piece.type) {
      joined[joined.length - 1] = { type: piece.type, text: last.text + piece.text };
    } else joined.push(piece);
  }
  return joined;
}

function split(text: string, lengths: readonly number[]): string[] {
  const chunks: string[] = [];
  let at = 0;
  for (let turn = 0; at < text.length; turn++) {
    const length = Number(lengths[turn % lengths.length]);
    chunks.push(text.slice(at, at + length));
    at += length;
  }
  return chunks;
}
