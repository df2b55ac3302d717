import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, onTestFinished, test, vi } from "vitest";

import {
  countInstalled,
  leftovers,
  openDependencies,
  openTestIndex,
  problemOf,
  pythonRequest,
  readInstalled,
} from "../../../test/support/dependency-bench.ts";
import { makeNpmPackage, makeWheel, type PackageFile } from "../../../test/support/make-packages.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import type { TestIndex } from "../../../test/support/package-index.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { findSandbox } from "../../sandbox/find-sandbox.ts";
import type { DependencyProgress, PreparedDependencies } from "./dependency-request.ts";

// Installers take seconds, and much longer beside other tests.
vi.setConfig({ testTimeout: 120_000 });

const hello = makeWheel({ name: "hello" });

test("prepare() does nothing for a script that needs nothing", async () => {
  const dependencies = await openDependencies({ offline: true });

  expect(await dependencies.prepare(pythonRequest())).toEqual({ mounts: [], environment: {} });
  expect(await dependencies.prepare({ language: "node", packages: {} })).toEqual({ mounts: [], environment: {} });
  expect(readdirSync(dependencies.home)).toEqual([]);
});

test.for([
  ["bubblewrap", "bwrap"],
  ["unshare", "unshare"],
  ["off", "sh"],
] as const)("prepare() installs in the sandbox %s", async ([name, program], context) => {
  for (const needed of [program, "/usr/bin/python3"]) needProgram(context, needed);
  const sandbox = await findSandbox({ name });
  onTestFinished(() => sandbox.close());
  const left = makeNpmPackage({ name: "left" });
  const { index } = await openTestIndex({ wheels: [hello], npm: [left] });
  const fromIndex = await openDependencies({ sandbox, index });
  const fromFolder = await openDependencies({ sandbox, wheelhouse: createFolder({ [left.file]: left.bytes }) });

  const python = await fromIndex.prepare(pythonRequest("hello"));
  const node = await fromIndex.prepare({ language: "node", packages: { left: "*" } });
  const folder = await fromFolder.prepare({ language: "node", packages: { left: "*" } });

  expect([...readInstalled(python).keys()]).toContain("/hello.py");
  expect([...readInstalled(node).keys()]).toContain("/left/index.cjs");
  expect(readInstalled(folder)).toEqual(readInstalled(node));
  const place = sandbox.keepsPaths === true ? python.mounts[0]?.source : "/opt/packages/python";
  expect(python.environment["PYTHONPATH"]).toBe(place);
});

test("prepare() never uses what another source gave, also for the same Python request", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const wheels = ["index", "first", "second"].map((from) =>
    makeWheel({ name: "hello", files: { "hello.py": `source = ${JSON.stringify(from)}` } }),
  );
  const [fromIndex, first, second] = wheels as [PackageFile, PackageFile, PackageFile];
  const { index } = await openTestIndex({ wheels: [fromIndex] });
  const home = createFolder();
  const sources = [first, second].map(({ file, bytes }) => ({ wheelhouse: createFolder({ [file]: bytes }) }));

  const found = [];
  for (const source of [...sources, { index }, ...sources]) {
    const prepared = await (await openDependencies({ home, ...source })).prepare(pythonRequest("hello"));
    found.push(readText(prepared, "/hello.py"));
  }

  const expected = ["first", "second", "index", "first", "second"];
  expect(found).toEqual(expected.map((from) => `source = ${JSON.stringify(from)}`));
});

test("prepare() never uses what another source gave, also for the same npm request", async () => {
  const packages = ["first", "second"].map((from) => makeNpmPackage({ name: "left", files: { "from.txt": from } }));
  const home = createFolder();

  const found = [];
  for (const { file, bytes } of packages) {
    const dependencies = await openDependencies({ home, wheelhouse: createFolder({ [file]: bytes }) });
    const prepared = await dependencies.prepare({ language: "node", packages: { left: "1.0.0" } });
    found.push(readText(prepared, "/left/from.txt"));
  }

  expect(found).toEqual(["first", "second"]);
});

