import { expect, test } from "vitest";

import { findShellCommands } from "./find-shell-commands.ts";

test("findShellCommands() finds commands at the beginning of a line and behind a space", () => {
  const found = findShellCommands("!`git status`\n- Diff: !`git diff` and !`git log`\n");

  expect(found).toEqual([
    { command: "git status", form: "line", offset: 0, end: 13 },
    { command: "git diff", form: "line", offset: 22, end: 33 },
    { command: "git log", form: "line", offset: 38, end: 48 },
  ]);
});

test("findShellCommands() finds a block that opens with ```!", () => {
  const body = "Before\n```!\nnode --version\ngit status\n```\nAfter\n";

  const found = findShellCommands(body);

  expect(found).toMatchObject([{ command: "node --version\ngit status", form: "block" }]);
  expect(body.slice(found[0]?.offset, found[0]?.end)).toBe("```!\nnode --version\ngit status\n```");
});

test.for([
  ["behind another character", "KEY=!`cmd` x!`cmd`"],
  ["in a code block", "```\n!`cmd`\n```"],
  ["in a block of another language", "~~~markdown\n- !`cmd`\n~~~"],
  ["in a code span", "Write `` !`cmd` `` to run it"],
  ["that is empty", "!`` and !` `"],
  ["that never closes", "!`cmd\n`"],
  ["in a block that never closes", "```!\nrm -rf x\n"],
  ["in an image or a link", "![alt](x) !important"],
] as const)("findShellCommands() finds nothing %s", ([, body]) => {
  expect(findShellCommands(body)).toEqual([]);
});

test("findShellCommands() takes time in proportion to the text", () => {
  const started = performance.now();
  const runs = Array.from({ length: 1000 }, (_, index) => "`".repeat(index + 1)).join(" ");

  for (const body of ["!`a` ".repeat(100_000), `!\`${runs}`, "!`".repeat(200_000), "```!\n".repeat(100_000)])
    findShellCommands(body);

  expect(performance.now() - started).toBeLessThan(30_000);
});
