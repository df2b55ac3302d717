import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { afterEach, expect, test, vi } from "vitest";

import { needProgram } from "../../test/support/need-program.ts";
import { createFolder } from "../../test/support/temporary-folder.ts";
import { toolGroup } from "./host.ts";
import { openWorkArea, removeTree } from "./work-area.ts";

afterEach(() => void vi.unstubAllEnvs());

const user = process.getuid?.() ?? 0;

test("openWorkArea() makes directories that no other user can enter, but for the group of tools if root makes them", () => {
  const { root, kept, own, private: secret } = openWorkArea(createFolder());

  const facts = [root, kept, own, secret].map((path) => statSync(path));
  const passable = user === 0 ? 0o710 : 0o700;
  expect(facts.map(({ mode }) => mode & 0o777)).toEqual([passable, passable, passable, 0o700]);
  if (user === 0) expect(facts.map(({ gid }) => gid)).toEqual([toolGroup, toolGroup, toolGroup, 0]);
});

test.runIf(user === 0)("openWorkArea() lets tools of root read what is in it, and no other user", () => {
  const parent = createFolder();
  chmodSync(parent, 0o755);
  const path = join(openWorkArea(parent).own, "script.sh");
  writeFileSync(path, "private skill", { mode: 0o644 });
  const readAs = (uid: number, gid: number): string | null =>
    spawnSync("cat", [path], { uid, gid, encoding: "utf8" }).stdout;

  expect([readAs(60_001, toolGroup), readAs(61_234, 61_234)]).toEqual(["private skill", ""]);
});

test.runIf(user === 0)(
  "openWorkArea() goes elsewhere if tools of root cannot pass through the folder for temporary files",
  () => {
    const closed = createFolder();
    chmodSync(closed, 0o700);
    vi.stubEnv("TMPDIR", closed);

    const { root, own } = openWorkArea();
    const inside = spawnSync("test", ["-x", own], { uid: toolGroup, gid: toolGroup });

    expect(root.startsWith(closed)).toBe(false);
    expect(inside.status).toBe(0);
  },
);

test("openWorkArea() gives every caller a directory of its own, and all the same kept one", () => {
  const parent = createFolder();

  const [one, other] = [openWorkArea(parent), openWorkArea(parent)];

  expect(one.own).not.toBe(other.own);
  expect(one.kept).toBe(other.kept);
});

test("remove() removes what is its own, and keeps what is kept", async () => {
  const area = openWorkArea(createFolder());
  writeFileSync(join(area.kept, "kept"), "");
  writeFileSync(join(area.own, "own"), "");

  await area.remove();

  expect([existsSync(area.own), readdirSync(area.kept)]).toEqual([false, ["kept"]]);
});

test("openWorkArea() removes what processes left that are gone, and nothing of those that run or may be starting", async () => {
  const parent = createFolder();
  const root = join(parent, `kitbag-work-${user}`);
  for (const name of ["run-9999999-old", "run-9999998-young", "run-x", "kept"])
    mkdirSync(join(root, name), { recursive: true });
  utimesSync(join(root, "run-9999999-old"), 0, 0);
  const held = openWorkArea(parent);

  const { own } = openWorkArea(parent);
  await vi.waitFor(() => expect(existsSync(join(root, "run-9999999-old"))).toBe(false));

  const left = readdirSync(root).filter((name) => ![own, held.own].includes(join(root, name)));
  expect(left.toSorted()).toEqual(["kept", "run-9999998-young", "run-x"]);
  expect([existsSync(held.own), existsSync(own)]).toEqual([true, true]);
});

test("openWorkArea() leaves the folder of a process alone that runs in another container", async (context) => {
  needProgram(context, "unshare");
  context.skip(user !== 0, "only root can make a list of processes");
  const parent = createFolder();
  const { own } = openWorkArea(parent);
  utimesSync(own, 0, 0);
  const module = JSON.stringify(join(import.meta.dirname, "work-area.ts"));
  const program = `import(${module}).then(({ openWorkArea }) => openWorkArea(${JSON.stringify(parent)}).remove())`;
  const command = ["--pid", "--fork", "--mount-proc", process.execPath, "-e", program];

  const other = spawnSync("unshare", command, { encoding: "utf8" });

  expect(other).toMatchObject({ status: 0, stderr: "" });
  expect(existsSync(own)).toBe(true);
});

test("openWorkArea() closes a directory of its own that was open to all", () => {
  const parent = createFolder();
  mkdirSync(join(parent, `kitbag-work-${user}`));
  chmodSync(join(parent, `kitbag-work-${user}`), 0o777);

  const { root } = openWorkArea(parent);

  expect(statSync(root).mode & 0o007).toBe(0);
});

test("openWorkArea() leaves a link in its place alone, and takes a directory with another name", () => {
  const parent = createFolder();
  mkdirSync(join(parent, "elsewhere"));
  symlinkSync(join(parent, "elsewhere"), join(parent, `kitbag-work-${user}`));

  const { root } = openWorkArea(parent);

  expect(root).toMatch(new RegExp(`/kitbag-work-${user}-\\w{6}$`, "u"));
  expect(readdirSync(join(parent, "elsewhere"))).toEqual([]);
});

test("openWorkArea() leaves a link in its place alone that leads nowhere", () => {
  const parent = createFolder();
  symlinkSync(join(parent, "missing"), join(parent, `kitbag-work-${user}`));

  openWorkArea(parent);

  expect(existsSync(join(parent, "missing"))).toBe(false);
});

// Only root can make a directory of another user.
test.runIf(user === 0)(
  "openWorkArea() leaves a directory of another user alone, and all processes take the same other one",
  () => {
    const parent = createFolder();
    for (const name of ["kitbag-work-0", "kitbag-work-0-aaaaaa"]) {
      mkdirSync(join(parent, name));
      chownSync(join(parent, name), 61_234, 61_234);
    }

    const [one, other] = [openWorkArea(parent), openWorkArea(parent)];

    expect(readdirSync(join(parent, "kitbag-work-0"))).toEqual([]);
    expect([other.root, other.kept]).toEqual([one.root, one.kept]);
    expect(statSync(one.root).uid).toBe(0);
  },
);

test("removeTree() removes folders that are closed, and paths that are too long", async (context) => {
  needProgram(context, "python3");
  const folder = createFolder();
  const source = `import os, sys
os.chdir(sys.argv[1]); os.mkdir("closed"); open("closed/a", "w"); os.chmod("closed", 0)
for depth in range(3000): os.mkdir("deep"); os.chdir("deep")`;
  execFileSync("python3", ["-c", source, folder]);

  await removeTree(folder);

  expect(existsSync(folder)).toBe(false);
});
