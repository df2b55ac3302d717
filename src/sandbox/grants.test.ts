import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { isKitbagError } from "../core/errors.ts";
import type { Permissions } from "../core/permissions.ts";
import { checkLinks, findGrants, findPlanted, toGrants, type GrantPlaces } from "./grants.ts";
import { emptyFile, nothing } from "./sandbox.ts";

test("toGrants() gives nothing if nothing was granted", () => {
  const places = { directory: "/data/project", home: "/data/home" };

  expect(toGrants("tool", {}, places)).toEqual({
    mounts: [],
    sealed: [],
    programs: [],
    directory: "/tmp",
    environment: {},
    reserved: [],
    folders: new Map(),
  });
});

test.for(["./", ".", "./**", "./*"])("toGrants() takes %s for the working directory, and starts there", (scope) => {
  const places = makePlaces();

  const { mounts, directory } = toGrants("tool", { read: [scope] }, places);

  expect(mounts).toEqual([{ source: places.directory, target: places.directory, granted: true }]);
  expect(directory).toBe(places.directory);
});

test("toGrants() knows ~, absolute paths, and paths above the working directory", () => {
  const places = makePlaces();
  const file = join(places.home, "notes.txt");
  writeFileSync(file, "");

  const { mounts } = toGrants("tool", { read: ["~/notes.txt", "../project/", places.directory, "~"] }, places);

  expect(mounts.map(({ target }) => target)).toEqual([file, places.directory, places.home]);
});

test("toGrants() lets a tool find what it was given of ~ under that name", () => {
  const places = makePlaces();

  expect(toGrants("tool", { read: ["~/notes.txt"] }, places).environment).toEqual({ HOME: places.home });
  expect(toGrants("tool", { write: ["~"] }, places).environment).toEqual({ HOME: places.home });
  expect(toGrants("tool", { read: ["./"] }, places).environment).toEqual({});
});

test("toGrants() resolves links, and shows what they lead to under their own name", () => {
  const places = makePlaces();
  mkdirSync(join(places.directory, "data/june"), { recursive: true });
  symlinkSync("data/june", join(places.directory, "latest"));
  symlinkSync(places.directory, join(places.home, "link"));

  const { mounts } = toGrants("tool", { read: ["./latest", "~/link"] }, places);

  expect(mounts).toEqual([
    { source: join(places.directory, "data/june"), target: join(places.directory, "latest"), granted: true },
    { source: places.directory, target: join(places.home, "link"), granted: true },
  ]);
});

test("toGrants() refuses what is granted of the project if a link on the way leads out of its folder", () => {
  const places = makePlaces();
  mkdirSync(join(places.directory, "data"));
  mkdirSync(join(places.directory, "src/deep"), { recursive: true });
  symlinkSync(places.home, join(places.directory, "data/out"));
  symlinkSync("../src", join(places.directory, "data/beside"));
  symlinkSync("out", join(places.directory, "data/chain"));
  writeFileSync(join(places.home, "s.txt"), "");

  for (const scope of ["./data/out", "./data/out/s.txt", "./data/out/new/", "./data/beside/deep", "./data/chain"]) {
    expect(refusal({ read: [scope] }, places)).toContain("is a link that leads out of its folder");
    expect(refusal({ write: [scope] }, places)).toContain("remove the link, or name the place itself");
  }
  expect(refusal({ read: [join(places.directory, "data/out")] }, places)).toContain("leads out of its folder");
  expect(refusal({ read: ["../project/data/out"] }, places)).toContain("leads out of its folder");
  expect(refusal({ read: ["./data", "~", "../home", "./src/deep"] }, places)).toBe("it was granted");
});

test("toGrants() takes a project that is reached through a link as it is", () => {
  const places = makePlaces();
  mkdirSync(join(places.directory, "data"));
  const link = join(places.home, "project");
  symlinkSync(places.directory, link);

  const { mounts } = toGrants("tool", { read: ["./data", "../project"] }, { ...places, directory: link });

  expect(mounts.map(({ source, target }) => [source, target])).toEqual([
    [join(places.directory, "data"), join(link, "data")],
    [places.directory, link],
  ]);
});

