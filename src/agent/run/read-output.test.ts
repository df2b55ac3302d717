import { expect, test } from "vitest";

import { toRule } from "./output-rule.ts";
import { readOutput } from "./run-loop.ts";

const json = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
const rome = { ok: true, output: { city: "Rome" } };

test.for([
  '{"city": "Rome"}',
  'Here:\n```json\n{"city": "Rome"}\n```\nIs that {all}?',
  'It is {"city": "Rome"}.',
  '<think>Is it {"city": "Paris"}? No.</think>\n{"city": "Rome"}',
  'It is {"city": "Paris"}, or not?</think>{"city": "Rome"}',
  "{'city': 'Rome',}",
  "```json\n{city: 'Rome'} // the capital\n```",
])("readOutput() finds the output in %j", async (text) => {
  expect(await readOutput(text, toRule(json))).toEqual(rome);
});

test.for([
  "",
  "Rome",
  '{"city": "Ro',
  "{'city': 'Ro",
  '{"city": "Rome", "more": {"a": 1}',
  "{'city': 'Rome', 'more': ['a'",
  '{"city": "Rome"} or {"city": "Paris"}',
  '<think>{"city": "Rome"}',
  `{"city": "Rome", "more": ${"[".repeat(10_000)}${"]".repeat(10_000)}}`,
  '{"city": "Rome", "__proto__": {"a": 1}}',
])("readOutput() makes nothing up: %j", async (text) => {
  expect(await readOutput(text, toRule(json))).toMatchObject({ ok: false });
});
