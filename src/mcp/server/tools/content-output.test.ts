import fc from "fast-check";
import { expect, test } from "vitest";

import type { JsonValue } from "../../../core/json.ts";
import { toContentBlocks } from "./to-call-result.ts";

const png = "iVBORw0KGgo=";

test("toContentBlocks() takes what is MCP content, and nothing but that", () => {
  const blocks: JsonValue = [
    { type: "text", text: "hi" },
    { type: "image", data: png, mimeType: "image/png" },
    { type: "audio", data: "", mimeType: "audio/wav" },
    { type: "resource_link", uri: "file:///a", name: "a" },
    { type: "resource", resource: { uri: "a:b", text: "c" } },
    { type: "resource", resource: { uri: "a:b", blob: png } },
  ];

  expect(toContentBlocks({ $content: blocks })).toEqual(blocks);
  expect(toContentBlocks({ $content: [] })).toEqual([]);
});

test.for<[string, JsonValue]>([
  ["another key", { content: [{ type: "text", text: "hi" }] }],
  ["a second key", { $content: [{ type: "text", text: "hi" }], more: 1 }],
  ["no list", { $content: { type: "text", text: "hi" } }],
  ["a list", [{ type: "text", text: "hi" }]],
  ["a text", "$content"],
  ["null", null],
  ["a block of no kind", { $content: [{ text: "hi" }] }],
  ["a block of another kind", { $content: [{ type: "video", data: png }] }],
  ["a kind that objects have", { $content: [{ type: "constructor" }] }],
  ["a picture that is not base64", { $content: [{ type: "image", data: "ä", mimeType: "image/png" }] }],
  ["a picture of no type", { $content: [{ type: "image", data: png }] }],
  ["a resource with nothing in it", { $content: [{ type: "resource", resource: { uri: "a:b" } }] }],
  ["one wrong block", { $content: [{ type: "text", text: "hi" }, { type: "text" }] }],
])("toContentBlocks() leaves %s as an output", ([, output]) => {
  expect(toContentBlocks(output)).toBeUndefined();
});

test("toContentBlocks() never throws", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      toContentBlocks(value as JsonValue);
      toContentBlocks({ $content: value as JsonValue });
      toContentBlocks({ $content: [value as JsonValue] });
    }),
  );
});