test("checkLinks() refuses what was a folder when it was granted, and is a link by now", () => {
  const places = makePlaces();
  const inner = join(places.directory, "data/inner");
  mkdirSync(inner, { recursive: true });
  const check = (): void => checkLinks("tool", { read: ["./data/inner"] }, places);

  check();
  rmdirSync(inner);
  symlinkSync(places.home, inner);

  expect(check).toThrow("is a link that leads out of its folder");
});

test("toGrants() leaves out what a tool may read and is not there", () => {
  expect(toGrants("tool", { read: ["./missing", "~/missing/deep"] }, makePlaces()).mounts).toEqual([]);
});

test("toGrants() makes directories that a tool may write, and no files", () => {
  const places = makePlaces();

  toGrants("tool", { write: ["./out/deep", "./dir.d/"] }, places);

  expect(existsSync(join(places.directory, "out/deep"))).toBe(true);
  expect(existsSync(join(places.directory, "dir.d"))).toBe(true);
  expect(refusal({ write: ["./report.json"] }, places)).toContain("there is no such file; make it first");
});

test.for(["./.env", "./.env.local", "~/.bashrc", "./Makefile", "./Dockerfile", "./deep/report.json"])(
  "toGrants() makes nothing of %s, which is a file that is missing",
  (scope) => {
    const places = makePlaces();

    const found = refusal({ write: [scope] }, places);

    expect(found).toMatchInlineSnapshot(
      `"there is no such file; make it first, or give the folder that it will be in (a folder that is missing ends with /)"`,
    );
    expect([readdirSync(places.directory), readdirSync(places.home)]).toEqual([[], []]);
  },
);

