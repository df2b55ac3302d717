import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

import { afterEach, expect, test } from "vitest";

import type { Root } from "../wire/messages.ts";
import { errno } from "./errno.ts";
import { createGuest, type Guest } from "./guest.ts";
import { createWasi, type WasiImport } from "./wasi.ts";

const rightRead = 1n << 1n;
const rightWrite = 1n << 6n;
const create = 1;
const directoryOnly = 2;
const exclusive = 4;
const truncate = 8;
const follow = 1;

const leftovers: (() => void)[] = [];

afterEach(() => {
  for (const clean of leftovers.splice(0)) clean();
});

test("createWasi() offers no directory when nothing was granted", () => {
  const { call, close } = openGuest([]);

  const found = call("fd_prestat_get", 3, 0);

  expect(found).toBe(errno.badf);
  close();
});

test("path_open() reads a file below a granted directory", () => {
  const { inside } = makeTree();
  writeFileSync(join(inside, "a.txt"), "hello");
  const guest = openGuest([readOnly(inside)]);

  const text = guest.read("a.txt");

  expect(text).toBe("hello");
});

test.for([
  ["the directory above", "../secret.txt"],
  ["the directory above, after a step down", "sub/../../secret.txt"],
  ["many directories above", `${"../".repeat(40)}etc/passwd`],
  ["an absolute path", "/etc/passwd"],
  ["an absolute path to what was granted", "INSIDE/a.txt"],
  ["a link to a file outside", "file-link"],
  ["a link to a directory outside", "dir-link/secret.txt"],
  ["a link upwards", "up-link/secret.txt"],
  ["a link to a link out", "link-to-link"],
  ["a link in a directory below", "sub/deep-link/secret.txt"],
  ["the root through the kernel's own links", "proc-link/root/etc/passwd"],
] as const)("path_open() does not leave its directory by %s", ([, path]) => {
  const { inside } = makeTree();
  makeEvilLinks(inside);
  const guest = openGuest([readWrite(inside)]);

  const opened = guest.open(path.replace("INSIDE", inside), { flags: follow });

  expect(opened.errno).toBe(errno.notcapable);
});

test.for(["file-link", "dir-link", "up-link", "proc-link"])(
  "path_open() does not open the link %s when it may not follow links",
  (path) => {
    const { inside } = makeTree();
    makeEvilLinks(inside);
    const guest = openGuest([readWrite(inside)]);

    const opened = guest.open(path, { flags: 0 });

    expect(opened.errno).toBe(errno.loop);
  },
);

test("path_open() follows links that stay inside, also through the directory above", () => {
  const { inside } = makeTree();
  writeFileSync(join(inside, "sub/real.txt"), "inside");
  symlinkSync("sub/real.txt", join(inside, "down"));
  symlinkSync("../down", join(inside, "sub/round"));
  symlinkSync("sub", join(inside, "folder"));
  const guest = openGuest([readOnly(inside)]);

  const texts = ["down", "sub/round", "folder/real.txt", "folder/../down", "./sub//real.txt"].map((path) =>
    guest.read(path, follow),
  );

  expect(texts).toEqual(["inside", "inside", "inside", "inside", "inside"]);
});

test("path_open() ends in a circle of links with an error", () => {
  const { inside } = makeTree();
  symlinkSync("two", join(inside, "one"));
  symlinkSync("one", join(inside, "two"));
  const guest = openGuest([readOnly(inside)]);

  expect(guest.open("one", { flags: follow }).errno).toBe(errno.loop);
  expect(guest.open("one/x", { flags: follow }).errno).toBe(errno.loop);
});

test("path_open() never shows what is outside while somebody swaps a directory for a link", async () => {
  const { inside } = makeTree();
  mkdirSync(join(inside, "flip"));
  writeFileSync(join(inside, "flip/secret.txt"), "harmless");
  const swapper = await startSwapper(inside);
  const guest = openGuest([readWrite(inside)]);

  const seen = new Set<string>();
  for (let round = 0; round < 20_000; round += 1) {
    const opened = guest.open("flip/secret.txt", { flags: follow });
    if (opened.errno !== 0) seen.add(`error ${opened.errno}`);
    else {
      seen.add(guest.readAll(opened.fd));
      guest.call("fd_close", opened.fd);
    }
  }
  await swapper.terminate();

  expect(seen).not.toContain("secret");
  expect(seen).toContain("harmless");
});