test("prepare() installs again where a file of the folder was replaced", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const [before, after] = ["before", "after, and longer"].map((from) =>
    makeWheel({ name: "hello", files: { "hello.py": `source = ${JSON.stringify(from)}` } }),
  ) as [PackageFile, PackageFile];
  const wheelhouse = createFolder({ [before.file]: before.bytes });
  const dependencies = await openDependencies({ wheelhouse });
  await dependencies.prepare(pythonRequest("hello"));
  writeFileSync(join(wheelhouse, after.file), after.bytes);

  const prepared = await dependencies.prepare(pythonRequest("hello"));

  expect(readText(prepared, "/hello.py")).toBe('source = "after, and longer"');
});

test("prepare() tells what it does, and about which package", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const told: DependencyProgress[] = [];
  const { index } = await openTestIndex({ wheels: [hello] });
  const dependencies = await openDependencies({ index, onProgress: (progress) => told.push(progress) });

  await dependencies.prepare(pythonRequest("hello"));

  expect(told).toEqual([
    { language: "python", step: "resolve" },
    { language: "python", step: "resolve", package: "hello" },
    { language: "python", step: "download", package: "hello" },
    { language: "python", step: "install" },
    { language: "python", step: "ready" },
  ]);
});

test("prepare() says that there is no network and nothing installed", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const dependencies = await openDependencies({ offline: true });

  const attempt = dependencies.prepare(pythonRequest("hello"));

  await expect(attempt).rejects.toThrow(
    'Cannot install the Python package "hello": it is not installed yet, and there is no network; run once with a network, or give a folder of packages (KITBAG_WHEELHOUSE, or wheelhouse in a program)',
  );
  expect(leftovers(dependencies.home)).toEqual([]);
});

test("prepare() installs the packages that the script imports where not all can be installed", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const left = makeNpmPackage({ name: "left" });
  const wheelhouse = createFolder({ [hello.file]: hello.bytes, [left.file]: left.bytes });
  const dependencies = await openDependencies({ wheelhouse });

  const python = await dependencies.prepare({ ...pythonRequest("hello", "missing"), imported: ["hello"] });
  const node = await dependencies.prepare({
    language: "node",
    packages: { left: "*", missing: "*" },
    imported: ["left"],
  });
  const none = await dependencies.prepare({ ...pythonRequest("missing"), imported: [] });

  expect([...readInstalled(python).keys()]).toContain("/hello.py");
  expect([...readInstalled(node).keys()]).toContain("/left/index.cjs");
  expect(none).toEqual({ mounts: [], environment: {} });
});

test("prepare() says which package is missing that the script imports", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const dependencies = await openDependencies({ offline: true });

  const both = pythonRequest("hello", "missing");

  await expect(dependencies.prepare({ ...both, imported: ["missing"] })).rejects.toThrow(
    'Cannot install the Python package "missing": it is not installed yet',
  );
  await expect(dependencies.prepare(both)).rejects.toThrow(
    "hello, missing are not all installed yet, and there is no network",
  );
});

test("prepare() refuses an index that is no address", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const dependencies = await openDependencies({ index: { python: "file:///etc" } });

  await expect(dependencies.prepare(pythonRequest("hello"))).rejects.toMatchObject({ code: "option-invalid" });
});

test.for([
  ["answers with errors", 500],
  ["forbids it", 403],
] as const)("prepare() says that the index %s", async ([, status], context) => {
  needProgram(context, "/usr/bin/python3");
  const { index } = await openTestIndex({ instead: (_, response) => fail(response, status) });
  const dependencies = await openDependencies({ index });

  const found = await problemOf(dependencies.prepare(pythonRequest("hello")));

  expect(found).toMatchObject({ problem: "index" });
  expect(found.reason).toContain(String(status));
  expect(leftovers(dependencies.home)).toEqual([]);
});

test("prepare() says that the index is not there", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const { index, close } = await openTestIndex({});
  close();
  const dependencies = await openDependencies({ index });

  expect(await problemOf(dependencies.prepare(pythonRequest("hello")))).toMatchObject({ problem: "index" });
});

test("prepare() gives up on an index that does not answer", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const { index } = await openTestIndex({ instead: () => true });
  const dependencies = await openDependencies({ index, limitMs: 2500 });

  const found = await problemOf(dependencies.prepare(pythonRequest("hello")));

  expect(found).toMatchObject({ problem: "timeout", reason: "it was not done after 2500 ms" });
  expect(leftovers(dependencies.home)).toEqual([]);
});

