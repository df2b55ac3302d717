import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createImportProject, skillText, type ImportProject } from "../../../test/support/import-project.ts";
import { createFolder, writeFiles } from "../../../test/support/temporary-folder.ts";
import { importSkills } from "./import-skills.ts";
import { restoreSkill } from "./remove-skill.ts";
import { rollbackSkill } from "./rollback-skill.ts";
import { updateSkills } from "./update-skills.ts";

const yes = { approve: () => true };

test("rollbackSkill() brings back what an update has replaced: files, lock and trust, and again what was live", async () => {
  const { project, text } = await createUpdated();
  const updated = project.lock();

  const answer = await rollbackSkill("pdf", project);

  expect(answer).toEqual({ name: "pdf", place: ".kitbag/skills/pdf", version: "1.0.0", from: "2.0.0" });
  expect(text()).toContain("Old.");
  expect(await project.listSkills()).toEqual(["pdf trusted"]);
  const [report] = await project.reports();
  expect(report?.diagnostics).toEqual([]);
  expect([...project.lock().values()]).toMatchObject([{ version: "1.0.0", source: { kind: "folder" } }]);

  await rollbackSkill("pdf", project);

  expect(text()).toContain("New.");
  expect(await project.listSkills()).toEqual(["pdf trusted"]);
  expect(project.lock()).toEqual(updated);
});

test("rollbackSkill() trusts nothing that was not trusted in exactly this state", async () => {
  const { project } = await createUpdated();
  writeFileSync(join(project.directory, ".kitbag/previous/pdf/files/SKILL.md"), skillText("pdf", "Planted."));

  await rollbackSkill("pdf", project);

  expect(await project.listSkills()).toEqual(["pdf untrusted"]);
});

test("R2: rollbackSkill() and restoreSkill() follow no link that a project brings", async () => {
  const { project, text } = await createUpdated();
  const outside = createFolder({ "files/SKILL.md": skillText("pdf", "Mine."), "kitbag.lock": "", mine: "mine" });
  const kept = join(project.directory, ".kitbag/previous/pdf");
  rmSync(join(kept, "kitbag.lock"));
  writeFileSync(join(outside, "kitbag.lock"), "{}");
  symlinkSync(join(outside, "mine"), join(kept, "kitbag.lock"));

  await rollbackSkill("pdf", project).catch(() => {});
  rmSync(kept, { recursive: true });
  symlinkSync(outside, kept);
  mkdirSync(join(project.directory, ".kitbag/removed"), { recursive: true });
  symlinkSync(outside, join(project.directory, ".kitbag/removed/pdf"));

  await expect(rollbackSkill("pdf", project)).rejects.toThrow("no earlier version of it is kept");
  await expect(restoreSkill("pdf", project)).rejects.toMatchObject({ code: "skill-not-found" });
  expect(readFileSync(join(outside, "mine"), "utf8")).toBe("mine");
  expect(readFileSync(join(outside, "files/SKILL.md"), "utf8")).toContain("Mine.");
  expect(text()).not.toContain("Mine.");
});

test("rollbackSkill() finds nothing where nothing was updated, and takes no path for a name", async () => {
  const { project } = await createImported();

  await expect(rollbackSkill("pdf", project)).rejects.toThrow("no earlier version of it is kept");
  await expect(rollbackSkill("../skills/pdf", project)).rejects.toThrow("no earlier version of it is kept");
});

test("rollbackSkill() goes on where a program was ended in between", async () => {
  const { project, text } = await createUpdated();
  renameSync(join(project.directory, ".kitbag/skills/pdf"), join(project.directory, ".kitbag/previous/pdf/swap"));

  await rollbackSkill("pdf", project);

  expect(text()).toContain("Old.");
  expect(existsSync(join(project.directory, ".kitbag/previous/pdf/swap"))).toBe(false);
});

test("updateSkills() keeps one earlier version, which is no skill of the project", async () => {
  const { project, source, text } = await createUpdated();
  writeFiles(source, { "SKILL.md": skillText("pdf", "Newest.") });
  await updateSkills([], { ...project, ...yes });

  expect(await project.listSkills()).toEqual(["pdf trusted"]);
  await rollbackSkill("pdf", project);
  expect(text()).toContain("New.");
});

interface Imported {
  readonly project: ImportProject;
  readonly source: string;
  /** The text of the skill that is live. */
  text(): string;
}

async function createImported(): Promise<Imported> {
  const project = createImportProject();
  const source = createFolder({ "SKILL.md": skillText("pdf", "Old."), "kitbag.toml": toml("1.0.0") });
  await importSkills(source, { ...project, ...yes });
  return { project, source, text: () => readFileSync(join(project.directory, ".kitbag/skills/pdf/SKILL.md"), "utf8") };
}

async function createUpdated(): Promise<Imported> {
  const imported = await createImported();
  writeFiles(imported.source, { "SKILL.md": skillText("pdf", "New."), "kitbag.toml": toml("2.0.0") });
  await updateSkills([], { ...imported.project, ...yes });
  return imported;
}

function toml(version: string): string {
  return `[skill]\nversion = "${version}"\n`;
}