test("path_open() writes only where writing was granted", () => {
  const { inside } = makeTree();
  writeFileSync(join(inside, "a.txt"), "hello");
  const guest = openGuest([readOnly(inside)]);

  const results = [
    guest.open("a.txt", { rights: rightRead | rightWrite }),
    guest.open("a.txt", { open: truncate }),
    guest.open("new.txt", { open: create | exclusive }),
    guest.open("new.txt", { open: create, rights: rightWrite }),
  ].map((opened) => opened.errno);

  expect(results).toEqual([errno.rofs, errno.rofs, errno.rofs, errno.rofs]);
  expect(readFileSync(join(inside, "a.txt"), "utf8")).toBe("hello");
  expect(readdirSync(inside)).not.toContain("new.txt");
});

test.for([
  ["path_create_directory", ["new"]],
  ["path_remove_directory", ["sub"]],
  ["path_unlink_file", ["a.txt"]],
] as const)("%s() is refused where only reading was granted", ([name, [path]]) => {
  const { inside } = makeTree();
  writeFileSync(join(inside, "a.txt"), "hello");
  const guest = openGuest([readOnly(inside)]);

  const result = guest.call(name, 3, ...guest.put(path));

  expect(result).toBe(errno.rofs);
  expect(readdirSync(inside).toSorted()).toEqual(["a.txt", "sub"]);
});

test("fd_write() writes, fd_seek() and fd_read() read it back, and the file is there", () => {
  const { inside } = makeTree();
  const guest = openGuest([readWrite(inside)]);
  const { fd } = guest.open("out.txt", { open: create, rights: rightRead | rightWrite });

  guest.write(fd, "one two");
  guest.call("fd_seek", fd, 4n, 0, 0);
  const rest = guest.readAll(fd);

  expect(rest).toBe("two");
  expect(readFileSync(join(inside, "out.txt"), "utf8")).toBe("one two");
});

test("fd_write() appends to a file that was opened for that", () => {
  const { inside } = makeTree();
  writeFileSync(join(inside, "log"), "one\n");
  const guest = openGuest([readWrite(inside)]);
  const { fd } = guest.open("log", { rights: rightWrite, state: 1 });

  guest.write(fd, "two\n");

  expect(readFileSync(join(inside, "log"), "utf8")).toBe("one\ntwo\n");
});

test("fd_pwrite(), fd_allocate() and fd_filestat_set_size() make no file larger than the limit", () => {
  const { inside } = makeTree();
  const guest = openGuest([readWrite(inside)], { fileBytes: 1000 });
  const { fd } = guest.open("big", { open: create, rights: rightRead | rightWrite });

  const results = [
    guest.call("fd_pwrite", fd, ...guest.vector("xx"), 999n, 0),
    guest.call("fd_allocate", fd, 0n, 1001n),
    guest.call("fd_filestat_set_size", fd, 1n << 40n),
    guest.call("fd_filestat_set_size", fd, 1000n),
  ];

  expect(results).toEqual([errno.fbig, errno.fbig, errno.fbig, 0]);
  expect(lstatSync(join(inside, "big")).size).toBe(1000);
});

test.for([
  ["an absolute target", "/etc/passwd"],
  ["a target above", "../secret.txt"],
  ["a target above after a step down", "sub/../../x"],
] as const)("path_symlink() makes no link with %s", ([, target]) => {
  const { inside } = makeTree();
  const guest = openGuest([readWrite(inside)]);

  const result = guest.call("path_symlink", ...guest.put(target, 4000), 3, ...guest.put("new-link"));

  expect(result).toBe(errno.notcapable);
  expect(readdirSync(inside)).toEqual(["sub"]);
});

test("path_symlink() makes a link that goes down, and path_readlink() reads it", () => {
  const { inside } = makeTree();
  const guest = openGuest([readWrite(inside)]);

  guest.call("path_symlink", ...guest.put("sub", 4000), 3, ...guest.put("new-link"));
  guest.call("path_readlink", 3, ...guest.put("new-link"), 5000, 100, 0);

  expect(guest.text(5000, 3)).toBe("sub");
});

test("path_link() gives no second name to a file that may only be read", () => {
  const { inside, outside } = makeTree();
  const guest = openGuest([readOnly(outside), readWrite(inside)]);

  const result = guest.call("path_link", 3, 0, ...guest.put("secret.txt", 4000), 4, ...guest.put("mine"));

  expect(result).toBe(errno.rofs);
  expect(readdirSync(inside)).toEqual(["sub"]);
});