test("toGrants() seals the way through /tmp to the project and to what was granted", () => {
  const root = realpathSync(mkdtempSync("/tmp/kitbag-grants-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const name of ["project/data", "home"]) mkdirSync(join(root, name), { recursive: true });
  const sealedFor = (permissions: Permissions, directory: string): readonly string[] =>
    toGrants("tool", permissions, { directory, home: join(root, "home") }).sealed;

  expect(sealedFor({}, join(root, "project"))).toEqual([root]);
  expect(sealedFor({ read: ["./data"], write: ["./out"] }, join(root, "project"))).toEqual([root]);
  expect(sealedFor({ write: [join(root, "project/data")] }, "/data/elsewhere")).toEqual([root]);
  expect(sealedFor({ write: ["./", "./home"] }, root)).toEqual([]);
  expect(sealedFor({}, "/tmp")).toEqual([]);
  expect(sealedFor({}, "/tmpfiles/project")).toEqual([]);
});

test("toGrants() hides named pipes of folders to read, and of shielded ones, and leaves those of folders to write", () => {
  const places = makePlaces();
  for (const folder of ["data/deep", "out", ".vscode/x"]) {
    mkdirSync(join(places.directory, folder), { recursive: true });
    execFileSync("mkfifo", [join(places.directory, folder, "pipe")]);
  }
  const hiddenFor = (permissions: Permissions): string[] =>
    toGrants("tool", permissions, places)
      .mounts.filter(({ source }) => source === emptyFile)
      .map(({ target }) => target.slice(places.directory.length));

  expect(hiddenFor({ read: ["./"] }).toSorted()).toEqual(["/.vscode/x/pipe", "/data/deep/pipe", "/out/pipe"]);
  expect(hiddenFor({ read: ["./"], write: ["./out"] }).toSorted()).toEqual(["/.vscode/x/pipe", "/data/deep/pipe"]);
  expect(hiddenFor({ read: ["./data"], write: ["./"] })).toEqual(["/.vscode/x/pipe"]);
});

test("toGrants() refuses a named pipe to read, because it could be written as well", () => {
  const places = makePlaces();
  const pipe = join(places.directory, "pipe");
  execFileSync("mkfifo", [pipe]);

  expect(refusal({ read: ["./pipe"] }, places)).toBe(
    "it is a named pipe, and a tool that may read it can write to it; name it in write instead",
  );
  expect(toGrants("tool", { write: ["./pipe"] }, places).mounts).toEqual([
    { source: pipe, target: pipe, granted: true, write: true },
  ]);
});

test.for(["", "data", "*", "./*/x", "./a?", "./a\0b", "~user/x", "file:///x", "$HOME/x", "__proto__"])(
  "toGrants() refuses the path %j",
  (scope) => {
    expect(refusal({ read: [scope] })).toContain("a path starts with ./, ~/ or /");
  },
);

test.for(["/", "/proc", "/proc/1/root", "/sys", "/dev", "/dev/shm", "/run", "/var/run", "/proc/self/root/home"])(
  "toGrants() never gives %s, not even to read",
  (scope) => {
    expect(refusal({ read: [scope] })).toContain("could leave its sandbox");
  },
);

test.for(["/usr", "/usr/local/bin", "/etc", "/etc/cron.d", "/bin", "/lib", "/boot"])(
  "toGrants() never lets a tool write to %s",
  (scope) => {
    expect(refusal({ write: [`${scope}/`] })).toContain("could leave its sandbox");
  },
);

test("toGrants() makes nothing where a link leads that a tool may have left", () => {
  const places = makePlaces();
  symlinkSync("/etc", join(places.directory, "out"));

  expect(refusal({ write: ["./out/kitbag-made/"] }, places)).toContain("could leave its sandbox");
  expect(existsSync("/etc/kitbag-made")).toBe(false);
});

test("toGrants() refuses a link that leads nowhere", () => {
  const places = makePlaces();
  symlinkSync(join(places.home, "nowhere"), join(places.directory, "out"));
  symlinkSync("loop", join(places.directory, "loop"));

  expect(refusal({ write: ["./out"] }, places)).toContain("a link that leads nowhere");
  expect(refusal({ write: ["./loop"] }, places)).toContain("a link that leads nowhere");
});

test.for(["/skill", "/opt", "/opt/kitbag", "/opt/node", "/tmp", "/node_modules"])(
  "toGrants() does not cover what a sandbox has at %s",
  (scope) => {
    expect(refusal({ read: [scope] })).toMatch(/a sandbox has its own files|has a \/tmp of its own/u);
  },
);

test("toGrants() lets who may write read, in one mount", () => {
  const places = makePlaces();

  const { mounts } = toGrants("tool", { read: ["./"], write: ["./"] }, places);

  expect(mounts).toEqual([{ source: places.directory, target: places.directory, granted: true, write: true }]);
});

test("toGrants() mounts nothing on its own below what a tool may write: a link could be put in its place", () => {
  const places = makePlaces();
  mkdirSync(join(places.directory, "config"));

  const { mounts } = toGrants("tool", { read: ["./config"], write: ["./"] }, places);

  expect(mounts.map(({ target }) => target)).toEqual([places.directory]);
});

test("toGrants() mounts what a tool may write below what it may only read", () => {
  const places = makePlaces();
  mkdirSync(join(places.directory, "out"));

  const { mounts } = toGrants("tool", { read: ["./"], write: ["./out"] }, places);

  expect(mounts.map(({ target, write }) => [target, write])).toEqual([
    [places.directory, undefined],
    [join(places.directory, "out"), true],
  ]);
});

test("toGrants() hides what is ours, also below a link", () => {
  const places = makePlaces();
  const own = join(places.home, ".kitbag");
  mkdirSync(own);
  const link = join(places.home, "../link");
  symlinkSync(places.home, link);

  const { mounts } = toGrants("tool", { read: ["~", link] }, { ...places, protected: [own] });

  expect(mounts.slice(2)).toEqual([
    { source: nothing, target: own, shields: own },
    { source: nothing, target: join(link, ".kitbag"), shields: own },
  ]);
});

test("toGrants() makes what is ours before a tool could", () => {
  const places = makePlaces();
  const own = join(places.home, ".kitbag");

  const { mounts } = toGrants("tool", { write: ["~"] }, { ...places, protected: [own] });

  expect(existsSync(own)).toBe(true);
  expect(mounts).toContainEqual({ source: nothing, target: own, shields: own });
});

test("toGrants() refuses what is ours, and what is below", () => {
  const places = makePlaces();
  const own = join(places.home, ".kitbag");
  mkdirSync(join(own, "cache"), { recursive: true });

  for (const read of [own, join(own, "cache")]) {
    expect(refusal({ read: [read] }, { ...places, protected: [own] })).toContain("Kitbag keeps its own files there");
  }
});

test("toGrants() lets no tool change what is fixed, unless it is hidden anyway", () => {
  const places = makePlaces();
  const lock = join(places.directory, "kitbag.lock");
  const own = join(places.directory, ".kitbag");
  writeFileSync(lock, "");
  const all = { ...places, fixed: [lock, own, join(places.directory, "missing")], protected: [own] };

  const { mounts } = toGrants("tool", { write: ["./"] }, all);

  expect(mounts.slice(1)).toEqual([
    { source: lock, target: lock, shields: lock },
    { source: nothing, target: own, shields: own },
  ]);
});

test("toGrants() refuses to have what is fixed written, and what is hidden read, by their names", () => {
  const places = makePlaces();
  const own = join(places.directory, ".kitbag");
  mkdirSync(join(own, "skills"), { recursive: true });
  const database = join(own, "kitbag.db");
  writeFileSync(database, "");
  const all = { ...places, fixed: [own], hidden: [database] };

  for (const write of ["./.kitbag/", "./.kitbag/skills/", "./.kitbag/kitbag.db"]) {
    expect(refusal({ write: [write] }, all)).toContain("Kitbag keeps its own files there");
  }
  for (const read of ["./.kitbag/", "./.kitbag/skills/", "./.kitbag/kitbag.db"]) {
    expect(refusal({ read: [read] }, all)).toContain("Kitbag keeps its own files there");
  }
});

test("toGrants() covers hidden files that are there, for those who may read and for those who may write", () => {
  const places = makePlaces();
  const database = join(places.directory, "kitbag.db");
  writeFileSync(database, "");
  const all = { ...places, hidden: [database, `${database}-wal`] };

  for (const permissions of [{ read: ["./"] }, { write: ["./"] }]) {
    expect(toGrants("tool", permissions, all).mounts.slice(1)).toEqual([
      { source: emptyFile, target: database, shields: database },
    ]);
  }
});

test("toGrants() hands on the programs that a tool may start", () => {
  expect(toGrants("tool", { run: ["git", "*"] }, makePlaces()).programs).toEqual(["git", "*"]);
});

test.for(["read", "write"] as const)("findGrants() hides a file with secrets that appears later, for %s", (kind) => {
  const places = makePlaces();
  mkdirSync(join(places.directory, "app"));
  const permissions = { [kind]: ["."] };
  const before = findGrants("tool", permissions, places);
  const again = findGrants("tool", permissions, places);
  writeFileSync(join(places.directory, "app/plain.txt"), "");
  const same = findGrants("tool", permissions, places);
  writeFileSync(join(places.directory, "app/.env"), "SECRET=1");

  const after = findGrants("tool", permissions, places);

  expect([again, same]).toEqual([before, before]);
  expect(same).toBe(before);
  const secrets = join(places.directory, "app/.env");
  expect(after.mounts).toContainEqual({ source: emptyFile, target: secrets, shields: secrets });
});

test("findPlanted() finds a repository and a .kitbag that a tool made in a folder, and no file with secrets", () => {
  const places = makePlaces();
  mkdirSync(join(places.directory, "app"));
  const permissions = { write: ["."] };
  const before = findGrants("tool", permissions, places);
  for (const name of [".git", ".kitbag", ".ssh"]) mkdirSync(join(places.directory, "app", name));
  writeFileSync(join(places.directory, "app/.env"), "SECRET=1");

  expect(findPlanted("tool", permissions, places, before).toSorted()).toEqual([
    join(places.directory, "app/.git"),
    join(places.directory, "app/.kitbag"),
  ]);
  expect(findPlanted("tool", { read: ["."] }, places, before)).toEqual([]);
});

function makePlaces(): GrantPlaces & { readonly home: string } {
  const root = createFolder();
  const places = { directory: join(root, "project"), home: join(root, "home") };
  for (const path of Object.values(places)) mkdirSync(path);
  return places;
}

function refusal(permissions: Parameters<typeof toGrants>[1], places: GrantPlaces = makePlaces()): string {
  try {
    toGrants("tool", permissions, places);
  } catch (cause) {
    if (isKitbagError(cause, "permission-refused")) return cause.details.reason;
    throw cause;
  }
  return "it was granted";
}
