import { expect, test } from "vitest";

import { createProject, runKitbag, toolbox } from "../../../test/run-kitbag.ts";
import { skillFiles, toolManifest } from "../../../test/support/skill-files.ts";

test("kitbag search finds skills and tools by what they do, the best match first", async () => {
  const project = createProject(shelf);

  const run = await runKitbag(["search", "print", "a", "poem", "--skills", "skills"], { project });

  expect(run.stderr).toBe("");
  expect(run.stdout).toMatchInlineSnapshot(`
    "MATCH     KIND   ADDRESS     STATE   DESCRIPTION
    ████████  tool   poet/print  closed  Prints a text
    ██████░░  skill  poet        closed  Writes poems about the sea
    "
  `);
});

test("kitbag search --json gives scores, and says what can be used right now", async () => {
  const project = createProject(shelf);

  const words = [
    "search",
    "says text",
    "--skills",
    "skills",
    "--module",
    toolbox,
    "--kind",
    "tool",
    "--limit",
    "2",
    "--json",
  ];
  const run = await runKitbag(words, { project });

  expect(JSON.parse(run.stdout)).toMatchObject({
    query: "says text",
    results: [
      { kind: "tool", address: "poet/twice", available: false, score: expect.any(Number) as number },
      { kind: "tool", available: expect.any(Boolean) as boolean },
    ],
  });
});

test("kitbag search forgives a typing mistake", async () => {
  const run = await runKitbag(["search", "invioce", "--skills", "skills", "--json"], { project: createProject(shelf) });

  expect(JSON.parse(run.stdout)).toMatchObject({ results: [{ address: "invoices" }] });
});

test("kitbag search says when nothing matches", async () => {
  const run = await runKitbag(["search", "zzz\u001B[31m", "--skills", "skills"], { project: createProject(shelf) });

  expect(run).toEqual({ code: 0, stdout: 'Nothing matches "zzz\\u001b[31m".\n', stderr: "" });
});

test.for([
  [["search"], "missing required argument 'words'"],
  [["search", "x", "--kind", "skil"], "Cannot use --kind skil: expected skill or tool"],
  [["search", "x", "--limit", "0"], "Cannot use --limit 0"],
  [["search", "x", "--limit", "1e3"], "Cannot use --limit 1e3"],
] as const)("kitbag %j is wrong usage", async ([words, message]) => {
  const run = await runKitbag(words);

  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toContain(message);
});

const shelf = {
  ...skillFiles("skills/poet", { description: "Writes poems about the sea" }),
  "skills/poet/kitbag.toml": toolManifest,
  "skills/poet/scripts/print.py": "",
  ...skillFiles("skills/invoices", { description: "Checks invoices for mistakes" }),
};
