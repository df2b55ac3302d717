import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { createRepository, serveGit, type TestRepository } from "../../../test/support/git-server.ts";
import { createImportProject, skillText, type ImportProject } from "../../../test/support/import-project.ts";
import { createFolder, writeFiles } from "../../../test/support/temporary-folder.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createVersions } from "../../records/versions/versions.ts";
import type { FetchOptions } from "./fetched.ts";
import { importSkills } from "./import-skills.ts";
import { updateSkills } from "./update-skills.ts";

const script = (flag: string): string => `import argparse
parser = argparse.ArgumentParser(description="Extracts text")
parser.add_argument("${flag}", required=True)
print(parser.parse_args())
`;

test("updateSkills() says that there is nothing new", async () => {
  const { project, options } = await createImported();

  const updates = await updateSkills([], { ...project, ...options });

  expect(updates).toMatchObject([{ name: "pdf", status: "same" }]);
});

test("updateSkills() shows what is different: version, permissions, tools, schemas, files", async (context) => {
  needProgram(context, "python3");
  const { project, repository, options } = await createImported();
  const commit = repository.commit({
    "skills/pdf/scripts/run.py": script("--path"),
    "skills/pdf/scripts/more.py": script("--more"),
    "skills/pdf/kitbag.toml": '[skill]\nversion = "2.0.0"\n[permissions]\nnetwork = ["evil.example"]\n',
  });
  rmSync(join(repository.directory, "skills/pdf/scripts/old.py"));
  repository.commit({});

  const [update] = await updateSkills(["pdf"], { ...project, ...options, approve: () => false });

  expect(update?.status).toBe("refused");
  expect(update?.candidate?.difference).toMatchObject({
    permissions: { added: ["network: evil.example"], removed: [] },
    tools: { added: ["more"], removed: ["old"], changed: ["run"] },
    files: [
      { path: "kitbag.toml", change: "added" },
      { path: "scripts/more.py", change: "added" },
      { path: "scripts/old.py", change: "removed" },
      {
        path: "scripts/run.py",
        change: "changed",
        patch: expect.stringContaining('+parser.add_argument("--path"') as string,
      },
    ],
    definition: expect.stringContaining('+          "path": {') as string,
  });
  expect(update?.candidate?.source.commit).not.toBe(commit);
  expect(await project.listSkills()).toEqual(["pdf trusted"]);
  expect(readFileSync(join(project.directory, ".kitbag/skills/pdf/scripts/run.py"), "utf8")).toBe(script("--file"));
});

test("updateSkills() replaces what was approved, keeps the old version, and pins the new one", async () => {
  const { project, repository, options } = await createImported();
  const commit = repository.commit({ "skills/pdf/SKILL.md": skillText("pdf", "Newer.") });
  const store = memoryStore();

  const [update] = await updateSkills([], { ...project, ...options, store, approve: () => true });

  expect(update?.status).toBe("enabled");
  expect(await project.listSkills()).toEqual(["pdf trusted"]);
  expect(project.lock().get(".kitbag/skills/pdf")?.source).toMatchObject({ commit, folder: "skills/pdf" });
  const old = await createVersions(store).readFile("pdf", 1, "SKILL.md");
  expect(new TextDecoder().decode(old)).toContain("Do it.");
  expect((await project.reports())[0]?.diagnostics.map(({ code }) => code)).not.toContain("lock-changed");
});

test("updateSkills() leaves what it replaced disabled if nobody is there to approve", async () => {
  const { project, repository, options } = await createImported();
  repository.commit({ "skills/pdf/SKILL.md": skillText("pdf", "Newer.") });

  const [update] = await updateSkills([], { ...project, ...options });

  expect(update?.status).toBe("disabled");
  expect(await project.listSkills()).toEqual(["pdf untrusted"]);
});

test("updateSkills() shows what somebody changed by hand, before it is lost", async () => {
  const { project, options } = await createImported();
  writeFileSync(join(project.directory, ".kitbag/skills/pdf/notes.txt"), "mine");

  const [update] = await updateSkills([], { ...project, ...options, approve: () => false });

  expect(update?.candidate?.difference?.files).toMatchObject([{ path: "notes.txt", change: "removed" }]);
});

test("updateSkills() keeps to the tag that was asked for", async () => {
  const { project, repository, options, url } = await createImported();
  repository.git("tag", "v1");
  await importSkills(`${url}#v1`, { ...project, ...options, replace: true });
  repository.commit({ "skills/pdf/SKILL.md": skillText("pdf", "Newer.") });

  expect(await updateSkills([], { ...project, ...options })).toMatchObject([{ status: "same" }]);
});

test("updateSkills() says that a skill is gone, and finds one that was moved", async () => {
  const { project, repository, options } = await createImported();
  repository.git("mv", "skills/pdf", "elsewhere");
  repository.commit({ "elsewhere/new.txt": "new" });
  const [moved] = await updateSkills([], { ...project, ...options, approve: () => true });
  rmSync(join(repository.directory, "elsewhere"), { recursive: true });
  repository.commit({ "skills/other/SKILL.md": skillText("other") });

  const [gone] = await updateSkills([], { ...project, ...options });

  expect(moved).toMatchObject({ status: "enabled", candidate: { source: { folder: "elsewhere" } } });
  expect(gone).toMatchObject({ name: "pdf", status: "gone" });
  expect(await project.listSkills()).toEqual(["pdf trusted"]);
});

test("updateSkills() updates the others when one source is not there any more", async () => {
  const { project, repository, options } = await createImported();
  const folder = createFolder({ "SKILL.md": skillText("csv") });
  await importSkills(folder, { ...project, approve: () => true });
  rmSync(join(repository.directory, ".git"), { recursive: true });
  writeFiles(folder, { "SKILL.md": skillText("csv", "Newer.") });

  const updates = await updateSkills([], { ...project, ...options, approve: () => true });

  expect(updates).toMatchObject([
    { name: "csv", status: "enabled" },
    { name: "pdf", status: "failed", reason: expect.stringContaining("Cannot import") as string },
  ]);
});

test("updateSkills() finds no skill that was not imported", async () => {
  const { project } = await createImported({ ".kitbag/skills/mine/SKILL.md": skillText("mine") });

  await expect(updateSkills(["mine"], project)).rejects.toThrow("nothing of this name was imported");
  await expect(updateSkills(["pfd"], project)).rejects.toThrow('did you mean "pdf"?');
});

test("R16: updateSkills() fetches nothing that a lock names outside of the folders for imports", async () => {
  const { project } = await createImported();
  const path = join(project.directory, "kitbag.lock");
  writeFileSync(path, readFileSync(path, "utf8").replace('".kitbag/skills/pdf"', '"skills/pdf"'));

  expect(await updateSkills([], project)).toEqual([]);
});

interface Imported {
  readonly project: ImportProject;
  readonly repository: TestRepository;
  readonly options: FetchOptions;
  readonly url: string;
}

/** A project with the skill "pdf", imported from a repository and enabled. */
async function createImported(files: Readonly<Record<string, string>> = {}): Promise<Imported> {
  const project = createImportProject(files);
  const repository = createRepository();
  repository.commit({
    "skills/pdf/SKILL.md": skillText("pdf"),
    "skills/pdf/scripts/run.py": script("--file"),
    "skills/pdf/scripts/old.py": script("--old"),
  });
  const { url, host } = await serveGit(repository);
  const options = { allowHosts: [host] };
  await importSkills(url, { ...project, ...options, approve: () => true });
  return { project, repository, options, url };
}
