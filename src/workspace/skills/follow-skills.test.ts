import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { expect, onTestFinished, test } from "vitest";

import { skillCode } from "../../../test/support/skill-code.ts";
import { createFolder, writeFiles } from "../../../test/support/temporary-folder.ts";
import { defineSkill } from "../../core/define-skill.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { createFolderTrust, toDigests } from "../../skills/trust/folder-trust.ts";
import { openLock } from "../../skills/trust/lock-file.ts";
import { lockSkills } from "../../skills/trust/lock-skills.ts";
import { updateTrust } from "../../skills/trust/trust-file.ts";
import { createSkillSource, type SkillSourceOptions } from "../../skills/watch/skill-source.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { WorkspaceChange } from "../registry/registered-tool.ts";
import type { Workspace } from "../workspace.ts";
import { followSkills } from "./folder-skills.ts";

test("followSkills() adds what is there, closed", async () => {
  const { workspace, reports } = await follow({ "pdf/SKILL.md": skill("pdf"), "broken/SKILL.md": "" });

  expect(workspace.getSkills().map((state) => [state.skill.name, state.active])).toEqual([["pdf", false]]);
  expect(reports().map((report) => [report.name, report.status])).toEqual([
    ["broken", "skipped"],
    ["pdf", "ok"],
  ]);
});

test.for([
  ["SKILL.md", "pdf/SKILL.md", skill("pdf", "New words")],
  ["a script", "pdf/scripts/run.sh", script("--new")],
  ["a manifest", "pdf/kitbag.toml", '[skill]\nversion = "2.0.0"\n'],
  ["a script's manifest", "pdf/scripts/manifest.yml", "tools:\n  run.sh:\n    description: Said by the manifest\n"],
] as const)("followSkills() makes a save of %s live", async ([, path, content]) => {
  const { folder, workspace, changed } = await follow({
    "pdf/SKILL.md": skill("pdf"),
    "pdf/scripts/run.sh": script("--old"),
  });
  const before = workspace.getSkill("pdf");

  const start = performance.now();
  writeFiles(folder, { [path]: content });
  await changed(() => workspace.getSkill("pdf") !== before);
  const took = performance.now() - start;

  const after = workspace.getSkill("pdf");
  expect(after?.folder?.digest).not.toBe(before?.folder?.digest);
  // The aim is 200 ms; a machine that is busy with other tests may need longer.
  expect(took).toBeLessThan(30_000);
});

test("followSkills() puts all tools of an open skill in place in one change, and the skill stays open", async () => {
  const { folder, workspace, changed } = await follow({
    "pdf/SKILL.md": skill("pdf"),
    "pdf/scripts/stays.sh": script("--old"),
    "pdf/scripts/goes.sh": script("--old"),
  });
  await workspace.activateSkill("pdf");
  const changes: WorkspaceChange[] = [];
  workspace.onChange((change) => changes.push(change));

  // One save of an editor that writes several files.
  writeFiles(folder, { "pdf/scripts/stays.sh": script("--new"), "pdf/scripts/comes.sh": script("--x") });
  rmSync(join(folder, "pdf/scripts/goes.sh"));
  await changed(() => workspace.getTool("pdf/goes") === undefined);

  expect(changes.map((change) => namesOf(change))).toEqual([
    { added: ["pdf/comes"], removed: ["pdf/goes"], replaced: ["pdf/stays"] },
  ]);
  expect(workspace.getActiveSkills()).toEqual(["pdf"]);
  expect(Object.keys(workspace.getTool("pdf/stays")?.tool.inputSchema["properties"] ?? {})).toEqual(["new"]);
});

test("followSkills() tells several skills that change at once as one change", async () => {
  const files = Object.fromEntries(
    ["a", "b", "c"].flatMap((name) => [
      [`${name}/SKILL.md`, skill(name)],
      [`${name}/scripts/run.sh`, script("--old")],
    ]),
  );
  const { folder, workspace, changed } = await follow(files);
  for (const name of ["a", "b", "c"]) await workspace.activateSkill(name);
  const changes: WorkspaceChange[] = [];
  workspace.onChange((change) => changes.push(change));

  writeFiles(folder, Object.fromEntries(["a", "b", "c"].map((name) => [`${name}/scripts/run.sh`, script("--new")])));
  await changed(() => changes.length > 0);

  expect(changes.map(namesOf)).toEqual([{ added: [], removed: [], replaced: ["a/run", "b/run", "c/run"] }]);
});

