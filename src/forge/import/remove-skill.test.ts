import { existsSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createImportProject, skillText } from "../../../test/support/import-project.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { importSkills } from "./import-skills.ts";
import { removeSkill, restoreSkill } from "./remove-skill.ts";

test("removeSkill() takes a skill out of the project and the lock, and restoreSkill() puts it back as it was", async () => {
  const project = createImportProject();
  await importSkills(createFolder({ "SKILL.md": skillText("pdf"), "a.txt": "a" }), { ...project, approve: () => true });
  const before = project.lock();

  const removed = await removeSkill("pdf", project);
  const [gone, unlocked] = [await project.listSkills(), project.lock().size];
  const restored = await restoreSkill("pdf", project);

  expect(removed).toEqual({ name: "pdf", place: ".kitbag/skills/pdf", kept: ".kitbag/removed/pdf" });
  expect([gone, unlocked]).toEqual([[], 0]);
  expect(restored.place).toBe(".kitbag/skills/pdf");
  expect(await project.listSkills()).toEqual(["pdf trusted"]);
  expect(project.lock()).toEqual(before);
  expect(existsSync(join(project.directory, ".kitbag/removed/pdf"))).toBe(false);
});

test("restoreSkill() trusts nothing that was changed while it was removed", async () => {
  const project = createImportProject();
  await importSkills(createFolder({ "SKILL.md": skillText("pdf") }), { ...project, approve: () => true });
  await removeSkill("pdf", project);
  writeFileSync(join(project.directory, ".kitbag/removed/pdf/files/evil.py"), "evil");

  await restoreSkill("pdf", project);

  expect(await project.listSkills()).toEqual(["pdf untrusted"]);
});

test("removeSkill() takes out what was made here, too, and tools", async () => {
  const project = createImportProject({
    ".kitbag/skills/mine/SKILL.md": skillText("mine"),
    ".kitbag/tools/slug/manifest.json": "{}",
  });

  await removeSkill("mine", project);
  const { place } = await removeSkill("slug", project);
  await restoreSkill("mine", project);

  expect(place).toBe(".kitbag/tools/slug");
  expect(await project.listSkills()).toEqual(["mine untrusted"]);
});

test.for(["nope", "..", "../../etc", "", "a/b", "__proto__"])(
  "removeSkill() finds no skill %j, and touches nothing",
  async (name) => {
    const project = createImportProject({ ".kitbag/skills/pdf/SKILL.md": skillText("pdf") });

    await expect(removeSkill(name, project)).rejects.toMatchObject({ code: "skill-not-found" });
    await expect(restoreSkill(name, project)).rejects.toMatchObject({ code: "skill-not-found" });

    expect(readdirSync(join(project.directory, ".kitbag/skills"))).toEqual(["pdf"]);
  },
);

test("restoreSkill() replaces nothing", async () => {
  const project = createImportProject({ ".kitbag/skills/pdf/SKILL.md": skillText("pdf") });
  await removeSkill("pdf", project);
  await importSkills(createFolder({ "SKILL.md": skillText("pdf", "Other.") }), project);

  await expect(restoreSkill("pdf", project)).rejects.toMatchObject({ code: "import-taken" });
});

test("R2: restoreSkill() puts nothing where a project says that it was", async () => {
  const project = createImportProject({
    ".kitbag/removed/pdf/files/SKILL.md": skillText("pdf"),
    ".kitbag/removed/pdf/place": "../../evil",
    ".kitbag/removed/pdf/kitbag.lock": '{\n  "version": 1,\n  "skills": {}\n}\n',
  });

  await expect(restoreSkill("pdf", project)).rejects.toMatchObject({ code: "skill-not-found" });
});

test("R2: removeSkill() keeps nothing behind a link that a project brings", async () => {
  const outside = createFolder({ "pdf/mine.txt": "mine" });
  const project = createImportProject({ ".kitbag/skills/pdf/SKILL.md": skillText("pdf") });
  symlinkSync(outside, join(project.directory, ".kitbag/removed"));

  await expect(removeSkill("pdf", project)).rejects.toThrow("it is a link or a file where a folder belongs");

  expect(readdirSync(join(outside, "pdf"))).toEqual(["mine.txt"]);
});
