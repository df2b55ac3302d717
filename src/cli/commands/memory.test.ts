import { expect, test, vi } from "vitest";

import { createProject, type KitbagRun, type Project, runKitbag } from "../../../test/run-kitbag.ts";

vi.setConfig({ testTimeout: 120_000 });

test("kitbag chat remembers a preference in a new session, and says where it has it from", async () => {
  const project = createProject();
  await chat(project, "Remember that my favourite colour is green.\nPlease remember: my dog's name is Rex\n");

  const later = await chat(project, "What is my favourite colour?\nWhere do you have that from?\n/memory\n");

  expect(later.stdout).toMatch(/Your favourite colour: green\. You told me \(f1, \d{4}-\d\d-\d\d, run \S+\)\./u);
  expect(later.stdout).toMatch(/\n+You told me \(f1, /u);
  expect(later.stderr).toMatch(/^f1 +user +favourite colour: green /mu);
});

test("kitbag chat --no-memory remembers and recalls nothing", async () => {
  const project = createProject();
  await chat(project, "Remember that my favourite colour is green.\n");
  await chat(project, "Remember that my favourite colour is blue.\n", "--no-memory");

  const without = await chat(project, "What is my favourite colour?\n/memory\n", "--no-memory");

  expect(without.stdout).not.toMatch(/green|blue/u);
  expect(without.stderr).toContain("Nothing is remembered here");
  expect((await kitbag(project, ["memory"])).stdout).not.toContain("blue");
});

test("kitbag memory lists, shows, searches, exports and forgets", async () => {
  const project = createProject();
  await chat(
    project,
    "Remember that my favourite colour is green.\nRemember that my favourite colour is blue\u001B[2J.\n",
  );
  await chat(project, "/memory colour\n");

  const list = await kitbag(project, ["memory"]);
  const all = await kitbag(project, ["memory", "list", "--all", "--json"]);
  const { facts } = JSON.parse(all.stdout) as { facts: { id: string }[] };
  const [now] = facts;
  const shown = await kitbag(project, ["memory", "show", now?.id ?? ""]);
  const found = await kitbag(project, ["memory", "search", "favourite", "colour"]);
  const forgotten = await kitbag(project, ["memory", "forget", now?.id ?? ""]);
  const exported = await kitbag(project, ["memory", "export"]);

  expect(list.stdout).toMatch(/^ID +ABOUT +FACT +SINCE +FROM\n\S+ +user +favourite colour: blue/u);
  expect(list.stdout).not.toContain("\u001B");
  expect(facts).toMatchObject([{ value: expect.stringContaining("blue") }, { value: "green", to: expect.any(Number) }]);
  expect(shown.stdout).toMatch(/Before:\n {2}f1 {2}green/u);
  expect(found.stdout).toMatch(/user: Remember that my favourite colour is green/u);
  expect(forgotten.stdout).toMatch(/^Forgotten: f\d+, f1, t/u);
  expect(forgotten.stdout).toContain("The logs of these runs still have what was said");
  expect(exported.stdout).not.toMatch(/green|blue/u);
});

test("kitbag memory of another user is another memory", async () => {
  const project = createProject();
  await chat(project, "Remember that my favourite colour is green.\n");

  const other = await kitbag(project, ["memory", "list", "--user", "ann"]);
  const skill = await kitbag(project, ["memory", "list", "--skill", "pdf"]);
  const local = await kitbag(project, ["memory", "list", "--user", "local"]);

  expect(other.stdout).toContain("No facts are remembered");
  expect(skill.stdout).toContain("No facts are remembered");
  expect(local.stdout).toContain("green");
});

test.for([
  [["memory", "show", "f99"], 2],
  [["memory", "forget", "f99"], 1],
  [["memory", "search"], 2],
  [["memory", "fly"], 2],
] as const)("kitbag %j fails with %i and says what to do", async ([words, code]) => {
  const project = createProject();
  await chat(project, "Hello\n");

  expect(await kitbag(project, words)).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(/^Cannot /u) });
});

function chat(project: Project, input: string, ...words: readonly string[]): Promise<KitbagRun> {
  return runKitbag(["chat", ...words], { project, stdin: input });
}

function kitbag(project: Project, words: readonly string[]): Promise<KitbagRun> {
  return runKitbag(words, { project });
}
