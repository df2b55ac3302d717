import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
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
  sayTool,
  type TestForge,
} from "../../../test/support/open-test-forge.ts";
import { createForgeTools } from "../tools/create-forge-tools.ts";
import type { SkillDraft } from "../drafts/tool-draft.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

const talk = (text: string, more: Partial<SkillDraft> = {}): SkillDraft => ({
  name: "talk",
  description: "Says things. Use it when something must be said.",
  instructions: "Call `talk/say`.",
  tools: [sayTool("say", text)],
  ...more,
});

test("createSkill() with replace makes the next version, and the one before stays callable", async () => {
  const { forge, workspace } = await openTestForge(runtimes);

  const first = await forge.createSkill(talk("A"));
  await workspace.activateSkill("talk");
  const second = await forge.createSkill(talk("B"), { replace: true, expectedVersion: "1.0.0" });
  const more = await forge.createSkill(talk("B", { tools: [sayTool("say", "B"), sayTool("sing", "la")] }), {
    replace: true,
  });
  const less = await forge.createSkill(talk("C"), { replace: true });

  expect(first).toMatchObject({ status: "live", version: "1.0.0" });
  expect(second).toMatchObject({ status: "live", version: "1.0.1", change: { from: "1.0.0", step: "patch" } });
  expect(more).toMatchObject({ version: "1.1.0", change: { step: "minor", reasons: ["the tool sing is new"] } });
  expect(less).toMatchObject({ version: "2.0.0", change: { step: "major", reasons: ["the tool sing is gone"] } });
  expect(await outputOf(workspace, "talk/say")).toBe("C");
  expect(await outputOf(workspace, "talk/say@2.0.0")).toBe("C");
  expect(await outputOf(workspace, "talk/say@1.0.1")).toBe("B");
  expect(await outputOf(workspace, "talk/say@1.0.0")).toBe("A");
  expect(await outputOf(workspace, "talk/say@9.0.0")).toBe("version-not-found");
  expect(workspace.getAvailableTools().map(({ address }) => address)).toEqual(["talk/say"]);
});

test("createSkill() with replace makes recorded calls again and tells what comes out differently", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  const counting = (code: string): SkillDraft => talk("", { tools: [{ ...countWords, code }, sayTool("say", "A")] });
  await forge.createSkill(counting(countWords.code));
  await workspace.activateSkill("talk");
  for (const text of ["a b", "a-b"]) await workspace.call("talk/count-words", { text });
  await workspace.call("talk/say");

  const code = countWords.code.replace("text.match", 'text.replaceAll("-", " ").match');
  const next = await forge.createSkill(counting(code), { replace: true });
  const again = await forge.createSkill(talk("B"), { replace: true });

  const [input, before, after] = [{ text: "a-b" }, { words: 1 }, { words: 2 }];
  expect(next).toMatchObject({
    replay: { calls: 2, same: 1, differences: [{ tool: "talk/count-words", input, before, after }] },
  });
  expect(again).toMatchObject({ replay: { calls: 0, skipped: "the tool is neither read-only nor idempotent" } });
});

test("createSkill() with replace refuses what does not pass, and leaves all as it was", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);
  await forge.createSkill(talk("A"));
  const wrong = { ...sayTool("say", "B"), examples: [{ input: {}, output: "Z" }] };

  const refused = expectRefused(await forge.createSkill(talk("B", { tools: [wrong] }), { replace: true }));
  const same = await forge.createSkill(talk("A"), { replace: true });
  await workspace.activateSkill("talk");

  expect(refused.error.message).toContain("did not pass");
  expect(same).toMatchObject({ status: "live", version: "1.0.0", diagnostics: [{ code: "draft-same" }] });
  expect(await outputOf(workspace, "talk/say")).toBe("A");
  expect(await forge.listSkillVersions("talk")).toMatchObject([{ version: "1.0.0", current: true }]);
  expect(readdirSync(join(directory, ".kitbag"))).toEqual(expect.arrayContaining(["skill-versions", "skills"]));
});

test("createSkill() takes the version of the draft if it is newer than all, and else the one that follows", async () => {
  const { forge } = await openTestForge(runtimes);

  const first = await forge.createSkill(talk("A", { version: "3.0.0" }));
  const next = await forge.createSkill(talk("B", { version: "3.0.0" }), { replace: true });
  const own = await forge.createSkill(talk("C", { version: "4.2.0" }), { replace: true });
  const odd = await forge.createSkill(talk("C", { name: "odd", version: "../x" }));

  expect([first, next, own]).toMatchObject([{ version: "3.0.0" }, { version: "3.0.1" }, { version: "4.2.0" }]);
  expect(expectRefused(odd).error.message).toContain("version: expected three numbers");
});