test("followSkills() does not touch skills that did not change", async () => {
  const { folder, workspace, changed } = await follow({ "a/SKILL.md": skill("a"), "b/SKILL.md": skill("b") });
  const before = workspace.getSkill("b");

  writeFiles(folder, { "a/SKILL.md": skill("a", "Other") });
  await changed(() => workspace.getSkill("a")?.description === "Other");

  expect(workspace.getSkill("b")).toBe(before);
});

test("followSkills() keeps the last good version of a broken edit, and reports the error", async () => {
  const { folder, workspace, changed, reports } = await follow({
    "pdf/SKILL.md": skill("pdf"),
    "pdf/scripts/run.sh": script("--old"),
  });
  await workspace.activateSkill("pdf");
  const before = workspace.getSkill("pdf");

  writeFiles(folder, { "pdf/kitbag.toml": "this is = not toml =" });
  await changed(() => reports()[0]?.status === "skipped");

  expect(workspace.getSkill("pdf")).toBe(before);
  expect(workspace.isToolAvailable("pdf/run")).toBe(true);
  expect(reports()[0]?.diagnostics).toMatchObject([
    { severity: "error", code: "manifest-invalid", file: "kitbag.toml" },
  ]);

  writeFiles(folder, { "pdf/kitbag.toml": '[skill]\nversion = "3.0.0"\n' });
  await changed(() => workspace.getSkill("pdf")?.version === "3.0.0");
  expect(workspace.isToolAvailable("pdf/run")).toBe(true);
});

test("followSkills() does not take another skill of the same name for the last good version", async () => {
  const { folder, workspace, changed, reports } = await follow({
    "1/pdf/SKILL.md": skill("pdf", "The first"),
    "2/pdf/SKILL.md": skill("pdf", "The second"),
  });

  writeFiles(folder, { "1/pdf/SKILL.md": "" });
  await changed(() => reports()[0]?.status === "skipped");
  const kept = workspace.getSkill("pdf")?.description;
  rmSync(join(folder, "1"), { recursive: true });
  await changed(() => workspace.getSkill("pdf")?.description !== "The first");

  expect(kept).toBe("The first");
  expect(workspace.getSkill("pdf")?.description).toBe("The second");
});

test("followSkills() keeps the last good version if an open skill's new one could not be opened", async () => {
  const { folder, workspace, changed, reports } = await follow({ "pdf/SKILL.md": skill("pdf") });
  await workspace.activateSkill("pdf");

  writeFiles(folder, { "pdf/kitbag.toml": '[skill]\nuses = ["nobody/nothing"]\n' });
  await changed(() => reports()[0]?.status === "warning");

  expect(workspace.getSkill("pdf")?.uses).toEqual([]);
  expect(reports()[0]?.diagnostics.at(-1)).toMatchObject({ code: "skill-kept" });
  expect(reports()[0]?.diagnostics.at(-1)?.message).toContain("Kept the last good version: Cannot open the skill");
});

test("followSkills() removes what is deleted, and closes it", async () => {
  const { folder, workspace, changed } = await follow({
    "pdf/SKILL.md": skill("pdf"),
    "pdf/scripts/run.sh": script("--x"),
    "csv/SKILL.md": skill("csv"),
  });
  await workspace.activateSkill("pdf");

  rmSync(join(folder, "pdf"), { recursive: true });
  await changed(() => workspace.getSkill("pdf") === undefined);

  expect(workspace.getSkills().map((state) => state.skill.name)).toEqual(["csv"]);
  expect(workspace.getTool("pdf/run")).toBeUndefined();
});

