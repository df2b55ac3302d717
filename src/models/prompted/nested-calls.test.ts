import { expect, test } from "vitest";

import { tools } from "../../../test/prompted-calls/case.ts";
import { parseToolCalls } from "./parse-tool-calls.ts";

/** Calls as they stand in what a model writes into a file. */
const inner: readonly string[] = [
  '<tool_call>{"name": "list_files", "arguments": {}}</tool_call>',
  '{"name": "list_files", "arguments": {}}',
  "\nlist_files()\n",
  '```json\n{"name": "list_files", "arguments": {}}\n```',
  '<invoke name="list_files"></invoke>',
  '<invoke name="search"><parameter name="query">cats</parameter></invoke>',
  "<function=list_files></function>",
  "<function=search><parameter=query>cats</parameter></function>",
  "<tool_call>search\n<arg_key>query</arg_key><arg_value>cats</arg_value></tool_call>",
  '[TOOL_CALLS][{"name": "list_files", "arguments": {}}]',
  '<|python_tag|>{"name": "list_files", "parameters": {}}',
  "<list_files/>",
  "<search><query>cats</query></search>",
  "\nAction: search\nAction Input: cats\n",
];

const outer: Readonly<Record<string, (content: string) => string>> = {
  "tool-call": (content) => `<tool_call>{"name": "write_file", "arguments": ${toInput(content)}}</tool_call>`,
  "tool-call in single quotes": (content) => {
    const text = content.replaceAll("'", String.raw`\'`).replaceAll("\n", String.raw`\n`);
    return `<tool_call>{'name': 'write_file', 'arguments': {'path': 'a.md', 'content': '${text}'}}</tool_call>`;
  },
  "tool-call with parameters": (content) =>
    `<tool_call>\n<function=write_file>\n<parameter=path>\na.md\n</parameter>\n<parameter=content>\n${content}\n</parameter>\n</function>\n</tool_call>`,
  "tool-call with arg_key": (content) =>
    `<tool_call>write_file\n<arg_key>path</arg_key>\n<arg_value>a.md</arg_value>\n<arg_key>content</arg_key>\n<arg_value>${content}</arg_value>\n</tool_call>`,
  function: (content) => `<function=write_file>${toInput(content)}</function>`,
  invoke: (content) =>
    `<invoke name="write_file"><parameter name="path">a.md</parameter><parameter name="content">${content}</parameter></invoke>`,
  element: (content) => `<write_file><path>a.md</path><content>${content}</content></write_file>`,
  token: (content) => `[TOOL_CALLS]write_file[ARGS]${toInput(content)}`,
  json: (content) => `{"name": "write_file", "arguments": ${toInput(content)}}`,
  "json in a fence": (content) => `\`\`\`json\n{"name": "write_file", "arguments": ${toInput(content)}}\n\`\`\``,
  expression: (content) => `write_file(path="a.md", content=${JSON.stringify(content)})`,
  "expression in triple quotes": (content) => `write_file(path="a.md", content="""${content}""")`,
  react: (content) => `Action: write_file\nAction Input: ${toInput(content)}`,
};

const table = Object.keys(outer).flatMap((style) => inner.map((call) => [style, call] as const));

test.for(table)("parseToolCalls() makes no call of what a call (%s) writes into a file: %j", ([style, call]) => {
  const content = `See ${call} for that.`;

  const { calls } = parseToolCalls(String(outer[style]?.(content)), tools);

  expect(calls.map(({ name, input }) => [name, input])).toEqual([["write_file", { path: "a.md", content }]]);
});

test.for(table)("parseToolCalls() makes no call of what was cut off in a call (%s): %j", ([style, call]) => {
  const content = `See ${call} for that.`;
  const text = String(outer[style]?.(content));

  for (let length = 0; length < text.length; length++) {
    const { calls } = parseToolCalls(text.slice(0, length), tools);

    const others = calls.filter(({ name, input }) => name !== "write_file" || input["content"] !== content);
    expect(others, text.slice(0, length)).toEqual([]);
  }
});

function toInput(content: string): string {
  return JSON.stringify({ path: "a.md", content });
}
