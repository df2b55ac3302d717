import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, onTestFinished, test } from "vitest";

import { createFolderTrust } from "../../skills/trust/folder-trust.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { followSkills, createSkillSource, loadSkills } from "../../workspace/skills/folder-skills.ts";
import {
  countWords,
  expectRefused,
  openTestForge,
  openTestRuntimes,
  outputOf,
} from "../../../test/support/open-test-forge.ts";
import type { SkillAnswer } from "../forge-interface.ts";
import type { CodeDraft, SkillDraft } from "../drafts/tool-draft.ts";

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

test("updateTool() and its like say of a skill's tool where it is edited", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createSkill(draft);

  for (const work of [
    () => forge.updateTool("texts/count-words", { title: "x" }),
    () => forge.testTool("texts/count-words"),
    () => forge.listVersions("texts/count-words"),
  ])
    await expect(work()).rejects.toMatchObject({
      code: "tool-not-made",
      details: { tool: "texts/count-words", skill: "texts", folder: ".kitbag/skills/texts" },
    });
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

test("createSkill() waits for a person if its tools want more than the policy grants, and runs nothing before", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);
  const run = join(directory, "ran");
  const asking = {
    ...countWords,
    code: `require("node:fs").writeFileSync(${JSON.stringify(run)}, "");\n${countWords.code}`,
    permissions: { write: [directory] },
  };

  const answer = await forge.createSkill({ ...draft, tools: [asking] }, { author: "model" });
  const [waiting] = forge.listWaiting();
  const before = [existsSync(run), workspace.getSkill("texts"), existsSync(join(directory, ".kitbag/skills"))];
  const approved = await forge.approve(waiting?.id ?? "");
  await workspace.activateSkill("texts");

  expect(answer).toEqual(waiting);
  expect(waiting).toMatchObject({
    status: "waiting",
    makes: "skill",
    name: "texts",
    asks: { write: [directory] },
    author: "model",
  });
  expect(before).toEqual([false, undefined, false]);
  expect(approved).toMatchObject({ status: "live", tools: ["texts/count-words"] });
  expect(existsSync(run)).toBe(true);
  expect(await outputOf(workspace, "texts/count-words", { text: "a b" })).toEqual({ words: 2 });
  expect(forge.listWaiting()).toEqual([]);
});

test("createSkill() records what its author may call, and a skill without that record is not trusted", async () => {
  const { forge, directory, home } = await openTestForge(runtimes);
  await forge.createSkill(draft, { author: "Ada" });
  const file = join(directory, ".kitbag/skills/texts/kitbag.toml");
  const written = readFileSync(file, "utf8");
  const load = async () => {
    const { reports } = await loadSkills({ workingDirectory: directory, trust: createFolderTrust({ home }) });
    return reports[0]?.skill;
  };

  const made = await load();
  writeFileSync(file, written.replace(/^author.*\n/gmu, ""));
  const edited = await load();

  expect(written).toContain('author = "Ada"\nauthorScopes = [ "tools" ]\n');
  expect(made?.folder?.trust.status).toBe("trusted");
  expect(made?.tools[0]?.author).toEqual({ user: "Ada", scopes: ["tools"] });
  expect(edited?.folder?.trust).toEqual({ status: "untrusted", changed: ["kitbag.toml (changed)"] });
});

test("createSkill() refuses what cannot be a skill before anybody is asked, and what was denied", async () => {
  const asked: string[] = [];
  const { forge, workspace } = await openTestForge(runtimes, {
    approve(waiting) {
      asked.push(`${waiting.makes} ${waiting.name}`);
      return waiting.name === "yes";
    },
  });
  const asking = { ...countWords, permissions: { network: ["api.example.com"] } };
  const make = (name: string, changes: object): Promise<SkillAnswer> =>
    forge.createSkill({ ...draft, name, tools: [{ ...asking, ...changes }] });

  const unbuilt = await make("unbuilt", { language: "wasm-assemblyscript", code: 'const x: i32 = "text";' });
  const denied = await make("no", {});
  const agreed = await make("yes", {});

  expect(expectRefused(unbuilt).error.message).toContain("is not assignable to type 'i32'");
  expect(expectRefused(denied).error.message).toContain("were denied; make it with fewer");
  expect(agreed.status).toBe("live");
  expect(asked).toEqual(["skill no", "skill yes"]);
  expect([forge.listWaiting(), workspace.getSkill("no")]).toEqual([[], undefined]);
}, 60_000);

test("createSkill() can be approved later, by another process, and only if the name is still free", async () => {
  const first = await openTestForge(runtimes);
  const tools = [{ ...countWords, permissions: { network: ["api.example.com"] } }];
  await first.forge.createSkill({ ...draft, tools });
  const other = await openTestForge(runtimes, {
    directory: first.directory,
    home: first.home,
    workspace: createWorkspace({ runtimes }),
  });
  await other.forge.createSkill(draft);

  const answer = await other.forge.approve(other.forge.listWaiting()[0]?.id ?? "");

  expect(expectRefused(answer).error.message).toContain("already a skill of this name");
  // It waits on, until it is denied or the name is free.
  expect(first.forge.listWaiting()).toHaveLength(1);
});

test("createSkill() refuses names, files and tools that it cannot take", async () => {
  const { forge, directory } = await openTestForge(runtimes);
  const refusal = async (changes: object): Promise<string> =>
    expectRefused(await forge.createSkill({ ...draft, ...changes })).error.message;

  expect(await refusal({ name: "../texts" })).toContain("a name is");
  expect(await refusal({ name: "global" })).toContain("take another one");
  expect(await refusal({ files: { "../x": "" } })).toContain("stays in the folder");
  expect(await refusal({ files: { "SKILL.md": "" } })).toContain("of its own");
  for (const name of ["skill.ts", "skill.js", "skill.mjs", "Skill.MJS", "manifest.toml", "manifest.json"]) {
    expect(await refusal({ files: { [name]: 'import { defineSkill } from "kitbag"; process.exit()' } })).toContain(
      "of its own",
    );
  }
  expect(await refusal({ tools: [countWords, { ...countWords, name: "Count-Words" }] })).toContain("twice");
  expect(await refusal({ tools: [{ ...countWords, examples: [] }] })).toContain("give at least one");
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