test("followSkills() tells several skills that are deleted at once as one change", async () => {
  const names = ["a", "b", "c"];
  const { folder, workspace, changed } = await follow(
    Object.fromEntries(
      names.flatMap((name) => [
        [`all/${name}/SKILL.md`, skill(name)],
        [`all/${name}/scripts/run.sh`, script("--x")],
      ]),
    ),
  );
  for (const name of names) await workspace.activateSkill(name);
  const changes: WorkspaceChange[] = [];
  workspace.onChange((change) => changes.push(change));

  renameSync(join(folder, "all"), `${folder}-gone`);
  onTestFinished(() => rmSync(`${folder}-gone`, { recursive: true }));
  await changed(() => workspace.getSkills().length === 0);

  expect(changes.map(namesOf)).toEqual([{ added: [], removed: ["a/run", "b/run", "c/run"], replaced: [] }]);
});

test("followSkills() finds a skill that appears, also in new folders", async () => {
  const { folder, workspace, changed } = await follow({ "a/SKILL.md": skill("a") });

  writeFiles(folder, { "deep/er/new/SKILL.md": skill("new"), "deep/er/new/scripts/run.sh": script("--x") });
  await changed(() => workspace.getSkill("new")?.tools.length === 1);
  writeFiles(folder, { "deep/er/new/scripts/run.sh": script("--second") });
  await changed(() => JSON.stringify(workspace.getSkill("new")?.tools[0]?.inputSchema).includes("second"));

  expect(workspace.getSkills().map((state) => state.skill.name)).toEqual(["a", "new"]);
});

test("followSkills() follows a folder that is renamed", async () => {
  const { folder, workspace, changed } = await follow({
    "old/SKILL.md": skill("pdf"),
    "old/scripts/run.sh": script("--x"),
  });
  await workspace.activateSkill("pdf");

  renameSync(join(folder, "old"), join(folder, "new"));
  await changed(() => workspace.getSkill("pdf")?.folder?.directory.endsWith("new") === true);
  writeFiles(folder, { "new/SKILL.md": skill("pdf", "After the move") });
  await changed(() => workspace.getSkill("pdf")?.description === "After the move");

  expect(workspace.getActiveSkills()).toEqual(["pdf"]);
  expect(workspace.getTool("pdf/run")?.tool.code).toMatchObject({ directory: join(realpathSync(folder), "new") });
});

test("followSkills() follows a folder that is deleted and made again", async () => {
  const { folder, workspace, changed } = await follow({ "pdf/SKILL.md": skill("pdf", "First") });

  rmSync(join(folder, "pdf"), { recursive: true });
  writeFiles(folder, { "pdf/SKILL.md": skill("pdf", "Second") });
  await changed(() => workspace.getSkill("pdf")?.description === "Second");
  rmSync(join(folder, "pdf"), { recursive: true });
  await changed(() => workspace.getSkill("pdf") === undefined);
  writeFiles(folder, { "pdf/SKILL.md": skill("pdf", "Third") });
  await changed(() => workspace.getSkill("pdf")?.description === "Third");
  writeFiles(folder, { "pdf/SKILL.md": skill("pdf", "Fourth") });
  await changed(() => workspace.getSkill("pdf")?.description === "Fourth");
});

test.for([
  [
    "writes beside it and renames",
    (file: string, text: string) => {
      writeFileSync(`${file}.tmp`, text);
      renameSync(`${file}.tmp`, file);
    },
  ],
  [
    "renames it away and writes anew",
    (file: string, text: string) => {
      renameSync(file, `${file}~`);
      writeFileSync(file, text);
      unlinkSync(`${file}~`);
    },
  ],
  [
    "deletes it and writes anew",
    (file: string, text: string) => {
      unlinkSync(file);
      writeFileSync(file, text);
    },
  ],
  [
    "empties it and writes in pieces",
    (file: string, text: string) => {
      writeFileSync(file, "");
      for (const piece of text.match(/.{1,20}/gsu) ?? []) writeFileSync(file, piece, { flag: "a" });
    },
  ],
] as const)("followSkills() sees the save of an editor that %s", async ([, save]) => {
  const { folder, workspace, changed } = await follow({ "pdf/SKILL.md": skill("pdf") });

  for (const words of ["One", "Two", "Three"]) {
    save(join(folder, "pdf/SKILL.md"), skill("pdf", words));
    await changed(() => workspace.getSkill("pdf")?.description === words);
  }

  expect(workspace.getSkill("pdf")?.description).toBe("Three");
});

