import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { readFolder } from "./read-folder.ts";
import { isInside } from "../../platform/paths.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { toDigest, toFolderDigest } from "../../platform/digest.ts";

test("readFolder() lists every file with its digest, sorted, and keeps what it hashed", () => {
  const folder = createFolder({ "SKILL.md": "hello", "scripts/run.py": "print()", "references/a/b.md": "" });

  const snapshot = readFolder(folder);

  expect(snapshot.files.map((file) => file.path)).toEqual(["SKILL.md", "references/a/b.md", "scripts/run.py"]);
  expect(snapshot.files[0]).toEqual({
    path: "SKILL.md",
    bytes: 5,
    digest: "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
  });
  expect(Buffer.from(snapshot.contents.get("scripts/run.py") ?? []).toString()).toBe("print()");
  expect(snapshot.diagnostics).toEqual([]);
});

test("readFolder() gives another digest for any other byte, name or place", () => {
  const digests = [
    { "a.txt": "1" },
    { "a.txt": "2" },
    { "b.txt": "1" },
    { "x/a.txt": "1" },
    { "a.txt": "1", "b.txt": "" },
  ].map((files) => readFolder(createFolder(files)).digest);

  expect(new Set(digests).size).toBe(digests.length);
  expect(readFolder(createFolder({ "a.txt": "1" })).digest).toBe(digests[0]);
});

test("toFolderDigest() writes no two lists of files alike", () => {
  const file = (path: string) => ({ path, bytes: 0, digest: "sha256:0" });

  expect(toFolderDigest([file("ab"), file("c")])).not.toBe(toFolderDigest([file("a"), file("bc")]));
});

test("readFolder() leaves out what is never part of a skill", () => {
  const folder = createFolder({
    "SKILL.md": "",
    ".git/config": "",
    "node_modules/x/index.js": "",
    "__pycache__/x.pyc": "",
  });

  expect(readFolder(folder).files.map((file) => file.path)).toEqual(["SKILL.md"]);
});

test("R2: readFolder() refuses a folder with a link that leaves it, and reads nothing through it", () => {
  const outside = createFolder({ "secret.txt": "secret" });
  const folder = createFolder({ "SKILL.md": "" });
  symlinkSync(join(outside, "secret.txt"), join(folder, "file"));
  symlinkSync(outside, join(folder, "folder"));

  const snapshot = readFolder(folder);

  expect(snapshot.files.map((file) => file.path)).toEqual(["SKILL.md"]);
  expect(snapshot.diagnostics.map((one) => [one.severity, one.code, one.file])).toEqual([
    ["error", "link-outside", "file"],
    ["error", "link-outside", "folder"],
  ]);
});

test("readFolder() reads a link to a file of the same folder, and goes in no circle", () => {
  const folder = createFolder({ "a.txt": "a", "sub/b.txt": "b" });
  symlinkSync("a.txt", join(folder, "also-a"));
  symlinkSync("..", join(folder, "sub/up"));
  symlinkSync("nowhere", join(folder, "broken"));
  symlinkSync("loop", join(folder, "loop"));

  const snapshot = readFolder(folder);

  expect(snapshot.files.map((file) => file.path)).toEqual(["a.txt", "also-a", "sub/b.txt"]);
  expect(snapshot.diagnostics.map((one) => one.code).toSorted()).toEqual(["link-broken", "link-broken", "link-folder"]);
});

test("D8: readFolder() refuses files with setuid or setgid", () => {
  const folder = createFolder({ "SKILL.md": "", "scripts/run.sh": "", "scripts/group.sh": "" });
  chmodSync(join(folder, "scripts/run.sh"), 0o4755);
  chmodSync(join(folder, "scripts/group.sh"), 0o2755);

  const { diagnostics } = readFolder(folder);

  expect(diagnostics.map((one) => [one.severity, one.code])).toEqual([
    ["error", "file-setid"],
    ["error", "file-setid"],
  ]);
});

test("readFolder() does not wait for a pipe and does not open a device", () => {
  const folder = createFolder({ "SKILL.md": "" });
  execFileSync("mkfifo", [join(folder, "pipe")]);

  const snapshot = readFolder(folder);

  expect(snapshot.files.map((file) => file.path)).toEqual(["SKILL.md"]);
  expect(snapshot.diagnostics).toMatchObject([{ severity: "warning", code: "file-special", file: "pipe" }]);
});

