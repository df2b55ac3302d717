import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { createProject, runKitbag } from "../../../test/run-kitbag.ts";

vi.setConfig({ testTimeout: 60_000 });

test("kitbag init makes a project whose tool, skill and test run at once, without a question", async () => {
  const project = createProject();

  const made = await runKitbag(["init"], { project });
  const greeted = await runKitbag(["call", "greet", "--name", "Ada", "--loud"], { project });
  const words = ["call", "word-counter/count-words", "--text", "to be or not to be", "--json"];
  const counted = await runKitbag(words, { project });
  const tested = await runKitbag(["test", "--json"], { project });
  const checked = await runKitbag(["check", "--spec", "--json"], { project });

  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toContain("kitbag call greet --name Ada\n");
  expect(greeted).toEqual({ code: 0, stdout: "HELLO, ADA!\n", stderr: "" });
  expect(JSON.parse(counted.stdout)).toEqual({ status: "ok", output: '{"words":6,"different":4}' });
  expect(JSON.parse(tested.stdout)).toMatchObject({ summary: { tools: 2, passed: 2, examples: 2, failed: 0 } });
  expect(JSON.parse(checked.stdout)).toMatchObject({ skills: [{ name: "word-counter", diagnostics: [] }] });
});

test("kitbag init <dir> makes the folder", async () => {
  const project = createProject();

  const made = await runKitbag(["init", "new/one", "--json"], { project });

  expect(JSON.parse(made.stdout)).toMatchObject({ path: join(project.folder, "new/one"), trusted: true });
  expect(existsSync(join(project.folder, "new/one/kitbag.config.ts"))).toBe(true);
});

test.for<[what: string, prepare: (folder: string) => void]>([
  ["a configuration", (folder) => writeFileSync(join(folder, "kitbag.config.json"), "{}")],
  ["a skill", (folder) => mkdirSync(join(folder, ".kitbag/skills/word-counter"), { recursive: true })],
  ["a link that leads out", (folder) => symlinkSync(join(folder, ".."), join(folder, ".kitbag"))],
  ["a link for a configuration", (folder) => symlinkSync("/nowhere", join(folder, "kitbag.config.ts"))],
])("kitbag init writes nothing where there is %s", async ([, prepare]) => {
  const project = createProject();
  prepare(project.folder);

  const run = await runKitbag(["init"], { project });

  expect(run).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/^Cannot /u) as string });
  expect(existsSync(join(project.folder, "kitbag.config.ts"))).toBe(false);
  expect(existsSync(join(project.folder, ".kitbag/skills/word-counter/SKILL.md"))).toBe(false);
  expect(existsSync(project.trustFile)).toBe(false);
});
