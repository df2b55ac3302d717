import { expect, test } from "vitest";

import { defineTool } from "../core/define-tool.ts";
import type { Tool } from "../core/tool.ts";
import { toData, toolDigest } from "./registry/tool-digest.ts";

test("toolDigest() is the same for tools that are the same, and another one for any difference", () => {
  expect(toolDigest(greet({}))).toBe(toolDigest(greet({})));
  expect(toolDigest(greet({ version: "1.0.0" }))).not.toBe(toolDigest(greet({})));
  expect(toolDigest(withCode({ digest: "sha256:1" }))).not.toBe(toolDigest(withCode({ digest: "sha256:2" })));
});

test("toolDigest() goes by the files beside a script, and not by where they are", () => {
  const files = (digest: string): object => ({ folder: { directory: "/a", files: [{ path: "lib.py", digest }] } });

  expect(toolDigest(withCode(files("sha256:1")))).not.toBe(toolDigest(withCode(files("sha256:2"))));
  expect(toolDigest(withCode({ directory: "/a" }))).toBe(toolDigest(withCode({ directory: "/b" })));
});

test("toData() takes what is JSON, and ends somewhere", () => {
  const cycle: Record<string, unknown> = { a: [1, Infinity, undefined, null, 5n], b: undefined, c: () => 1, d: true };
  cycle["e"] = cycle;

  const data = toData(cycle);

  expect(data).toMatchObject({ a: [1, null, null, null, null], d: true });
  expect(Object.keys(data)).toEqual(["a", "d", "e"]);
});

function greet(parts: Partial<Tool>): Tool {
  return { ...defineTool({ name: "greet", description: "Greets", run: () => "hello" }), ...parts };
}

function withCode(code: object): Tool {
  return greet({ code: { kind: "script", ...code } });
}