test("followSkills() ends up with what git checked out: 500 files", async () => {
  const repository = createFolder();
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...words], {
      cwd: repository,
      stdio: "pipe",
    });
  git("init", "-q", "-b", "main");
  writeFiles(repository, Object.fromEntries(checkout("one")));
  git("add", "-A");
  git("commit", "-qm", "one");
  git("checkout", "-qb", "other");
  rmSync(join(repository, "skills/s99"), { recursive: true });
  writeFiles(repository, Object.fromEntries(checkout("two").filter(([path]) => !path.startsWith("skills/s99/"))));
  writeFiles(repository, { "skills/extra/SKILL.md": skill("extra") });
  git("add", "-A");
  git("commit", "-qm", "two");
  git("checkout", "-q", "main");
  const { workspace, changed, count } = await followIn(repository, { directories: [repository] });
  const namesBefore = workspace.getSkills().length;

  git("checkout", "-q", "other");
  await changed(() => isAll(workspace, "two"));
  const reloads = count();

  expect(namesBefore).toBe(100);
  expect(workspace.getSkills().length).toBe(100);
  expect(workspace.getSkill("extra")).toBeDefined();
  expect(workspace.getSkill("s99")).toBeUndefined();
  expect(reloads).toBeLessThan(30);
});

test("followSkills() follows skills behind links, and the links", async () => {
  const store = createFolder({ "v1/SKILL.md": skill("pdf", "One"), "v2/SKILL.md": skill("pdf", "Two") });
  const folder = createFolder();
  symlinkSync(join(store, "v1"), join(folder, "pdf"));
  const { workspace, changed } = await followIn(folder);

  writeFiles(store, { "v1/SKILL.md": skill("pdf", "One, changed behind the link") });
  await changed(() => workspace.getSkill("pdf")?.description === "One, changed behind the link");
  symlinkSync(join(store, "v2"), join(folder, "new"));
  renameSync(join(folder, "new"), join(folder, "pdf"));
  await changed(() => workspace.getSkill("pdf")?.description === "Two");
  writeFiles(store, { "v2/SKILL.md": skill("pdf", "Two, changed") });
  await changed(() => workspace.getSkill("pdf")?.description === "Two, changed");
  unlinkSync(join(folder, "pdf"));
  await changed(() => workspace.getSkill("pdf") === undefined);
});

test("followSkills() waits for folders that are not there yet", async () => {
  const folder = createFolder({ ".git/HEAD": "" });
  const { workspace, changed } = await followIn(folder, { workingDirectory: folder });

  writeFiles(folder, { ".agents/skills/pdf/SKILL.md": skill("pdf") });
  await changed(() => workspace.getSkill("pdf") !== undefined);
  writeFiles(folder, { ".agents/skills/pdf/SKILL.md": skill("pdf", "Second") });
  await changed(() => workspace.getSkill("pdf")?.description === "Second");
  rmSync(join(folder, ".agents"), { recursive: true });
  await changed(() => workspace.getSkill("pdf") === undefined);
  writeFiles(folder, { ".agents/skills/pdf/SKILL.md": skill("pdf", "Third") });
  await changed(() => workspace.getSkill("pdf")?.description === "Third");
});

test("followSkills() waits for a named folder that is not there yet, and sees a whole tree that is moved in", async () => {
  const parent = createFolder({ "elsewhere/pdf/SKILL.md": skill("pdf") });
  const { workspace, changed } = await followIn(join(parent, "a/b"));

  mkdirSync(join(parent, "a"));
  renameSync(join(parent, "elsewhere"), join(parent, "a/b"));
  await changed(() => workspace.getSkill("pdf") !== undefined);
  writeFiles(parent, { "a/b/pdf/SKILL.md": skill("pdf", "Second") });
  await changed(() => workspace.getSkill("pdf")?.description === "Second");
});