test("readFolder() ends at its limits and says so", () => {
  const many = createFolder(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, "x"])));
  const large = createFolder({ "big.bin": "x".repeat(5000) });
  const deep = createFolder({ "a/b/c/d.txt": "x" });

  expect(readFolder(many, { maxItems: 10 }).diagnostics).toMatchObject([{ severity: "error", code: "folder-large" }]);
  expect(readFolder(large, { maxBytes: 1000 }).diagnostics).toMatchObject([
    { severity: "error", code: "folder-large" },
  ]);
  expect(readFolder(deep, { maxDepth: 1 }).diagnostics).toMatchObject([{ severity: "warning", code: "folder-deep" }]);
});

test("readFolder() hashes a large file without keeping it", () => {
  const folder = createFolder({ "big.bin": "x".repeat(2 * 1024 * 1024) });

  const snapshot = readFolder(folder);

  expect(snapshot.files).toMatchObject([{ path: "big.bin", bytes: 2 * 1024 * 1024 }]);
  expect(snapshot.contents.size).toBe(0);
});

test("readFolder() hashes the same without keeping anything", () => {
  const folder = createFolder({
    "SKILL.md": "hello",
    "empty.txt": "",
    "big.bin": "x".repeat(2 * 1024 * 1024),
    "z/z": "zz",
  });
  symlinkSync("SKILL.md", join(folder, "link"));

  const { contents, ...rest } = readFolder(folder, { keepsContents: false });

  expect(contents.size).toBe(0);
  expect(rest).toEqual((({ contents: _contents, ...kept }) => kept)(readFolder(folder)));
});

test("readFolder() says that a folder is not there", () => {
  const file = join(createFolder({ "SKILL.md": "" }), "SKILL.md");

  expect(readFolder("/nowhere/at/all").diagnostics).toMatchObject([{ severity: "error", code: "folder-missing" }]);
  expect(readFolder(file).diagnostics).toMatchObject([{ severity: "error", code: "folder-missing" }]);
});

test("readFolder() takes a hard link as a file of its own", () => {
  const folder = createFolder({ "a.txt": "a" });
  linkSync(join(folder, "a.txt"), join(folder, "b.txt"));

  expect(readFolder(folder).files.map((file) => file.path)).toEqual(["a.txt", "b.txt"]);
});

test("R1: isInside() compares whole names, not beginnings", () => {
  expect(isInside("/data/x", "/data")).toBe(true);
  expect(isInside("/data", "/data")).toBe(true);
  expect(isInside("/data/..x", "/data")).toBe(true);
  expect(isInside("/data-evil/x", "/data")).toBe(false);
  expect(isInside("/", "/data")).toBe(false);
  fc.assert(
    fc.property(fc.array(fc.constantFrom("..", ".", "a", "data", "data-evil", "%2e%2e")), (steps) => {
      const path = join("/data", ...steps);

      expect(isInside(path, "/data")).toBe(path === "/data" || path === "/data/" || path.startsWith("/data/"));
    }),
  );
});