test("prepare() stops an index that sends without end", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const { index } = await openTestIndex({
    wheels: [hello],
    instead: (request, response) => request.url?.endsWith(".whl") === true && flood(response),
  });
  const dependencies = await openDependencies({ index, maxBytes: 16 * 1024 * 1024 });

  const found = await problemOf(dependencies.prepare(pythonRequest("hello")));

  expect(found).toMatchObject({ problem: "too-large", reason: "it needs more than 16777216 bytes" });
  expect(leftovers(dependencies.home)).toEqual([]);
});

test("prepare() does not follow an index to another host", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const other = await openTestIndex({ wheels: [hello] });
  const { index } = await openTestIndex({
    instead(request, response) {
      response.writeHead(302, { location: `${other.url}${request.url ?? ""}` }).end();
      return true;
    },
  });
  const dependencies = await openDependencies({ index });

  const found = await problemOf(dependencies.prepare(pythonRequest("hello")));

  expect(found).toMatchObject({ problem: "other-host" });
  expect(found.reason).toContain(other.host);
  expect(other.asked).toEqual([]);
});

test("prepare() follows an index to a host that belongs to it", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const other = await openTestIndex({ wheels: [hello] });
  const { index } = await openTestIndex({
    instead(request, response) {
      response.writeHead(302, { location: `${other.url}${request.url ?? ""}` }).end();
      return true;
    },
  });
  const dependencies = await openDependencies({ index: { ...index, hosts: [other.host] } });

  const { lock } = await dependencies.prepare(pythonRequest("hello"));

  expect(lock?.packages).toMatchObject([{ name: "hello", version: "1.0" }]);
});

test("prepare() installs once for all who ask at the same time", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const { index, asked } = await openTestIndex({ wheels: [hello] });
  const dependencies = await openDependencies({ index });

  const all = await Promise.all(Array.from({ length: 5 }, () => dependencies.prepare(pythonRequest("hello"))));

  expect(new Set(all.map((one) => one.mounts[0]?.source)).size).toBe(1);
  expect(asked.filter((path) => path.endsWith(".whl"))).toHaveLength(1);
});

test("prepare() goes on for the others when one of them leaves", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const { index } = await openTestIndex({ wheels: [hello] });
  const dependencies = await openDependencies({ index });
  const leaving = new AbortController();

  const left = dependencies.prepare(pythonRequest("hello"), leaving.signal);
  const stays = dependencies.prepare(pythonRequest("hello"));
  leaving.abort(new Error("no longer needed"));

  await expect(left).rejects.toThrow("no longer needed");
  expect((await stays).lock?.packages).toHaveLength(1);
});

test("prepare() stops at once when it is aborted, leaves nothing behind, and can be asked again", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const gate = Promise.withResolvers<void>();
  let hangs = true;
  const { index } = await openTestIndex({
    wheels: [hello],
    instead(request) {
      if (hangs && request.url?.endsWith(".whl") === true) gate.resolve();
      return hangs && request.url?.endsWith(".whl") === true;
    },
  });
  const dependencies = await openDependencies({ index });
  const stop = new AbortController();

  const attempt = dependencies.prepare(pythonRequest("hello"), stop.signal);
  void gate.promise.then(() => stop.abort(new Error("enough")));
  await expect(attempt).rejects.toThrow("enough");
  const left = leftovers(dependencies.home);
  hangs = false;
  const prepared = await dependencies.prepare(pythonRequest("hello"));

  expect(left).toEqual([]);
  expect(prepared.lock?.packages).toHaveLength(1);
});

test("prepare() of several processes installs once", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const index = await openTestIndex({ wheels: [hello] });
  const home = createFolder();

  const printed = await Promise.all([0, 1].map(() => output(startProcess(index, home))));

  expect(printed).toEqual(["hello 1.0", "hello 1.0"]);
  expect(index.asked.filter((path) => path.endsWith(".whl"))).toHaveLength(1);
  expect(leftovers(home)).toEqual([]);
});