test("followSkills() takes no notice of what is not part of a skill", async () => {
  const { folder, workspace, count } = await follow({ "pdf/SKILL.md": skill("pdf"), "pdf/.git/index": "" });
  const before = workspace.getSkill("pdf");

  writeFiles(folder, {
    "pdf/.git/index": "x",
    "pdf/SKILL.md~": "x",
    "pdf/.SKILL.md.swp": "x",
    "pdf/node_modules/x.js": "",
  });
  await wait(400);

  expect(count()).toBe(0);
  expect(workspace.getSkill("pdf")).toBe(before);
});

test("followSkills() closes a skill of a project when a file changes, until it is trusted again", async () => {
  const home = createFolder();
  const trust = createFolderTrust({ home });
  const project = createFolder({
    ".git/HEAD": "",
    ".agents/skills/pdf/SKILL.md": skill("pdf"),
    ".agents/skills/pdf/scripts/run.sh": script("--x"),
  });
  const { workspace, changed, reports } = await followIn(project, {
    workingDirectory: project,
    trust,
  });
  const refused = await workspace.activateSkill("pdf");

  await trustNow(home, reports());
  await changed(() => workspace.getSkill("pdf")?.folder?.trust.status === "trusted");
  const opened = await workspace.activateSkill("pdf");
  writeFiles(project, { ".agents/skills/pdf/scripts/run.sh": script("--evil") });
  await changed(() => workspace.getSkill("pdf")?.folder?.trust.status === "untrusted");

  expect(refused).toMatchObject({ status: "failed", error: { code: "skill-untrusted" } });
  expect(opened.status).toBe("ok");
  expect(workspace.getActiveSkills()).toEqual([]);
  expect(await workspace.call("pdf/run", { evil: "x" })).toMatchObject({
    status: "failed",
    error: { code: "tool-unavailable" },
  });
  expect(await workspace.activateSkill("pdf")).toMatchObject({
    status: "failed",
    error: { code: "skill-untrusted", details: { changed: ["scripts/run.sh (changed)"] } },
  });
});

test("followSkills() loads a skill's code as soon as somebody trusts it, and no later bytes", async () => {
  const home = createFolder();
  const project = createFolder({ ".git/HEAD": "", ".agents/skills/dice/skill.ts": diceCode(1) });
  const { workspace, changed, reports } = await followIn(project, {
    workingDirectory: project,
    trust: createFolderTrust({ home }),
  });
  const before = workspace.getSkills().map((state) => state.skill.name);
  const refused = await workspace.activateSkill("dice");

  await trustNow(home, reports());
  await changed(() => workspace.getSkill("games") !== undefined);
  await workspace.activateSkill("games");
  const rolled = await workspace.call("games/roll");
  writeFiles(project, { ".agents/skills/dice/skill.ts": diceCode(2) });
  await changed(() => workspace.getSkill("games") === undefined);
  const revoked = reports();
  await trustNow(home, revoked);
  await changed(() => workspace.getSkill("games") !== undefined);
  await workspace.activateSkill("games");

  expect(before).toEqual(["dice"]);
  expect(refused).toMatchObject({ status: "failed", error: { code: "skill-untrusted" } });
  expect(rolled).toMatchObject({ status: "ok", output: 1 });
  expect(revoked[0]).toMatchObject({
    name: "dice",
    diagnostics: [{ code: "skill-untrusted", message: "Runs nothing until it is trusted again: skill.ts (changed)" }],
  });
  expect(await workspace.call("games/roll")).toMatchObject({ status: "ok", output: 2 });
});

test.for([
  ["throws", '// defineSkill\nthrow new Error("broken");'],
  ["is no TypeScript", "defineSkill({ const"],
  ["exports nonsense", "export default { defineSkill: 1 };"],
  ["hangs", "// defineSkill\nawait new Promise(() => {});"],
] as const)("followSkills() keeps the last good version if new code %s", async ([, broken]) => {
  const folder = createFolder({ "dice/skill.ts": diceCode(1) });
  const { workspace, changed, reports } = await followIn(folder, { directories: [folder], codeLimitMs: 200 });
  await workspace.activateSkill("games");

  writeFiles(folder, { "dice/skill.ts": broken });
  await changed(() => reports()[0]?.status === "skipped");
  const kept = await workspace.call("games/roll");
  const said = reports()[0]?.diagnostics;
  writeFiles(folder, { "dice/skill.ts": diceCode(2) });
  await changed(() => reports()[0]?.status === "ok");

  expect(kept).toMatchObject({ status: "ok", output: 1 });
  expect(said).toMatchObject([{ severity: "error", code: "code-failed", file: "skill.ts" }]);
  expect(await workspace.call("games/roll")).toMatchObject({ status: "ok", output: 2 });
});