test("path_rename() moves nothing out of a directory that may only be read, nor into it", () => {
  const { inside, outside } = makeTree();
  writeFileSync(join(inside, "a.txt"), "hello");
  const guest = openGuest([readOnly(outside), readWrite(inside)]);

  const results = [
    guest.call("path_rename", 3, ...guest.put("secret.txt", 4000), 4, ...guest.put("mine")),
    guest.call("path_rename", 4, ...guest.put("a.txt", 4000), 3, ...guest.put("theirs")),
    guest.call("path_rename", 4, ...guest.put("a.txt", 4000), 4, ...guest.put("../theirs")),
    guest.call("path_rename", 4, ...guest.put("a.txt", 4000), 4, ...guest.put("b.txt")),
  ];

  expect(results).toEqual([errno.rofs, errno.rofs, errno.notcapable, 0]);
  expect(readdirSync(outside).toSorted()).toEqual(["inside", "secret.txt"]);
});

test("path_unlink_file() removes a link, not what it leads to", () => {
  const { inside, outside } = makeTree();
  makeEvilLinks(inside);
  const guest = openGuest([readWrite(inside)]);

  const result = guest.call("path_unlink_file", 3, ...guest.put("file-link"));

  expect(result).toBe(0);
  expect(existsSync(join(outside, "secret.txt"))).toBe(true);
});

test.for(["path_filestat_get", "path_filestat_set_times"] as const)(
  "%s() tells and changes nothing outside",
  (name) => {
    const { inside, outside } = makeTree();
    makeEvilLinks(inside);
    const guest = openGuest([readWrite(inside)]);
    const before = lstatSync(join(outside, "secret.txt")).mtimeMs;

    const rest = name === "path_filestat_get" ? [2000] : [1n, 1n, 5];
    const result = guest.call(name, 3, follow, ...guest.put("file-link"), ...rest);

    expect(result).toBe(errno.notcapable);
    expect(lstatSync(join(outside, "secret.txt")).mtimeMs).toBe(before);
  },
);

test("path_open() opens no pipe, device or socket, and does not wait for one", () => {
  const { inside } = makeTree();
  execFileSync("mkfifo", [join(inside, "pipe")]);
  const guest = openGuest([readWrite(inside)]);

  const results = [guest.open("pipe"), guest.open("pipe", { rights: rightRead | rightWrite })];

  expect(results.map((opened) => opened.errno)).toEqual([errno.acces, errno.acces]);
});

test("path_open() shows of a directory only the single file that was granted", () => {
  const { inside } = makeTree();
  writeFileSync(join(inside, "mine.txt"), "mine");
  writeFileSync(join(inside, "theirs.txt"), "theirs");
  symlinkSync("theirs.txt", join(inside, "link"));
  const guest = openGuest([{ name: "/data", path: inside, only: { "mine.txt": "read", link: "read" } }]);

  const results = ["theirs.txt", "sub", "sub/../theirs.txt", "link"].map((path) => guest.open(path, { flags: follow }));

  expect(guest.read("mine.txt")).toBe("mine");
  expect(results.map((opened) => opened.errno)).toEqual(Array.from({ length: 4 }, () => errno.noent));
  expect(guest.list(3)).toEqual([".", "..", "link", "mine.txt"]);
  expect(guest.list(guest.open(".").fd)).toEqual([".", "..", "link", "mine.txt"]);
});

test("path_open() gives a directory from which nothing above can be reached", () => {
  const { inside } = makeTree();
  writeFileSync(join(inside, "a.txt"), "hello");
  const guest = openGuest([readOnly(inside)]);
  const { fd } = guest.open("sub", { open: directoryOnly });

  const above = guest.open("../a.txt", { from: fd });

  expect(above.errno).toBe(errno.notcapable);
});

test("fd_readdir() lists a directory, however small the room", () => {
  const { inside } = makeTree();
  const names = Array.from({ length: 50 }, (_, index) => `file-${String(index).padStart(3, "0")}`);
  for (const name of names) writeFileSync(join(inside, name), "");
  const guest = openGuest([readOnly(inside)]);

  const listed = guest.list(3, 64);

  expect(listed).toEqual([".", "..", ...names, "sub"]);
});