test("prepare() takes over from a process that was killed, and removes what it left", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const reached = Promise.withResolvers<void>();
  let hangs = true;
  const index = await openTestIndex({
    wheels: [hello],
    instead(request) {
      if (!hangs || request.url?.endsWith(".whl") !== true) return false;
      reached.resolve();
      return true;
    },
  });
  const dependencies = await openDependencies({ index: index.index });
  const killed = startProcess(index, dependencies.home);
  await reached.promise;
  killed.kill("SIGKILL");
  await once(killed, "exit");
  hangs = false;
  const before = leftovers(dependencies.home);

  const prepared = await dependencies.prepare(pythonRequest("hello"));

  expect(before).not.toEqual([]);
  expect(prepared.lock?.packages).toHaveLength(1);
  expect(leftovers(dependencies.home).filter((name) => name.includes("making"))).toEqual([]);
});

test("prepare() says that the disk is full, and leaves nothing half done", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const { skip } = context;
  skip(process.getuid?.() !== 0, "only root can make a small disk");
  const home = smallDisk("1m");
  const files = { "hello.py": `text = "${"x".repeat(1_500_000)}"\n` };
  const { index } = await openTestIndex({ wheels: [makeWheel({ name: "hello", files })] });
  const dependencies = await openDependencies({ index, home });

  const found = await problemOf(dependencies.prepare(pythonRequest("hello")));

  expect(found).toMatchObject({ problem: "disk", reason: "there is no space left on the disk" });
  expect(found.cure).toContain("KITBAG_HOME");
  expect(countInstalled(home)).toBe(0);
  expect(leftovers(home)).toEqual([]);
});

test("prepare() stops a package that unpacks to more than there may be", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const files = Object.fromEntries(
    Array.from({ length: 8 }, (_, index) => [`hello/part${index}.py`, `x = "${"0".repeat(1_000_000)}"\n`]),
  );
  const { index } = await openTestIndex({ wheels: [makeWheel({ name: "hello", files })] });
  const dependencies = await openDependencies({ index, maxBytes: 4_000_000 });

  const found = await problemOf(dependencies.prepare(pythonRequest("hello")));

  expect(found.problem).toBe("too-large");
  expect(countInstalled(dependencies.home)).toBe(0);
});

function readText(prepared: PreparedDependencies, path: string): string {
  return Buffer.from(readInstalled(prepared).get(path) ?? "", "base64").toString();
}

function fail(response: ServerResponse, status: number): boolean {
  response.statusCode = status;
  response.end("no");
  return true;
}

function flood(response: ServerResponse): boolean {
  const bytes = Buffer.alloc(1024 * 1024);
  const send = (): void => {
    while (!response.destroyed && response.write(bytes));
  };
  response.writeHead(200, { "content-length": 1024 ** 3 });
  response.on("drain", send);
  send();
  return true;
}

/** Another process that prepares the same, and prints what was locked. */
function startProcess({ index }: TestIndex, home: string): ChildProcess {
  const folder = createFolder();
  const source = join(import.meta.dirname, "..", "..");
  const program = `
    import { createDependencies } from "${source}/packages/install/create-dependencies.ts";
    import { findSandbox } from "${source}/sandbox/find-sandbox.ts";
    const sandbox = await findSandbox();
    const dependencies = createDependencies({ sandbox, home: ${JSON.stringify(home)}, index: ${JSON.stringify(index)} });
    const { lock } = await dependencies.prepare(${JSON.stringify(pythonRequest("hello"))});
    console.log(lock.packages.map(({ name, version }) => name + " " + version).join());
    await sandbox.close();
  `;
  writeFileSync(join(folder, "program.mjs"), program);
  const child = spawn(process.execPath, [join(folder, "program.mjs")], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function output(child: ChildProcess): Promise<string> {
  return child.stdout === null ? "" : (await text(child.stdout)).trim();
}

function smallDisk(size: string): string {
  const folder = join(createFolder(), "home");
  mkdirSync(folder);
  execFileSync("/usr/bin/mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder]);
  onTestFinished(async () => {
    await sleep(50);
    execFileSync("/usr/bin/umount", ["--lazy", folder]);
  });
  return folder;
}
