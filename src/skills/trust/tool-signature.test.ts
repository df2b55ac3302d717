import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { toolSignature } from "./tool-signature.ts";

test("toolSignature() stays the same when only words change", () => {
  const before = signature({
    properties: { a: { type: "string", description: "x" }, b: { type: "number" } },
    required: ["a", "b"],
  });
  const after = signature({
    required: ["b", "a"],
    properties: { b: { type: "number" }, a: { description: "y", title: "A", type: "string" } },
  });

  expect(after).toBe(before);
});

test("toolSignature() changes with what fits", () => {
  const before = signature({ properties: { title: { type: "string" } } });

  expect(signature({ properties: { title: { type: "number" } } })).not.toBe(before);
  expect(signature({ properties: { description: { type: "string" } } })).not.toBe(before);
  expect(signature({ properties: { title: { type: "string" } }, required: ["title"] })).not.toBe(before);
  expect(signature({ properties: { title: { type: "string" } } }, { type: "string" })).not.toBe(before);
});

function signature(input: object, output?: object): string {
  const parts = { name: "tool", description: "A tool", input, ...(output !== undefined && { output }), run: () => "" };
  return toolSignature(defineTool(parts as never));
}