test("R2: readFolder() never reads through a link that is put in the place of a folder or a file meanwhile", async () => {
  const outside = createFolder({ "run.py": "canary", "deep/run.py": "canary" });
  const folder = createFolder({ "SKILL.md": "hello", "scripts/run.py": "inside", "scripts/deep/run.py": "inside" });
  const swapper = startSwapping(folder, outside);
  const seen = new Set<string>();

  for (const end = performance.now() + 1500; performance.now() < end;) {
    for (const bytes of readFolder(folder).contents.values()) seen.add(Buffer.from(bytes).toString());
    // The other process gets its turn also on one core.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const swaps = await swapper.stop();

  expect(swaps).toBeGreaterThan(100);
  expect(seen).toContain("inside");
  expect(seen).not.toContain("canary");
});

test("R2: readRegularFile() does not follow a link that was put in the place of a file after it was listed", () => {
  const outside = createFolder({ "secret.txt": "secret" });
  const folder = createFolder({ "a.txt": "a" });
  rmSync(join(folder, "a.txt"));
  symlinkSync(join(outside, "secret.txt"), join(folder, "a.txt"));

  expect(readRegularFile(join(folder, "a.txt"), { maxBytes: 1000 })).toMatchObject({
    ok: false,
    code: "file-unreadable",
  });
});

test("R2: readRegularFile() notices that a folder on the way was exchanged after the path was resolved", () => {
  const outside = createFolder({ "a.txt": "secret" });
  const folder = createFolder({ "sub/a.txt": "a" });
  const file = join(realpathSync(folder), "sub/a.txt");
  rmSync(join(folder, "sub"), { recursive: true });
  symlinkSync(outside, join(folder, "sub"));

  expect(readRegularFile(file, { maxBytes: 1000 })).toMatchObject({ ok: true });
  expect(readRegularFile(file, { maxBytes: 1000, mustBe: file })).toMatchObject({
    ok: false,
    severity: "error",
    code: "file-moved",
  });
});

test("R16: readFolder() hashes exactly the bytes that it keeps, however often a file is rewritten meanwhile", async () => {
  const folder = createFolder({ "SKILL.md": "x".repeat(200_000) });
  const writer = spawn(process.execPath, ["-e", rewriteForever, join(folder, "SKILL.md")], { stdio: "ignore" });
  onTestFinished(() => void writer.kill("SIGKILL"));
  const digests = new Set<string>();

  for (const end = performance.now() + 1200; performance.now() < end;) {
    const { files, contents } = readFolder(folder);
    const [file] = files;
    expect(file?.digest).toBe(toDigest(contents.get("SKILL.md") ?? new Uint8Array()));
    expect(file?.bytes).toBe(contents.get("SKILL.md")?.length);
    digests.add(file?.digest ?? "");
    await new Promise((resolve) => setImmediate(resolve));
  }

  expect(digests.size).toBeGreaterThan(2);
});

test("readFolder() ends when the folder disappears while it is read", async () => {
  const parent = createFolder();
  const folder = join(parent, "skill");
  const script = `
    const { mkdirSync, rmSync, writeFileSync } = require("node:fs");
    for (;;) {
      mkdirSync(process.argv[1] + "/a/b", { recursive: true });
      for (let i = 0; i < 20; i++) writeFileSync(process.argv[1] + "/a/b/" + i, "x");
      rmSync(process.argv[1], { recursive: true, force: true });
    }`;
  const child = spawn(process.execPath, ["-e", script, folder], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const codes = new Set<string>();

  for (const end = performance.now() + 1200; performance.now() < end;) {
    for (const { code } of readFolder(folder).diagnostics) codes.add(code);
    await new Promise((resolve) => setImmediate(resolve));
  }

  expect(
    [...codes].filter((code) => !["folder-missing", "folder-unreadable", "file-unreadable"].includes(code)),
  ).toEqual([]);
  expect(codes.size).toBeGreaterThan(0);
});

test("readFolder() leaves no folder open", () => {
  const folder = createFolder({ "a/b/c/d.txt": "" });
  symlinkSync("/", join(folder, "a/out"));
  const before = readdirSync("/proc/self/fd").length;

  for (let round = 0; round < 50; round += 1) readFolder(folder, { maxDepth: round % 4 });

  expect(readdirSync("/proc/self/fd").length).toBe(before);
});

test("readFolder() takes names as they are, and shows the odd ones in quotes", () => {
  const names = [
    "line\nend",
    "tab\tname",
    "\u202Eevil",
    "ünïcode-é",
    "e\u0301",
    "日本語",
    "a b",
    "--flag",
    "$(touch x)",
    "\\back",
  ];
  const folder = createFolder(Object.fromEntries(names.map((name) => [name, "x"])));
  symlinkSync("/", join(folder, "bad\u0007link\n"));

  const { files, diagnostics } = readFolder(folder);

  expect(files.map((file) => file.path).toSorted()).toEqual(names.toSorted());
  expect(diagnostics[0]?.message).toBe('Cannot use the folder: "bad\\u0007link\\n" is a link that leaves it');
});

test("readFolder() leaves out a name that is not UTF-8, and says so", () => {
  const folder = createFolder({ "SKILL.md": "" });
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe, 0x41])]), "x");

  const { files, diagnostics } = readFolder(folder);

  expect(files.map((file) => file.path)).toEqual(["SKILL.md"]);
  expect(diagnostics).toMatchObject([{ severity: "warning", code: "file-unreadable" }]);
});

