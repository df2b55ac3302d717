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
  ["make it 3 x 4", { rows: { type: "integer" }, columns: { type: "integer" } }, { rows: 3, columns: 4 }],
  ["make it 800x600", { height: { type: "integer" }, width: { type: "integer" } }, { width: 800, height: 600 }],
  ["make 10 20", { width: { type: "integer" }, height: { type: "integer" } }, {}],
  ["make it of 180 cm", { height_m: { type: "number" } }, { height_m: 1.8 }],
  ["make it of 800m", { distance_km: { type: "number" } }, { distance_km: 0.8 }],
  ["make it of 68 fahrenheit", { celsius: { type: "number" } }, { celsius: 20 }],
  ["make it of 15%", { weight_kg: { type: "number" } }, {}],
  ["make 4711 of it", { id: { type: "integer" }, email: { type: "string" } }, { id: 4711 }],
  [
    "make it for +41 79 123 45 67",
    { name: { type: "string" }, phone: { type: "string" } },
    { phone: "+41 79 123 45 67" },
  ],
  ["make it of first class", { travel_class: { enum: ["first", "second"] } }, { travel_class: "first" }],
  [
    'make 12 "plates"',
    { article: { type: "string" }, quantity: { type: "integer" } },
    { article: "plates", quantity: 12 },
  ],
  ["make it of the last 7 days", { since: { type: "string", format: "date" } }, { since: "2026-11-09" }],
  ["make it since last Monday", { since: { type: "string", format: "date" } }, { since: "2026-11-09" }],
  ["make it for README.md", { extensions: { type: "string", description: "which files, such as ts,py" } }, {}],
  [
    "make server.port of config.json",
    { file: { type: "string" }, path: { type: "string", description: "such as users[*].email" } },
    { file: "config.json", path: "server.port" },
  ],
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

test("fillParameters() never gives an amount to what is measured in something else", () => {
  const schema = { type: "object", properties: { seconds: { type: "integer" } }, required: ["seconds"] };

  const filled = fill("make it of 2 kg", schema);

  expect(filled).toMatchObject({ input: {}, missing: [{ name: "seconds" }] });
});

test("fillParameters() takes no words for the number of something", () => {
  const filled = fill("make pay rent", {
    type: "object",
    properties: { number: { type: "string" } },
    required: ["number"],
  });

  expect(filled).toMatchObject({ input: {}, missing: [{ name: "number" }] });
});

test("fillParameters() leaves what is about the tool out of a name", () => {
  const properties = { stop: { type: "string" }, day: { enum: ["weekday", "weekend"] } };

  const schema = { type: "object", properties, required: ["stop"] };
  const filled = fill("weekend service bus from Central Park", schema, "Finds a bus");

  expect(filled.input).toEqual({ stop: "Central Park", day: "weekend" });
});

test("fillParameters() takes a day without a year for the next one only if the tool is about what is to come", () => {
  const schema = { type: "object", properties: { date: { type: "string", format: "date" } }, required: ["date"] };

  const made = fill("make it on January 5", schema);
  const booked = fill("book it on January 5", schema, "Books a room");
  const later = fill("book it on December 24", schema, "Books a room");

  expect([made, booked, later].map(({ input }) => input["date"])).toEqual(["2026-01-05", "2027-01-05", "2026-12-24"]);
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

function fill(text: string, inputSchema: object, description = "Makes it") {
  const tool: ModelTool = { type: "function", name: "make", description, inputSchema };
  return fillParameters({
    request: readRequest(text, "2026-11-16"),
    parameters: parametersOf(tool),
    words: toolWordsOf(tool),
  });
}
