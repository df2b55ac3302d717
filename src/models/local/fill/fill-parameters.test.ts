import { expect, test } from "vitest";

import type { ModelTool } from "../../model.ts";
import { readRequest } from "../text/read-request.ts";
import { fillParameters } from "./fill-parameters.ts";
import { parametersOf } from "./parameter.ts";
import { toolWordsOf } from "./tool-words.ts";

test.each<[request: string, properties: Record<string, object>, input: Record<string, unknown>]>([
  [
    "make it --limit 5 --verbose",
    { limit: { type: "integer" }, verbose: { type: "boolean" } },
    { limit: 5, verbose: true },
  ],
  ["make it with limit=5", { limit: { type: "integer" } }, { limit: 5 }],
  ["make it, limit: 5", { limit: { type: "integer" } }, { limit: 5 }],
  ["make it with a limit of 5", { limit: { type: "integer" } }, { limit: 5 }],
  ["make at most 5", { limit: { type: "integer" } }, { limit: 5 }],
  ["make it without colours", { colors: { type: "boolean" } }, { colors: false }],
  ["make it with no header", { no_header: { type: "boolean" } }, { no_header: true }],
  ["make it recursively", { recursive: { type: "boolean" } }, { recursive: true }],
  ["make it in 5 minutes", { timeoutSeconds: { type: "integer" } }, { timeoutSeconds: 300 }],
  ["make it within 2 seconds", { limitMs: { type: "integer" } }, { limitMs: 2000 }],
  ["make it of 10 MB", { maxBytes: { type: "integer" } }, { maxBytes: 10_000_000 }],
  ["make it in Upper Case", { style: { enum: ["upper-case", "lower-case"] } }, { style: "upper-case" }],
  ["make it on 3 May 2026", { day: { type: "string", format: "date" } }, { day: "2026-05-03" }],
  ["make it on 3 May 2026", { at: { type: "string", format: "date-time" } }, { at: "2026-05-03T00:00:00Z" }],
  ["make it on 3 May 2026 at 2 pm", { at: { type: "string", format: "date-time" } }, { at: "2026-05-03T14:00:00Z" }],
  ["make it at 9:30", { time: { type: "string", pattern: "^\\d{2}:\\d{2}$" } }, { time: "09:30" }],
  ["make it of ab-1234", { sku: { type: "string", pattern: "^[A-Z]{2}-\\d{4}$" } }, { sku: "AB-1234" }],
  ["make it in euros", { to: { type: "string", pattern: "^[A-Z]{3}$" } }, { to: "EUR" }],
  ["make it of 1.85 m", { height_cm: { type: "number" } }, { height_cm: 185 }],
  ["make it of 80 kg", { height_cm: { type: "number" } }, {}],
  ["make the lights off", { state: { enum: ["on", "off"] } }, { state: "off" }],
  ["make it for all python files", { extensions: { type: "string" } }, { extensions: "py" }],
  ["make it without sending an invitation", { send_invite: { type: "boolean" } }, { send_invite: false }],
  [
    "make it in levels 2 to 4",
    { min_level: { type: "number" }, max_level: { type: "number" } },
    { min_level: 2, max_level: 4 },
  ],
  ["make the 10 biggest", { limit: { type: "integer" } }, { limit: 10 }],
  ["make it between v1 and v2", { range: { type: "string", description: "such as main..HEAD" } }, { range: "v1..v2" }],
  ["make it of c++ c++ c++", { fast: { type: "boolean", description: "go a lot faster" } }, {}],
  ["make it for a, b and c", { names: { type: "array", items: { type: "string" } } }, {}],
  [
    "make names red, green and blue",
    { names: { type: "array", items: { type: "string" } } },
    { names: ["red", "green", "blue"] },
  ],
  ["make it 1500", { limit: { type: "integer", maximum: 100 } }, {}],
  ["make limit 2.5", { limit: { type: "integer" } }, {}],
  ['make {"limit": 3, "name": "x"}', { limit: { type: "integer" }, name: { type: "string" } }, { limit: 3, name: "x" }],
  ["make it called Big Bird", { name: { type: "string" } }, { name: "Big Bird" }],
  ["make it from USD to EUR", { from: { type: "string" }, to: { type: "string" } }, { from: "USD", to: "EUR" }],
  ["make nothing of it", { limit: { type: "integer", default: 3 }, name: { type: "string" } }, {}],
])("fillParameters() reads %j", (request, properties, input) => {
  const filled = fill(request, { type: "object", properties });

  expect(filled.input).toEqual(input);
  expect(filled.missing).toEqual([]);
});

test("fillParameters() gives equal parameters their values in order", () => {
  const number = { type: "number" };

  const filled = fill("make 3 and 4", { type: "object", properties: { a: number, b: number }, required: ["a", "b"] });

  expect(filled.input).toEqual({ a: 3, b: 4 });
});

test("fillParameters() names what is required and was not said", () => {
  const properties = {
    file: { type: "string" },
    count: { type: "integer" },
    mode: { enum: ["x", "y"] },
    kept: { type: "string", default: "a" },
  };

  const filled = fill("make it", { type: "object", properties, required: ["file", "count", "mode", "kept"] });

  expect(filled.missing.map(({ name }) => name)).toEqual(["file", "count", "mode"]);
});

test("fillParameters() takes what is left over as the text", () => {
  const filled = fill("please make the quick brown fox", {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
  });

  expect(filled.input).toEqual({ text: "quick brown fox" });
  expect([...filled.guessed]).toEqual(["text"]);
});

test("fillParameters() finds the fields of an object", () => {
  const place = {
    type: "object",
    properties: { street: { type: "string" }, zip: { type: "string" } },
    required: ["street"],
  };

  const filled = fill('make it, street: "High Road 1", zip=12345', {
    type: "object",
    properties: { place },
    required: ["place"],
  });

  expect(filled.input).toEqual({ place: { street: "High Road 1", zip: "12345" } });
});

test("fillParameters() follows references and alternatives", () => {
  const schema = {
    type: "object",
    properties: { size: { $ref: "#/$defs/size" }, mode: { anyOf: [{ type: "null" }, { enum: ["fast", "slow"] }] } },
    $defs: { size: { allOf: [{ type: "integer" }, { minimum: 1 }] } },
  };

  const filled = fill("make it slow with size 4", schema);

  expect(filled.input).toEqual({ size: 4, mode: "slow" });
});

test("fillParameters() sets a parameter that is called __proto__ as any other", () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"}}}',
  ) as object;

  const { input } = fill("make it --constructor 3 __proto__=x", schema);

  expect(JSON.stringify(input)).toBe('{"__proto__":"x","constructor":3}');
  expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
});

function fill(text: string, inputSchema: object) {
  const tool: ModelTool = { type: "function", name: "make", description: "Makes it", inputSchema };
  return fillParameters({
    request: readRequest(text, "2026-11-16"),
    parameters: parametersOf(tool),
    words: toolWordsOf(tool),
  });
}
