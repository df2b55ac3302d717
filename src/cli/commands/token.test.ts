import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
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

test("kitbag token add says what the token is good for, and whose it is", async () => {
  const project = createProject();
  const add = (...words: string[]): ReturnType<typeof runKitbag> => runKitbag(["token", "add", ...words], { project });

  const few = await add("ann", "--scopes", "tools:read,tools:of:pdf:extract,runs");
  const all = await add("bob");
  const other = await add("Ann");
  const [local, account] = [await add("local"), await add(userInfo().username)];

  expect(few.stdout).toContain("It is good for tools:read, tools:of:pdf:extract, runs.");
  expect(all.stdout).toContain("It is good for everything.");
  expect([few.stderr, all.stderr]).toEqual(["", ""]);
  expect(other.stderr).toBe('There is a user "ann" too: names that differ in case are two users\n');
  for (const { stdout } of [local, account]) expect(stdout).toContain("the token of the local user");
  expect(all.stdout).not.toContain("local user");
});

test("kitbag token revoke refuses a word that is the id of one token and the user of another", async () => {
  const project = createProject();
  const added = await runKitbag(["token", "add", "ann", "--json"], { project });
  const { id } = JSON.parse(added.stdout) as { readonly id: string };
  const path = join(project.home, "tokens");
  writeFileSync(path, `${readFileSync(path, "utf8")}sha256:${"0".repeat(64)} ${id}\n`);
  const before = readFileSync(path, "utf8");

  const run = await runKitbag(["token", "revoke", id], { project });
  const [one, after] = [
    await runKitbag(["token", "revoke", "00000000"], { project }),
    await runKitbag(["token", "revoke", id], { project }),
  ];

  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toContain(
    `Cannot revoke "${id}": it is the id of a token of ann, and the user of the token 00000000`,
  );
  expect(before).toContain("ann");
  expect([one.stdout, after.stdout]).toEqual([
    expect.stringContaining(`Revoked 00000000 of ${id}`),
    expect.stringContaining(`Revoked ${id} of ann`),
  ]);
});

test.for([
  ["", "it is empty, so it may be half written"],
  ["sha256:0123", "line 1 does not end with a newline, so it may be half written"],
])("kitbag token says what is wrong with a file of %j, and what to do", async ([text = "", reason]) => {
  const project = createProject();
  mkdirSync(project.home, { recursive: true });
  writeFileSync(join(project.home, "tokens"), text, { mode: 0o600 });

  const runs = [await runKitbag(["token", "list"], { project }), await runKitbag(["token", "add", "ann"], { project })];

  for (const { code, stderr } of runs) {
    expect([code, stderr]).toEqual([1, expect.stringContaining(reason ?? "")]);
    expect(stderr).toContain("delete it, and make new tokens with kitbag token add <name>");
  }
});

test.for([
  [["add", "a/b"], "Cannot make a token: "],
  [["add", "oauth:alice"], "Cannot make a token: "],
  [["add", ""], "Cannot make a token: "],
  [["add"], "it takes the name of a user"],
  [["add", "ann", "--scopes", "a b"], "Cannot use --scopes"],
  [["add", "ann", "--scopes", ""], "Cannot use --scopes"],
  [["add", "ann", "--scopes", "tools:raed"], '"tools:raed" is no scope; did you mean tools:read?'],
  [["add", "ann", "--scopes", "tools:read,tools:pdf"], '"tools:pdf" is no scope; did you mean tools:of:pdf?'],
  [["add", "ann", "--scopes", "everything"], "there are tools, tools:read, tools:write, tools:of:<skill>"],
  [["add", "3f2a91bc"], '"3f2a91bc" looks like the id of a token'],
] as const)("kitbag token %j is refused", async ([words, reason]) => {
  const run = await runKitbag(["token", ...words]);

  expect([run.code, run.stdout]).toEqual([2, ""]);
  expect(run.stderr).toContain(reason);
});