test("fd_filestat_get() tells size and kind", () => {
  const { inside } = makeTree();
  writeFileSync(join(inside, "a.txt"), "hello");
  const guest = openGuest([readOnly(inside)]);
  const { fd } = guest.open("a.txt");

  guest.call("fd_filestat_get", fd, 2000);

  expect(guest.view().getBigUint64(2032, true)).toBe(5n);
  expect(guest.view().getUint8(2016)).toBe(4);
});

test("fd_filestat_get() tells which file it is, not which it was, after a hard link", () => {
  const { inside } = makeTree();
  writeFileSync(join(inside, "a.txt"), "hello");
  linkSync(join(inside, "a.txt"), join(inside, "b.txt"));
  const guest = openGuest([readOnly(inside)]);

  guest.call("fd_filestat_get", guest.open("a.txt").fd, 2000);
  guest.call("fd_filestat_get", guest.open("b.txt").fd, 2100);

  expect(guest.view().getBigUint64(2008, true)).toBe(guest.view().getBigUint64(2108, true));
});

test("path_open() has a limit for what is open, and fd_close() makes room", () => {
  const { inside } = makeTree();
  writeFileSync(join(inside, "a.txt"), "hello");
  const guest = openGuest([readOnly(inside)]);

  const results = Array.from({ length: 200 }, () => guest.open("a.txt").errno);
  guest.call("fd_close", 10);

  expect(results.filter((result) => result === 0)).toHaveLength(124);
  expect(results.at(-1)).toBe(errno.mfile);
  expect(guest.open("a.txt")).toEqual({ errno: 0, fd: 10 });
});

test("close() closes everything that a module left open", () => {
  const { inside } = makeTree();
  writeFileSync(join(inside, "a.txt"), "hello");
  const before = readdirSync("/proc/self/fd").length;
  const guest = openGuest([readOnly(inside)]);
  for (let round = 0; round < 20; round += 1) guest.open("a.txt");
  for (const path of ["../x", "sub/../..", "sub/none/x", "a.txt/x"]) guest.open(path);

  guest.close();

  expect(readdirSync("/proc/self/fd")).toHaveLength(before);
});

test.for([
  ["an empty path", "", errno.noent],
  ["a NUL", "a\0b", errno.inval],
  ["a path that is too long", "a/".repeat(3000), errno.nametoolong],
  ["a path that goes too deep", `sub/${"d/".repeat(70)}`, errno.nametoolong],
  ["a file as a directory", "a.txt/b", errno.notdir],
  ["a slash after a file", "a.txt/", errno.notdir],
  ["a file that is not there", "none", errno.noent],
  ["a name of the prototype", "__proto__", errno.noent],
] as const)("path_open() answers with an error for %s", ([, path, expected]) => {
  const { inside } = makeTree();
  writeFileSync(join(inside, "a.txt"), "hello");
  mkdirSync(join(inside, "sub", "d/".repeat(70)), { recursive: true });
  const guest = openGuest([readOnly(inside)]);

  expect(guest.open(path).errno).toBe(expected);
});

test("path_open() answers with an error for a name that is not UTF-8", () => {
  const { inside } = makeTree();
  const guest = openGuest([readOnly(inside)]);
  guest.view().setUint8(1024, 0xff);

  expect(guest.call("path_open", 3, 0, 1024, 1, 0, rightRead, 0n, 0, 0)).toBe(errno.ilseq);
});

test("path_open() opens nothing for a module that has no room for the number", () => {
  const { inside } = makeTree();
  const guest = openGuest([readWrite(inside)]);

  const result = guest.call("path_open", 3, 0, ...guest.put("new"), create, rightWrite, 0n, 0, 65_535);

  expect(result).toBe(errno.fault);
  expect(readdirSync(inside)).toEqual(["sub"]);
});

function makeTree(): { inside: string; outside: string } {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-wasi-")));
  leftovers.push(() => rmSync(outside, { recursive: true, force: true }));
  const inside = join(outside, "inside");
  mkdirSync(join(inside, "sub"), { recursive: true });
  writeFileSync(join(outside, "secret.txt"), "secret");
  return { inside, outside };
}

function makeEvilLinks(inside: string): void {
  const outside = join(inside, "..");
  symlinkSync(join(outside, "secret.txt"), join(inside, "file-link"));
  symlinkSync(outside, join(inside, "dir-link"));
  symlinkSync("..", join(inside, "up-link"));
  symlinkSync("file-link", join(inside, "link-to-link"));
  symlinkSync("../..", join(inside, "sub/deep-link"));
  symlinkSync("/proc/self", join(inside, "proc-link"));
}

