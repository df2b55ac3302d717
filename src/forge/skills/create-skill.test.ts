import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, onTestFinished, test } from "vitest";

import { createFolderTrust } from "../../skills/trust/folder-trust.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { followSkills } from "../../workspace/skills/follow-skills.ts";
import { createSkillSource, loadSkills } from "../../workspace/skills/load-workspace-skills.ts";
import {
  countWords,
  expectRefused,
  openTestForge,
  openTestRuntimes,
  outputOf,
} from "../../../test/support/open-test-forge.ts";
import type { CodeDraft, SkillDraft } from "../tool-draft.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

const draft: SkillDraft = {
  name: "texts",
  description: "Counts what is in texts. Use it when somebody asks how long a text is.",
  instructions: "# Texts\n\nCount with `texts/count-words`.",
  version: "1.0.0",
  tools: [countWords],
  files: { "references/words.md": "A word is what stands between spaces.\n" },
};

test("createSkill() writes a skill that the checker takes, with tools that exist while it is open", async () => {
  const { forge, workspace, directory, home } = await openTestForge(runtimes);

  const answer = await forge.createSkill(draft);
  const closed = await outputOf(workspace, "texts/count-words", { text: "a b" });
  const opened = await workspace.activateSkill("texts");

  expect(answer).toMatchObject({
    status: "live",
    path: ".kitbag/skills/texts",
    tools: ["texts/count-words"],
    diagnostics: [],
  });
  expect(closed).toBe("tool-unavailable");
  expect(opened).toMatchObject({ status: "ok" });
  expect(await outputOf(workspace, "texts/count-words", { text: "a b" })).toEqual({ words: 2 });
  expect(readFileSync(join(directory, ".kitbag/skills/texts/SKILL.md"), "utf8")).toBe(
    "---\nname: texts\ndescription: Counts what is in texts. Use it when somebody asks how long a text is.\n---\n\n# Texts\n\nCount with `texts/count-words`.\n",
  );
  const { reports } = await loadSkills({ workingDirectory: directory, trust: createFolderTrust({ home }), spec: true });
  expect(reports).toMatchObject([{ name: "texts", status: "ok", skill: { folder: { trust: { status: "trusted" } } } }]);
});

test("createSkill() builds tools that are WASM sources", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  const hello: CodeDraft = {
    name: "hello",
    description: "Says hello",
    language: "wasm-assemblyscript",
    code: 'process.stdout.write(\'{"text":"hello"}\');\n',
    output: { type: "object", properties: { text: { type: "string" } } },
    examples: [{ input: {}, output: { text: "hello" } }],
  };

  const answer = await forge.createSkill({ ...draft, tools: [hello] });
  await workspace.activateSkill("texts");

  expect(answer).toMatchObject({ status: "live", tools: ["texts/hello"] });
  expect(await outputOf(workspace, "texts/hello")).toEqual({ text: "hello" });
}, 60_000);

test("createSkill() makes a skill without tools", async () => {
  const { forge, workspace } = await openTestForge(runtimes);

  const answer = await forge.createSkill({
    name: "manners",
    description: "Says how to be polite",
    instructions: "Say please: always.",
  });

  expect(answer).toMatchObject({ status: "live", tools: [] });
  expect(workspace.getSkill("manners")?.instructions).toContain("Say please");
});

test("createSkill() runs the examples of its tools first, and leaves nothing if one does not pass", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);
  const wrong = { ...countWords, examples: [{ input: { text: "a" }, output: { words: 9 } }] };

  const answer = expectRefused(await forge.createSkill({ ...draft, tools: [wrong] }));

  expect(answer.error.message).toContain("count-words: example");
  expect(answer.error.message).toContain('expected: {"words":9}');
  expect(workspace.getSkill("texts")).toBeUndefined();
  expect(existsSync(join(directory, ".kitbag"))).toBe(false);
});

test("createSkill() refuses names, files, tools and permissions that it cannot take", async () => {
  const { forge, directory } = await openTestForge(runtimes);
  const refusal = async (changes: object): Promise<string> =>
    expectRefused(await forge.createSkill({ ...draft, ...changes })).error.message;

  expect(await refusal({ name: "../texts" })).toContain("a name is");
  expect(await refusal({ name: "global" })).toContain("take another one");
  expect(await refusal({ files: { "../x": "" } })).toContain("stays in the folder");
  expect(await refusal({ files: { "SKILL.md": "" } })).toContain("of its own");
  expect(await refusal({ files: { "skill.ts": "process.exit()" } })).toContain("of its own");
  expect(await refusal({ tools: [countWords, { ...countWords, name: "Count-Words" }] })).toContain("twice");
  expect(await refusal({ tools: [{ ...countWords, examples: [] }] })).toContain("give at least one");
  expect(await refusal({ tools: [{ ...countWords, permissions: { network: ["a.example"] } }] })).toContain(
    "more than the policy",
  );
  expect(await refusal({ instructions: "" })).toContain("instructions");
  expect(readdirSync(directory)).toEqual([]);
});

test("createSkill() refuses a name that a skill has, open or only on disk", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createSkill(draft);

  expect(expectRefused(await forge.createSkill(draft)).error.message).toContain("already a skill of this name");
  expect(expectRefused(await forge.createSkill({ ...draft, name: "Texts" })).error.message).toContain("case");
});

test("createSkill() leaves adding to whoever follows the skills of the project", async () => {
  const directory = mkdtempSync(join(tmpdir(), "kitbag-forge-test-"));
  const home = join(directory, "home");
  const workspace = createWorkspace({ runtimes });
  const source = createSkillSource({ workingDirectory: directory, trust: createFolderTrust({ home }) });
  const followed = await followSkills(workspace, source);
  onTestFinished(() => followed.close());
  const { forge } = await openTestForge(runtimes, { directory, home, workspace, followed });

  const answer = await forge.createSkill(draft);

  expect(answer.status).toBe("live");
  expect(followed.reports()).toMatchObject([{ name: "texts", status: "ok" }]);
  expect(await workspace.activateSkill("texts")).toMatchObject({ status: "ok" });
});