test("readFolder() leaves out what it may not read, and says so", () => {
  const folder = createFolder({ "SKILL.md": "", "secret.txt": "", "closed/a.txt": "" });
  chmodSync(join(folder, "secret.txt"), 0);
  chmodSync(join(folder, "closed"), 0);
  onTestFinished(() => chmodSync(join(folder, "closed"), 0o700));

  const snapshot = readFolder(folder);

  // The administrator may read everything.
  const isAll = process.getuid?.() === 0;
  expect(snapshot.files.map((file) => file.path)).toEqual(
    isAll ? ["SKILL.md", "closed/a.txt", "secret.txt"] : ["SKILL.md"],
  );
  expect(snapshot.diagnostics.map((one) => one.code)).toEqual(isAll ? [] : ["folder-unreadable", "file-unreadable"]);
});

test("readFolder() gives up on a folder with 10,000 files, or with many folders", () => {
  const files = createFolder({ f: "x" });
  // One file of many names is quickly made.
  for (let index = 0; index < 10_000; index += 1) linkSync(join(files, "f"), join(files, `f${index}`));
  const folders = createFolder();
  for (let index = 0; index < 300; index += 1) mkdirSync(join(folders, `d${index}`));

  const results = [readFolder(files), readFolder(folders, { maxItems: 200 })];

  expect(results.map(({ diagnostics }) => diagnostics.map((one) => one.code))).toEqual([
    ["folder-large"],
    ["folder-large"],
  ]);
});

test("readFolder() does not read a file of 200 MB, or one that never ends", () => {
  const folder = createFolder({ "SKILL.md": "" });
  truncateSync(writeEmpty(join(folder, "huge.bin")), 200 * 1024 * 1024);
  symlinkSync("/dev/zero", join(folder, "zero"));

  const { files, diagnostics } = readFolder(folder);

  expect(files.map((file) => file.path)).toEqual(["SKILL.md"]);
  expect(diagnostics.map((one) => [one.severity, one.code])).toEqual([
    ["error", "folder-large"],
    ["error", "link-outside"],
  ]);
});

test("readFolder() takes no notice of what editors and systems leave behind", () => {
  const before = createFolder({ "SKILL.md": "x" });
  const after = createFolder({ "SKILL.md": "x", ".DS_Store": "", ".SKILL.md.swp": "", "SKILL.md~": "", "4913": "" });
  symlinkSync("somebody@host.1234", join(after, ".#SKILL.md"));

  expect(readFolder(after).digest).toBe(readFolder(before).digest);
  expect(readFolder(after).diagnostics).toEqual([]);
});

const rewriteForever = `
  const { openSync, writeSync, closeSync } = require("node:fs");
  for (let round = 0; ; round++) {
    const file = openSync(process.argv[1], "r+");
    writeSync(file, String(round % 10).repeat(200000), 0);
    closeSync(file);
  }`;

/** Swaps folders of `folder` with links to `outside` in a process of its own, as fast as it can. */
function startSwapping(folder: string, outside: string): { stop(): Promise<number> } {
  const program = `
    const { renameSync, symlinkSync, rmSync, existsSync } = require("node:fs");
    const [folder, outside] = process.argv.slice(1);
    let swaps = 0;
    let running = true;
    process.on("SIGTERM", () => { running = false; });
    function swap(path, target) {
      renameSync(path, path + ".real");
      symlinkSync(target, path);
      rmSync(path);
      renameSync(path + ".real", path);
      swaps += 1;
    }
    function turn() {
      for (let round = 0; round < 50; round++) {
        swap(folder + "/scripts", outside);
        swap(folder + "/scripts/deep", outside);
        swap(folder + "/scripts/run.py", outside + "/run.py");
      }
      if (running) setImmediate(turn);
      else process.stdout.write(String(swaps));
    }
    turn();`;
  const child = spawn(process.execPath, ["-e", program, folder, outside], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return {
    async stop() {
      child.kill("SIGTERM");
      return Number(await text(child.stdout));
    },
  };
}

function writeEmpty(file: string): string {
  writeFileSync(file, "");
  return file;
}
