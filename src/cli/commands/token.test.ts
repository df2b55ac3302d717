import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { createProject, runKitbag } from "../../../test/run-kitbag.ts";

vi.setConfig({ testTimeout: 60_000 });

test("kitbag token adds, lists and revokes tokens, and shows one only when it is made", async () => {
  const project = createProject();
  const run = (...words: string[]): ReturnType<typeof runKitbag> => runKitbag(["token", ...words], { project });

  const added = await run("add", "ann");
  const second = await run("add", "ci", "--scopes", "tools:read,tools:of:pdf", "--json");
  const { token, id } = JSON.parse(second.stdout) as { readonly token: string; readonly id: string };
  const listed = await run("list");
  const revoked = await run("revoke", id);
  const left = await run("list", "--json");

  const path = join(project.home, "tokens");
  const [first = ""] = added.stdout.split("\n");
  expect(first).toMatch(/^kitbag_[\w-]{43}$/u);
  expect(listed.stdout).toMatch(/ann +everything +20\d\d-/u);
  expect(listed.stdout).toMatch(/ci +tools:read, tools:of:pdf/u);
  expect(revoked.stdout).toContain(`Revoked ${id} of ci`);
  expect(JSON.parse(left.stdout)).toMatchObject({ tokens: [{ user: "ann", scopes: "all" }] });
  for (const text of [listed.stdout, left.stdout, revoked.stdout, readFileSync(path, "utf8")]) {
    for (const one of [first, token]) expect(text).not.toContain(one.slice(-8));
  }
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test.for([
  [["add", "a/b"], "Cannot make a token: "],
  [["add", "oauth:alice"], "Cannot make a token: "],
  [["add", ""], "Cannot make a token: "],
  [["add"], "it takes the name of a user"],
  [["add", "ann", "--scopes", "a b"], "Cannot use --scopes"],
  [["add", "ann", "--scopes", ""], "Cannot use --scopes"],
  [["revoke", "nobody"], 'Cannot revoke "nobody": no token has this id or user'],
] as const)("kitbag token %j is refused", async ([words, reason]) => {
  const run = await runKitbag(["token", ...words]);

  expect([run.code, run.stdout]).toEqual([2, ""]);
  expect(run.stderr).toContain(reason);
});