test("followSkills() runs the hooks of a skill's code when it is opened and when its folder is deleted", async () => {
  const steps: unknown[] = [];
  Reflect.set(globalThis, "kitbagSteps", steps);
  onTestFinished(() => void Reflect.deleteProperty(globalThis, "kitbagSteps"));
  const hooks = ["onActivate", "onDeactivate"].map(
    (step) => `${step}: ({ skill }) => kitbagSteps.push([skill, "${step}"])`,
  );
  const { folder, workspace, changed } = await follow({ "dice/skill.ts": diceCode(1, hooks.join(", ")) });

  await workspace.activateSkill("games");
  rmSync(join(folder, "dice"), { recursive: true });
  await changed(() => workspace.getSkill("games") === undefined);

  expect(steps).toEqual([
    ["games", "onActivate"],
    ["games", "onDeactivate"],
  ]);
});

test("P7: a tool whose signature changed without a new major version is reported, and the skill that uses it is not run", async () => {
  const project = createFolder({
    "skills/base/SKILL.md": skill("base"),
    "skills/base/kitbag.toml": '[skill]\nversion = "1.0.0"\n',
    "skills/base/scripts/run.sh": script("--x"),
    "skills/user/SKILL.md": skill("user"),
    "skills/user/kitbag.toml": '[skill]\nuses = ["base/run@>=1.0.0"]\n',
  });
  const lock = openLock(join(project, "kitbag.lock"));
  const options = { directories: [join(project, "skills")], lock };
  const { workspace, changed, reports } = await followIn(project, options);
  // Only the skill that uses the tool is pinned: the other one may change.
  const isUser = ({ name }: { readonly name: string }): boolean => name === "user";
  await lockSkills(reports().filter(isUser), lock.path, { others: reports() });
  await changed(() => workspace.getSkill("user")?.uses[0]?.signature !== undefined);
  const before = await workspace.activateSkill("user");
  await workspace.deactivateSkill("user");

  writeFiles(project, { "skills/base/scripts/run.sh": script("--other") });
  await changed(() => JSON.stringify(workspace.getSkill("base")?.tools[0]?.inputSchema).includes("other"));
  const sameMajor = await workspace.activateSkill("user");
  writeFiles(project, { "skills/base/kitbag.toml": '[skill]\nversion = "2.0.0"\n' });
  await changed(() => workspace.getSkill("user")?.uses[0]?.signature === undefined);
  const newMajor = await workspace.activateSkill("user");

  expect(before.status).toBe("ok");
  expect(sameMajor).toMatchObject({ status: "failed", error: { code: "skill-broken", details: { skill: "user" } } });
  expect(JSON.stringify(sameMajor)).toContain("its schema changed without a new major version");
  expect(newMajor.status).toBe("ok");
});

test("R16: followSkills() closes a named skill that is no longer what was trusted, until it is trusted again", async () => {
  const project = createFolder({ "skills/pdf/SKILL.md": skill("pdf"), "skills/pdf/scripts/run.sh": script("--x") });
  const home = createFolder();
  const options = { directories: [join(project, "skills")], trust: createFolderTrust({ home }) };
  const { workspace, changed, reports } = await followIn(project, options);
  const trustNow = (): Promise<void> =>
    updateTrust(home, ({ folders }) => {
      const { directory = "", files = [] } = reports()[0]?.skill?.folder ?? {};
      folders.set(directory, toDigests(files));
    });
  await trustNow();
  await workspace.activateSkill("pdf");

  writeFiles(project, { "skills/pdf/kitbag.toml": '[permissions]\nenv = ["SECRET"]\n' });
  await changed(() => workspace.getSkill("pdf")?.folder?.trust.status === "untrusted");
  const refused = await workspace.call("pdf/run", {});
  const reopened = await workspace.activateSkill("pdf");
  await trustNow();
  await changed(() => workspace.getSkill("pdf")?.folder?.trust.status === "trusted");
  const agreed = await workspace.activateSkill("pdf");

  expect(refused.status).toBe("failed");
  expect(reopened).toMatchObject({
    error: { code: "skill-untrusted", details: { changed: ["kitbag.toml (added)"] } },
  });
  expect(agreed.status).toBe("ok");
});

