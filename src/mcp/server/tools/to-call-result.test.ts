import { expect, test } from "vitest";

import { toFailure } from "../../../core/errors.ts";
import { contentKey } from "../../../core/mcp-source.ts";
import type { ToolOutcome } from "../../../core/outcome.ts";
import { findStructuredForm, toCallResult, toErrorResult, toStructuredSchema } from "./to-call-result.ts";

const ok = (output: unknown): ToolOutcome => ({ status: "ok", output }) as ToolOutcome;

test("toCallResult() gives text as it is, and anything else as JSON", () => {
  expect(toCallResult(ok("hi"), "none")).toEqual({ content: [{ type: "text", text: "hi" }] });
  expect(toCallResult(ok({ a: 1 }), "none")).toEqual({ content: [{ type: "text", text: '{"a":1}' }] });
  expect(toCallResult(ok(null), "none")).toEqual({ content: [{ type: "text", text: "null" }] });
});

test("toCallResult() structures what a schema describes, and wraps what is no object for 2025", () => {
  expect(toCallResult(ok({ a: 1 }), "plain")).toEqual({
    content: [{ type: "text", text: '{"a":1}' }],
    structuredContent: { a: 1 },
  });
  expect(toCallResult(ok([1]), "wrapped")).toEqual({
    content: [{ type: "text", text: "[1]" }],
    structuredContent: { result: [1] },
  });
});

test("toCallResult() hands on content blocks, but not of a tool that says what it gives", () => {
  const output = { $content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] };

  expect(toCallResult(ok(output), "none")).toEqual({ content: output.$content });
  expect(toCallResult(ok(output), "plain").structuredContent).toEqual(output);
});

test("toCallResult() says what went wrong, and nothing else", () => {
  const failed: ToolOutcome = { status: "failed", error: toFailure("tool-failed", { tool: "x", reason: "no" }) };

  expect(toCallResult(failed, "plain")).toEqual({
    content: [{ type: "text", text: failed.error.message }],
    isError: true,
  });
});

test("toCallResult() names the files that a call wrote, with a link to each that is kept", () => {
  const handle = `output:sha256:${"a".repeat(64)}`;
  const files = [
    { path: "out/a b.csv", bytes: 42, handle },
    { path: "log.txt", bytes: 7, savedTo: "/work/log.txt" },
  ];
  const failed: ToolOutcome = { status: "failed", error: toFailure("tool-failed", { tool: "x", reason: "no" }), files };

  const text = [
    "Files that the tool wrote:",
    `- "out/a b.csv", 42 bytes: kept as ${handle}, which names it in other calls`,
    "- log.txt, 7 bytes: saved",
  ].join("\n");
  const uri = `kitbag://files/${handle}?name=a+b.csv`;
  const blocks = [
    { type: "text", text },
    { type: "resource_link", uri, name: "out/a b.csv", size: 42 },
  ];
  expect(toCallResult({ ...ok("hi"), files }, "none").content).toEqual([{ type: "text", text: "hi" }, ...blocks]);
  expect(toCallResult({ ...ok({ a: 1 }), files }, "plain")).toMatchObject({ structuredContent: { a: 1 } });
  expect(toCallResult(failed, "none")).toMatchObject({ isError: true, content: [{ type: "text" }, ...blocks] });
});

test("findStructuredForm() knows what each generation can take", () => {
  const list = { type: "array", items: { type: "string" } };
  const tree = { anyOf: [{ type: "null" }, { type: "array", items: { $ref: "#" } }] };

  expect(findStructuredForm(undefined, "2025")).toBe("none");
  expect(findStructuredForm({ type: "object" }, "2025")).toBe("plain");
  expect(findStructuredForm(list, "2025")).toBe("wrapped");
  expect(findStructuredForm(list, "2026")).toBe("plain");
  expect(findStructuredForm(tree, "2025")).toBe("none");
  expect(findStructuredForm(tree, "2026")).toBe("plain");
  expect(toStructuredSchema(list, "wrapped")).toEqual({
    type: "object",
    properties: { result: list },
    required: ["result"],
  });
  expect(toStructuredSchema(list, "none")).toBeUndefined();
});

test("R10: toCallResult() takes what nobody sees out of text, and only what deceives out of what programs read", () => {
  const hidden = "\uFEFFa\u200B \u202Eb \u{E0041}\u001B[31mc";

  expect(toCallResult({ status: "ok", output: hidden }, "none").content).toEqual([{ type: "text", text: "a b c" }]);
  expect(toCallResult({ status: "ok", output: { [contentKey]: [{ type: "text", text: hidden }] } }, "none")).toEqual({
    content: [{ type: "text", text: "a b c" }],
  });
  expect(toCallResult({ status: "ok", output: { "k\u200By": hidden } }, "plain")).toEqual({
    content: [{ type: "text", text: '{"ky":"a b c"}' }],
    structuredContent: { "k\u200By": "\uFEFFa\u200B b \u001B[31mc" },
  });
  expect(toErrorResult(hidden).content).toEqual([{ type: "text", text: "a b c" }]);
});