test("createSkill() lets one of two editors win, and tells the other what changed", async () => {
  const { forge, directory, home } = await openTestForge(runtimes);
  await forge.createSkill(talk("A"));
  const other = await openTestForge(runtimes, { directory, home, workspace: createWorkspace({ runtimes }) });
  const edit = { replace: true, expectedVersion: "1.0.0" };

  const answers = await Promise.all([
    forge.createSkill(talk("B"), edit),
    other.forge.createSkill(talk("C", { instructions: "Call it." }), edit),
  ]);
  const late = await forge.createSkill(talk("D"), edit);

  expect(answers.map(({ status }) => status).toSorted()).toEqual(["live", "refused"]);
  const lost = expectRefused(answers.find(({ status }) => status === "refused") ?? { status: "none" });
  expect(lost.error).toMatchObject({ code: "version-conflict", details: { expected: "1.0.0", current: "1.0.1" } });
  expect(expectRefused(late).error).toMatchObject({
    code: "version-conflict",
    details: { changed: expect.arrayContaining(["tools/say/main.sh"]) },
  });
  expect((await forge.listSkillVersions("talk")).map(({ version }) => version)).toEqual(["1.0.0", "1.0.1"]);
});

test("createSkill() with replace waits for a person if it wants more, and goes on from the version that was seen", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createSkill(talk("A"));
  const asking = { ...sayTool("say", "B"), permissions: { network: ["api.example.com"] } };

  const waiting = await forge.createSkill(talk("B", { tools: [asking] }), { replace: true });
  await forge.createSkill(talk("C"), { replace: true });
  const id = forge.listWaiting()[0]?.id ?? "";
  const conflict = await forge.approve(id);
  await forge.rollbackSkill("talk", "1.0.0");
  const approved = await forge.approve(id);

  expect(waiting).toMatchObject({ status: "waiting", makes: "skill", from: "1.0.0" });
  expect(expectRefused(conflict).error.code).toBe("version-conflict");
  expect(approved).toMatchObject({ status: "live", version: "2.0.0" });
});

test("rollbackSkill() makes an earlier version live again, and keeps that it happened", async () => {
  const { forge, workspace } = await openTestForge(runtimes, { author: "Ada" });
  await forge.createSkill(talk("A"));
  await forge.createSkill(talk("B"), { replace: true });
  await workspace.activateSkill("talk");

  const back = await forge.rollbackSkill("talk", "1.0.0", { expectedVersion: "1.0.1" });
  const stale = await forge.rollbackSkill("talk", "1.0.1", { expectedVersion: "1.0.1" });

  expect(back).toMatchObject({ status: "live", version: "1.0.0", tools: ["talk/say"] });
  expect(expectRefused(stale).error.code).toBe("version-conflict");
  expect(await outputOf(workspace, "talk/say")).toBe("A");
  expect(await outputOf(workspace, "talk/say@1.0.1")).toBe("B");
  expect(await forge.listSkillVersions("talk")).toMatchObject([
    { version: "1.0.0", current: true, author: "Ada" },
    { version: "1.0.1", current: false, step: "patch" },
  ]);
  expect((await forge.skillHistory("talk")).map(({ type }) => type)).toEqual(["create", "update", "rollback"]);
  await expect(forge.rollbackSkill("talk", "7.0.0")).rejects.toMatchObject({ code: "version-not-found" });
  const next = await forge.createSkill(talk("C"), { replace: true });
  expect(next).toMatchObject({ version: "1.0.2", change: { from: "1.0.0" } });
});

test("rollbackSkill() brings back a skill whose folder is missing, as after a crash in the middle of a replacement", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);
  await forge.createSkill(talk("A"));
  await forge.createSkill(talk("B"), { replace: true });
  rmSync(join(directory, ".kitbag", "skills", "talk"), { recursive: true });

  const back = await forge.rollbackSkill("talk", "1.0.1");
  await workspace.activateSkill("talk");

  expect(back).toMatchObject({ status: "live", version: "1.0.1" });
  expect(await outputOf(workspace, "talk/say")).toBe("B");
});