test("followSkills() leaves a skill alone that somebody else put into the workspace", async () => {
  const workspace = createWorkspace({ skills: [defineSkill({ name: "pdf", description: "Made by hand" })] });
  const folder = createFolder({ "pdf/SKILL.md": skill("pdf") });

  const { reports } = await followIn(folder, { directories: [folder] }, workspace);

  expect(workspace.getSkill("pdf")?.description).toBe("Made by hand");
  expect(reports()[0]).toMatchObject({ status: "warning", diagnostics: [{ code: "skill-refused" }] });
});

test("followSkills() does not take a mistake of the program for one of a skill", async () => {
  const workspace = createWorkspace();
  const holder = {
    ...workspace,
    addSkill() {
      throw new TypeError("a mistake");
    },
  };
  const folder = createFolder({ "pdf/SKILL.md": skill("pdf") });

  await expect(followSkills(holder, createSkillSource({ directories: [folder] }))).rejects.toThrow("a mistake");
});

test("close() ends it: no handle stays open, and nothing changes any more", async () => {
  const { folder, workspace, close, count } = await follow({ "pdf/SKILL.md": skill("pdf"), "pdf/scripts/run.sh": "" });
  const during = activeWatches();

  writeFiles(folder, { "pdf/SKILL.md": skill("pdf", "Written just before the end") });
  await close();
  await close();
  writeFiles(folder, { "pdf/SKILL.md": skill("pdf", "Written after the end") });
  await wait(300);

  expect(during).toBeGreaterThan(0);
  expect(activeWatches()).toBe(0);
  expect(count()).toBe(0);
  expect(workspace.getSkill("pdf")?.description).toBe("Does pdf things");
});

test("a program that follows skills ends after close()", () => {
  const folder = createFolder({ "pdf/SKILL.md": skill("pdf"), "pdf/scripts/a.py": "import sys\nprint(sys.argv[1])\n" });
  const program = `
    import { createWorkspace } from "kitbag";
    import { createSkillSource, followSkills } from "kitbag/skills";
    const followed = await followSkills(createWorkspace(), createSkillSource({ directories: [${JSON.stringify(folder)}] }));
    await followed.close();
    console.log("closed");`;

  const output = execFileSync(process.execPath, ["--conditions=@kitbag/source", "--input-type=module", "-e", program], {
    cwd: join(import.meta.dirname, "../../.."),
    encoding: "utf8",
    timeout: 20_000,
  });

  expect(output).toBe("closed\n");
});

test("onReload() tells each change, also if one listener fails", async () => {
  const { folder, followed, changed, workspace } = await follow({ "pdf/SKILL.md": skill("pdf") });
  const told: string[] = [];
  followed.onReload(() => {
    throw new Error("no");
  });
  const end = followed.onReload((reports) => told.push(reports[0]?.skill?.description ?? ""));
  const warnings = collectWarnings();

  writeFiles(folder, { "pdf/SKILL.md": skill("pdf", "One") });
  await changed(() => workspace.getSkill("pdf")?.description === "One");
  end();
  writeFiles(folder, { "pdf/SKILL.md": skill("pdf", "Two") });
  await changed(() => workspace.getSkill("pdf")?.description === "Two");

  expect(told.at(-1)).toBe("One");
  expect(warnings.join()).toContain("A listener failed: no");
});

