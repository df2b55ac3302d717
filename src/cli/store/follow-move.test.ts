import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test, vi } from "vitest";

import { createProject, runKitbag, type Project } from "../../../test/run-kitbag.ts";
import { sqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { keepStoreId } from "../../store/store-id.ts";
import { followMove, knownStoresPath, loadKnownStores } from "./known-stores.ts";

vi.setConfig({ testTimeout: 60_000 });

const words = [
  ["an audit without entries", ["quota", "set", "zoe", "--calls", "3"]],
  ["an audit with entries", ["call", "hello"]],
] as const;

test.for(words)(
  "kitbag list runs nothing for a forged store that has only the id of a store with %s",
  async ([, use]) => {
    const { project, forged, ran } = await createForgery(use);
    const before = readFiles(project);
    renameSync(project.folder, `${project.folder}-away`);

    const listed = await runKitbag(["list"], { project: forged });

    expect(listed.code).toBe(1);
    expect(listed.stderr).toContain(`kitbag store accept --store sqlite:${forged.folder}/.kitbag/kitbag.db`);
    expect(existsSync(ran)).toBe(false);
    expect(readFiles(project)).toEqual(before);
  },
);

test("kitbag list in the renamed project still runs what was trusted after a forged store was refused", async () => {
  const { project, forged } = await createForgery(["quota", "set", "zoe", "--calls", "3"]);
  const moved = { ...project, folder: `${project.folder}-moved` };
  renameSync(project.folder, moved.folder);

  await runKitbag(["list"], { project: forged });
  const listed = await runKitbag(["list"], { project: moved });

  expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining("hello") });
});

test("followMove() refuses a whole copy of a store that is away: it is another file", async () => {
  const { project } = await createForgery(["call", "hello"]);
  const copy = join(dirname(project.folder), "copy");
  cpSync(project.folder, copy, { recursive: true });
  const before = readFiles(project);
  renameSync(project.folder, `${project.folder}-away`);

  await expect(followMove({ cwd: copy, env: { KITBAG_HOME: project.home } })).rejects.toMatchObject({
    code: "store-unaccepted",
    details: { reason: expect.stringContaining("it is another file") },
  });
  expect(readFiles(project)).toEqual(before);
});

test("followMove() follows a store by its audit alone if its list does not know the file", async () => {
  const { project } = await createForgery(["call", "hello"]);
  const [[id = "", known] = []] = loadKnownStores(project.home);
  writeFileSync(knownStoresPath(project.home), JSON.stringify({ version: 1, stores: { [id]: known?.file } }));
  const moved = join(dirname(project.folder), "moved");
  cpSync(project.folder, moved, { recursive: true });
  rmSync(project.folder, { recursive: true });

  await followMove({ cwd: moved, env: { KITBAG_HOME: project.home } });

  expect(loadKnownStores(project.home).get(id)).toMatchObject({ file: join(moved, ".kitbag/kitbag.db") });
});

interface Forgery {
  readonly project: Project;
  readonly forged: Project;
  /** Is there once code of the forged project ran. */
  readonly ran: string;
}

/** A project that was trusted and used, and one with the same configuration and other packages, whose store has the same id. */
async function createForgery(use: readonly string[]): Promise<Forgery> {
  const project = createProject({ ".git/HEAD": "ref: refs/heads/main\n", ...toFiles("") });
  await runKitbag(["trust", "."], { project });
  const used = await runKitbag(use, { project });
  expect(used).toMatchObject({ code: 0 });
  const folder = join(dirname(project.folder), "forged");
  const ran = join(dirname(project.folder), "ran");
  const forged: Project = { ...project, folder };
  cpSync(project.folder, folder, { recursive: true });
  rmSync(join(folder, ".kitbag"), { recursive: true });
  const evil = toFiles(`import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(ran)}, "");`);
  for (const [path, text] of Object.entries(evil)) writeFileSync(join(folder, path), text);
  const [id = ""] = loadKnownStores(project.home).keys();
  const store = await sqliteStore({ file: join(folder, ".kitbag/kitbag.db") });
  await keepStoreId(store, id);
  await store.close();
  return { project, forged, ran };
}

function toFiles(code: string): Readonly<Record<string, string>> {
  return {
    "kitbag.config.mjs": `import "helper";
import { defineTool } from "kitbag";

export default { tools: [defineTool({ name: "hello", description: "Greets", run: () => "Hello" })] };
`,
    "node_modules/helper/package.json": '{"name":"helper","version":"1.0.0","type":"module","exports":"./index.js"}',
    "node_modules/helper/index.js": `${code}\nexport {};\n`,
  };
}

function readFiles({ home, trustFile }: Project): readonly string[] {
  return [knownStoresPath(home), trustFile].map((path) => readFileSync(path, "utf8"));
}