/** Exchanges `flip` for a link to the directory above, again and again, as fast as it can. */
async function startSwapper(inside: string): Promise<Worker> {
  const program = `
    const { renameSync, symlinkSync } = require("node:fs");
    const { workerData, parentPort } = require("node:worker_threads");
    symlinkSync("..", workerData + "/evil");
    parentPort.postMessage("ready");
    for (;;) {
      renameSync(workerData + "/flip", workerData + "/good");
      renameSync(workerData + "/evil", workerData + "/flip");
      renameSync(workerData + "/flip", workerData + "/evil");
      renameSync(workerData + "/good", workerData + "/flip");
    }`;
  const worker = new Worker(program, { eval: true, workerData: inside });
  await new Promise((resolve) => worker.once("message", resolve));
  return worker;
}

const readOnly = (path: string): Root => ({ name: path, path, access: "read", only: {} });
const readWrite = (path: string): Root => ({ name: path, path, access: "write", only: {} });

interface Opening {
  readonly from?: number;
  readonly flags?: number;
  readonly open?: number;
  readonly rights?: bigint;
  readonly state?: number;
}

interface TestGuest extends Guest {
  call(name: string, ...values: readonly (number | bigint)[]): number;
  /** Puts a text into memory, and answers with its place and length. */
  put(text: string, place?: number): [place: number, length: number];
  /** The same as a list of one buffer. */
  vector(text: string): [place: number, count: number];
  open(path: string, opening?: Opening): { errno: number; fd: number };
  read(path: string, flags?: number): string;
  readAll(fd: number): string;
  write(fd: number, text: string): number;
  list(fd: number, room?: number): string[];
  close(): void;
}

/** A module that does nothing but what the test does in its name. */
function openGuest(roots: readonly Root[], { fileBytes = 2 ** 20 } = {}): TestGuest {
  const guest = createGuest();
  guest.attach({ buffer: new ArrayBuffer(65_536) });
  const ignore = (): void => {};
  const facts = { roots, input: new Uint8Array(0), args: [], environment: {} };
  const wasi = createWasi({ ...facts, guest, fileBytes, writeOutput: ignore, writeError: ignore });
  let isOpen = true;
  const test: TestGuest = {
    ...guest,
    call: (name, ...values) => (wasi.imports[name] as WasiImport)(...(values as never[])),
    put(text, place = 1024) {
      const bytes = Buffer.from(text);
      guest.setBytes(place, bytes);
      return [place, bytes.length];
    },
    vector(text) {
      const [place, length] = test.put(text, 8192);
      guest.set32(64, place);
      guest.set32(68, length);
      return [64, 1];
    },
    open(path, { from = 3, flags = 0, open = 0, rights = rightRead, state = 0 } = {}) {
      const result = test.call("path_open", from, flags, ...test.put(path), open, rights, 0n, state, 0);
      return { errno: result, fd: guest.view().getUint32(0, true) };
    },
    read(path, flags = 0) {
      const opened = test.open(path, { flags });
      return opened.errno === 0 ? test.readAll(opened.fd) : `error ${opened.errno}`;
    },
    readAll(fd) {
      guest.set32(64, 8192);
      guest.set32(68, 4096);
      const result = test.call("fd_read", fd, 64, 1, 0);
      return result === 0 ? guest.text(8192, guest.view().getUint32(0, true)) : `error ${result}`;
    },
    write: (fd, text) => test.call("fd_write", fd, ...test.vector(text), 0),
    list: (fd, room = 4096) => listAll(test, fd, room),
    close() {
      if (isOpen) wasi.close();
      isOpen = false;
    },
  };
  leftovers.push(() => test.close());
  return test;
}

function listAll(guest: TestGuest, fd: number, room: number): string[] {
  const names: string[] = [];
  let cookie = 0n;
  for (;;) {
    guest.call("fd_readdir", fd, 8192, room, cookie, 0);
    const used = guest.view().getUint32(0, true);
    let place = 8192;
    const before = names.length;
    while (place + 24 <= 8192 + used) {
      const length = guest.view().getUint32(place + 16, true);
      if (place + 24 + length > 8192 + used) break;
      cookie = guest.view().getBigUint64(place, true);
      names.push(guest.text(place + 24, length));
      place += 24 + length;
    }
    if (used < room || names.length === before) return names.toSorted();
  }
}
