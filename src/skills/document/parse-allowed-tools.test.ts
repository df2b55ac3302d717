import fc from "fast-check";
import { expect, test } from "vitest";

import { parseAllowedTools } from "./read-fields.ts";

test.for([
  ["Read Write", ["Read", "Write"]],
  ["Read, Write,Edit", ["Read", "Write", "Edit"]],
  ["Bash(git add:*) Bash(git commit -m *), Read", ["Bash(git add:*)", "Bash(git commit -m *)", "Read"]],
  ["Bash(f(x, y) z)", ["Bash(f(x, y) z)"]],
  ['["Read", "Bash(npm *)"]', ["Read", "Bash(npm *)"]],
  ["- Read - Write", ["Read", "Write"]],
  ["mcp__a__* plugin:b/c * WebFetch(domain:x.com)", ["mcp__a__*", "plugin:b/c", "*", "WebFetch(domain:x.com)"]],
  ["", []],
] as const)("parseAllowedTools() reads %s", ([text, raws]) => {
  expect(parseAllowedTools(text).tools.map(({ raw }) => raw)).toEqual(raws);
});

test("parseAllowedTools() takes name and rule apart", () => {
  expect(parseAllowedTools("Bash(git:*)").tools).toEqual([{ raw: "Bash(git:*)", name: "Bash", rule: "git:*" }]);
});

test("parseAllowedTools() tells what never closes and goes on behind it", () => {
  expect(parseAllowedTools("y) (x) Bash(git Read")).toMatchObject({
    tools: [{ raw: "Read" }],
    unclosed: ["y)", "(x)", "Bash(git"],
  });
});

test("parseAllowedTools() stays within bounds", () => {
  const started = performance.now();

  const { tools, unclosed } = parseAllowedTools("a( ".repeat(30_000));

  expect(tools.length + unclosed.length).toBe(500);
  expect(performance.now() - started).toBeLessThan(30_000);
});

test("parseAllowedTools() finds every tool that was joined, by spaces or by commas", () => {
  const tool = fc.stringMatching(/^[A-Za-z_*][A-Za-z0-9_*:]{0,10}(?:\([a-z0-9:* ,.-]{1,12}\))?$/u);
  fc.assert(
    fc.property(fc.array(tool, { maxLength: 10 }), fc.constantFrom(" ", ",", ", ", "  ", "\n"), (tools, separator) => {
      expect(parseAllowedTools(tools.join(separator)).tools.map(({ raw }) => raw)).toEqual(tools);
    }),
  );
});