test("followSkills() stays right while a tree is copied, changed and deleted again and again", async () => {
  const { folder, workspace, changed } = await follow({ "keep/SKILL.md": skill("keep") });
  const source = createFolder(Object.fromEntries(checkout("one").slice(0, 50)));

  for (let round = 0; round < 8; round += 1) {
    cpSync(join(source, "skills"), join(folder, "copy"), { recursive: true });
    writeFiles(folder, { "keep/SKILL.md": skill("keep", `Round ${round}`) });
    await wait(round * 15);
    rmSync(join(folder, "copy"), { recursive: true });
  }
  await changed(() => workspace.getSkills().length === 1 && workspace.getSkill("keep")?.description === "Round 7");

  expect(workspace.getSkills().map((state) => state.skill.name)).toEqual(["keep"]);
});

interface Following {
  readonly folder: string;
  readonly workspace: Workspace;
  readonly followed: Awaited<ReturnType<typeof followSkills>>;
  reports(): readonly SkillReport[];
  /** Waits until a reload after which `isRight`. */
  changed(isRight: () => boolean): Promise<void>;
  /** How many reloads there were. */
  count(): number;
  close(): Promise<void>;
}

async function follow(files: Readonly<Record<string, string>>): Promise<Following> {
  return followIn(createFolder(files));
}

async function followIn(
  folder: string,
  options: SkillSourceOptions = { directories: [folder] },
  workspace = createWorkspace(),
): Promise<Following> {
  const followed = await followSkills(workspace, createSkillSource(options));
  onTestFinished(() => followed.close());
  let count = 0;
  followed.onReload(() => {
    count += 1;
  });
  const { reports, close } = followed;
  return {
    folder,
    workspace,
    followed,
    reports,
    close,
    count: () => count,
    changed: (isRight) => until(followed, isRight),
  };
}

function until(followed: Following["followed"], isRight: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      end();
      reject(new Error("the change was not noticed in time"));
    }, 20_000);
    const look = (): void => {
      if (!isRight()) return;
      clearTimeout(timer);
      end();
      resolve();
    };
    const end = followed.onReload(look);
    look();
  });
}

function skill(name: string, description = `Does ${name} things`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\n`;
}

/** Code that defines the skill "games", whose tool answers with `output`. */
function diceCode(output: number, more = ""): string {
  return skillCode(`
const roll = defineTool({ name: "roll", description: "Rolls a die", run: () => ${output} });
export default defineSkill({ name: "games", description: "Games of chance", tools: [roll], ${more} });
`);
}

function script(flag: string): string {
  return `#!/usr/bin/env bash
# Usage: run.sh ${flag} <value>
while [[ $# -gt 0 ]]; do
  case "$1" in
    ${flag}) value="$2"; shift 2 ;;
    *) exit 2 ;;
  esac
done
echo "$value"
`;
}

/** The 500 files of a hundred skills. */
function checkout(version: string): [path: string, content: string][] {
  return Array.from({ length: 100 }, (_, index) => index).flatMap((index): [string, string][] => [
    [`skills/s${index}/SKILL.md`, skill(`s${index}`, version)],
    ...[1, 2, 3, 4].map((part): [string, string] => [
      `skills/s${index}/references/${part}.md`,
      `${version} ${index} ${part}`,
    ]),
  ]);
}

function isAll(workspace: Workspace, version: string): boolean {
  const skills = workspace.getSkills().map((state) => state.skill);
  return (
    skills.every((one) => one.name === "extra" || one.description === version) &&
    workspace.getSkill("s99") === undefined
  );
}

function namesOf({ added, removed, replaced }: WorkspaceChange): Record<keyof WorkspaceChange, string[]> {
  const toNames = (list: WorkspaceChange["added"]): string[] => list.map((entry) => entry.address).toSorted();
  return { added: toNames(added), removed: toNames(removed), replaced: toNames(replaced) };
}

async function trustNow(home: string, reports: readonly SkillReport[]): Promise<void> {
  await updateTrust(home, ({ folders }) => {
    for (const { skill: made } of reports) {
      if (made?.folder !== undefined) folders.set(made.folder.directory, toDigests(made.folder.files));
    }
  });
}

function activeWatches(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap").length;
}

function collectWarnings(): string[] {
  const warnings: string[] = [];
  const listener = (warning: Error): number => warnings.push(warning.message);
  process.on("warning", listener);
  onTestFinished(() => void process.off("warning", listener));
  return warnings;
}