test("deleteSkill() takes a skill out, and restoreSkill() brings it back as it was", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);
  await forge.createSkill(talk("A"));

  await expect(forge.deleteSkill("talk", { expectedVersion: "0.9.0" })).rejects.toMatchObject({
    code: "version-conflict",
  });
  const deleted = await forge.deleteSkill("talk", { expectedVersion: "1.0.0" });
  const gone = [workspace.getSkill("talk"), existsSync(join(directory, ".kitbag/skills/talk"))];
  const listed = forge.listSkills();
  const restored = await forge.restoreSkill("talk");
  await workspace.activateSkill("talk");

  expect(deleted).toEqual({ name: "talk", version: "1.0.0" });
  expect(gone).toEqual([undefined, false]);
  expect(listed).toMatchObject([{ name: "talk", status: "deleted", version: "1.0.0" }]);
  expect(restored).toMatchObject({ status: "live", version: "1.0.0" });
  expect(await outputOf(workspace, "talk/say")).toBe("A");
  expect((await forge.skillHistory("talk")).map(({ type }) => type)).toEqual(["create", "delete", "restore"]);
  await expect(forge.deleteSkill("tlk")).rejects.toMatchObject({ code: "skill-not-found" });
});

test("createSkill() goes on with the versions of a skill that was deleted", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createSkill(talk("A"));
  await forge.deleteSkill("talk");

  const anew = await forge.createSkill(talk("B"));

  expect(anew).toMatchObject({ status: "live", version: "1.0.1" });
});

test("createSkill() keeps what was written by hand and trusted, and touches nothing that nobody has trusted", async () => {
  const { forge, directory, home } = await openTestForge(runtimes);
  await forge.createSkill(talk("A"));
  const text = join(directory, ".kitbag/skills/talk/SKILL.md");
  appendFileSync(text, "\nBy hand.\n");

  const untrusted = expectRefused(await forge.createSkill(talk("B"), { replace: true }));
  await trustNow(directory, home);
  const replaced = await forge.createSkill(talk("B"), { replace: true });

  expect(untrusted.error.message).toContain("kitbag trust .kitbag/skills/talk");
  expect(replaced).toMatchObject({ status: "live", version: "1.0.2" });
  expect((await forge.listSkillVersions("talk")).map(({ version }) => version)).toEqual(["1.0.0", "1.0.1", "1.0.2"]);
});

test("deleteSkill() and createSkill() leave skills alone that were not made here", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);
  mkdirSync(join(directory, ".kitbag/skills/mine"), { recursive: true });
  writeFileSync(join(directory, ".kitbag/skills/mine/SKILL.md"), "---\nname: mine\ndescription: Mine\n---\nMine.\n");
  const { reports } = await loadSkills({ directories: [join(directory, ".kitbag/skills/mine")] });
  for (const { skill } of reports) if (skill !== undefined) workspace.addSkill(skill);

  const replaced = await forge.createSkill(talk("A", { name: "mine" }), { replace: true });

  expect(expectRefused(replaced).error.message).toContain("was not made here");
  await expect(forge.deleteSkill("mine")).rejects.toMatchObject({ code: "draft-refused" });
  expect(existsSync(join(directory, ".kitbag/skills/mine/SKILL.md"))).toBe(true);
});

test("createSkill(), rollbackSkill() and deleteSkill() leave the workspace to whoever follows the skills", async () => {
  const directory = mkdtempSync(join(tmpdir(), "kitbag-forge-test-"));
  const home = join(directory, "home");
  const workspace = createWorkspace({ runtimes });
  const source = createSkillSource({ workingDirectory: directory, trust: createFolderTrust({ home }) });
  const followed = await followSkills(workspace, source);
  onTestFinished(() => followed.close());
  const { forge } = await openTestForge(runtimes, { directory, home, workspace, followed });

  await forge.createSkill(talk("A"));
  await workspace.activateSkill("talk");
  await forge.createSkill(talk("B"), { replace: true });
  const replaced = [await outputOf(workspace, "talk/say"), await outputOf(workspace, "talk/say@1.0.0")];
  await forge.rollbackSkill("talk", "1.0.0");
  const back = await outputOf(workspace, "talk/say");
  await forge.deleteSkill("talk");

  expect(replaced).toEqual(["B", "A"]);
  expect(back).toBe("A");
  expect(workspace.getSkill("talk")).toBeUndefined();
});

