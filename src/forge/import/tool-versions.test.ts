import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, onTestFinished, test } from "vitest";

import { createRepository, serveGit, type TestRepository } from "../../../test/support/git-server.ts";
import { createImportProject, type ImportProject } from "../../../test/support/import-project.ts";
import { expectLive, openTestRuntimes, outputOf } from "../../../test/support/open-test-forge.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Forge } from "../forge-interface.ts";
import { openForge } from "../open-forge.ts";
import type { FetchOptions } from "./fetched.ts";
import { importSkills } from "./import-skills.ts";
import { updateSkills } from "./update-skills.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

test("updateSkills() says that a tool was changed here, and offers nothing, while its source is what it was", async () => {
  const { project, options, forge } = await createImported();
  const fresh = await updateSkills([], { ...project, ...options });
  expectLive(await forge.updateTool("cw", { title: "Words" }));

  const edited = await updateSkills([], { ...project, ...options, approve: () => true });
  await forge.rollbackTool("cw", "1.0.0");
  const back = await updateSkills([], { ...project, ...options });

  expect(fresh).toMatchObject([{ name: "cw", status: "same" }]);
  expect(edited).toMatchObject([{ name: "cw", status: "same", reason: "it was changed here since it was added" }]);
  expect(back[0]).not.toHaveProperty("reason");
  expect(readdirSync(join(project.directory, ".kitbag/tools/cw/versions"))).toEqual(["1.0.0", "1.0.1"]);
});

test("updateSkills() makes what is new at the source the next version, and nothing of before is lost", async () => {
  const { project, options, forge, workspace, repository } = await createImported();
  expectLive(await forge.updateTool("cw", { title: "Words" }));
  repository.commit(toTool("echo 3"));

  const seen: unknown[] = [];
  const [update] = await updateSkills([], {
    ...project,
    ...options,
    approve: ({ skills }) => {
      seen.push(...skills);
      return true;
    },
  });
  await forge.refresh();

  expect(update?.status).toBe("enabled");
  expect(seen).toMatchObject([
    {
      state: "changed",
      changedHere: true,
      difference: {
        version: { from: "1.0.1", to: "1.0.2" },
        files: [{ path: "main.sh", change: "changed" }, { path: "manifest.json" }],
      },
    },
  ]);
  const said = [];
  for (const address of ["cw", "cw@1.0.0", "cw@1.0.1"]) said.push(String(await outputOf(workspace, address)).trim());
  expect(said).toEqual(["3", "2", "2"]);
  expect(await forge.history("cw")).toMatchObject([
    { type: "create", version: "1.0.0" },
    { type: "update", version: "1.0.1" },
    { type: "update", version: "1.0.2", from: "1.0.1", source: expect.stringContaining("http") as string },
  ]);
  expectLive(await forge.rollbackTool("cw", "1.0.1"));
  expect(workspace.getTool("cw")?.tool.title).toBe("Words");
  const again = await updateSkills([], { ...project, ...options });
  expect(again).toMatchObject([{ status: "same", reason: "it was changed here since it was added" }]);
});

test("updateSkills() keeps what was written by hand before the first update, and lets nothing run unasked", async () => {
  const { project, options, forge, workspace, repository } = await createImported();
  writeFileSync(join(project.directory, ".kitbag/tools/cw/main.sh"), "echo mine\n");
  repository.commit(toTool("echo 3", "1.5.0"));

  const [update] = await updateSkills([], { ...project, ...options });
  await forge.refresh();

  expect(update).toMatchObject({ status: "disabled", candidate: { changedHere: true } });
  expect(forge.listTools()).toMatchObject([{ name: "cw", version: "1.5.0", status: "untrusted" }]);
  expect(await outputOf(workspace, "cw")).toBe("tool-not-found");
  const kept = readFileSync(join(project.directory, ".kitbag/tools/cw/versions/1.0.0/main.sh"), "utf8");
  expect(kept).toBe("echo mine\n");
});

test("importSkills() does not put a tool back silently that was changed here", async () => {
  const { project, options, forge, url } = await createImported();
  expectLive(await forge.updateTool("cw", { title: "Words" }));

  const refused = importSkills(url, { ...project, ...options, approve: () => true });
  await expect(refused).rejects.toThrow("it came from there, and was changed here since; replace it with --replace");
  await importSkills(url, { ...project, ...options, replace: true, approve: () => true });
  await importSkills(url, { ...project, ...options, approve: () => true });
  await forge.refresh();

  expect((await forge.listVersions("cw")).map(({ version, current }) => [version, current])).toEqual([
    ["1.0.0", false],
    ["1.0.1", false],
    ["1.0.2", true],
  ]);
  expect(forge.listTools()).toMatchObject([{ status: "live" }]);
});

interface Imported {
  readonly project: ImportProject;
  readonly repository: TestRepository;
  readonly options: FetchOptions;
  readonly url: string;
  readonly forge: Forge;
  readonly workspace: Workspace;
}

/** A project with the tool "cw", imported from a repository and enabled, and its forge. */
async function createImported(): Promise<Imported> {
  const project = createImportProject();
  const repository = createRepository();
  repository.commit(toTool("echo 2"));
  const { url, host } = await serveGit(repository);
  const options = { allowHosts: [host] };
  await importSkills(url, { ...project, ...options, approve: () => true });
  const workspace = createWorkspace({ runtimes });
  const { directory, home } = project;
  const forge = await openForge({ workspace, directory, home, runtimes, watch: false });
  onTestFinished(() => forge.close());
  return { project, repository, options, url, forge, workspace };
}

function toTool(code: string, version = "1.0.0"): Record<string, string> {
  const manifest = {
    name: "cw",
    version,
    description: "Counts words",
    tool_type: "script",
    entry_file: "main.sh",
    examples: [{ input: {} }],
  };
  return { "cw/manifest.json": JSON.stringify(manifest), "cw/main.sh": `${code}\n` };
}