test("loadSkills() leaves out earlier versions that were changed, or that nobody here has trusted", async () => {
  const { forge, directory, home } = await openTestForge(runtimes);
  await forge.createSkill(talk("A"));
  await forge.createSkill(talk("B"), { replace: true });
  await forge.createSkill(talk("C"), { replace: true });
  appendFileSync(join(directory, ".kitbag/skill-versions/talk/1.0.0/tools/say/main.sh"), "echo more\n");

  const own = await load(directory, home);
  const strange = await load(directory, join(directory, "nobody"));

  expect(own).toEqual(["1.0.1"]);
  expect(strange).toEqual([]);
});

test("loadSkills() takes what was written by hand for none of the versions that are kept", async () => {
  const { forge, directory, home } = await openTestForge(runtimes);
  await forge.createSkill(talk("A"));
  writeFileSync(join(directory, ".kitbag/skills/talk/tools/say/main.sh"), "echo by hand\n");
  await trustNow(directory, home);
  const { reports } = await loadSkills({ workingDirectory: directory, trust: createFolderTrust({ home }) });
  const workspace = createWorkspace({ runtimes, skills: reports.flatMap(({ skill }) => skill ?? []) });
  await workspace.activateSkill("talk");

  expect(await outputOf(workspace, "talk/say")).toBe("by hand");
  expect(await outputOf(workspace, "talk/say@1.0.0")).toBe("A");
});

test("the tools of the forge replace, list, roll back, delete and restore skills", async () => {
  const test = await openTestForge(runtimes);
  for (const tool of createForgeTools(test.forge)) test.workspace.add(tool);
  const { workspace } = test;

  await call(test, "create_skill", { ...talk("A") });
  const replaced = await call(test, "create_skill", { ...talk("B"), replace: true, expectedVersion: "1.0.0" });
  const stale = await workspace.call("create_skill", { ...talk("C"), replace: true, expectedVersion: "1.0.0" });
  const listed = await call(test, "list_versions", { name: "talk" });
  const ofTool = await call(test, "list_versions", { name: "talk/say" });
  const all = await call(test, "list_versions", {});
  const back = await call(test, "rollback_tool", { name: "talk", version: "1.0.0" });
  const alone = await workspace.call("rollback_tool", { name: "talk/say", version: "1.0.1" });
  const deleted = await call(test, "delete_skill", { name: "talk" });
  const undone = await call(test, "delete_skill", { name: "talk", undo: true });

  expect(replaced).toMatchObject({ status: "live", version: "1.0.1" });
  expect(stale).toMatchObject({ status: "failed", error: { code: "version-conflict" } });
  expect(listed).toMatchObject({
    name: "talk",
    versions: [{ version: "1.0.0" }, { version: "1.0.1", current: true }],
    draft: { instructions: "Call `talk/say`.", tools: [{ name: "say" }] },
  });
  expect(ofTool).toMatchObject({ name: "talk", versions: [{ version: "1.0.0" }, { version: "1.0.1" }] });
  expect(all).toMatchObject({ tools: [], skills: [{ name: "talk", status: "live", version: "1.0.1" }] });
  expect(back).toMatchObject({ status: "live", version: "1.0.0" });
  expect(alone).toMatchObject({ status: "failed", error: { message: expect.stringContaining('"talk"') } });
  expect(deleted).toMatchObject({ status: "deleted", undo: 'delete_skill {"name": "talk", "undo": true}' });
  expect(undone).toMatchObject({ status: "live", version: "1.0.0" });
});

async function call({ workspace }: TestForge, tool: string, input: object): Promise<unknown> {
  const outcome = await workspace.call(tool, input);
  if (outcome.status === "ok") return outcome.output;
  throw new Error(outcome.error.message);
}

async function load(directory: string, home: string): Promise<readonly (string | undefined)[]> {
  const { reports } = await loadSkills({ workingDirectory: directory, trust: createFolderTrust({ home }) });
  return reports.flatMap(({ skill }) => skill?.earlier?.map(({ version }) => version) ?? []);
}

/** What `kitbag trust` does. */
async function trustNow(directory: string, home: string): Promise<void> {
  const { readFolder } = await import("../../skills/folder/read-folder.ts");
  const { createToolTrust } = await import("../disk/tool-writer.ts");
  await createToolTrust({ home }).trust([readFolder(join(directory, ".kitbag/skills/talk"))]);
}
