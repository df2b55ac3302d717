import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";

import { expect, onTestFinished, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

test("setup installs once, and again when the lock file changes", async () => {
  const clone = freshClone({ install: "node scripts/mark.mjs" });

  await setup(clone, []);
  await setup(clone, []);
  const before = installs(clone);
  writeFileSync(join(clone, "package-lock.json"), '{ "changed": true }');
  await setup(clone, []);

  expect(before).toEqual(["ci --loglevel=error"]);
  expect(installs(clone)).toEqual(["ci --loglevel=error", "ci --loglevel=error"]);
});

test("setup runs the command with the Node that was just installed, and passes on its arguments, output and exit code", async () => {
  const installNode =
    "mkdir -p node_modules/.bin; printf '#!/bin/sh\\necho \"new node: $*\"; exit 3' > node_modules/.bin/node";
  const clone = freshClone({
    install: `node scripts/mark.mjs; ${installNode}; chmod +x node_modules/.bin/node; echo noise`,
  });

  const { code, stdout } = await setup(clone, ["node", "a b", "--flag"]);

  expect(stdout).toBe("new node: a b --flag\n");
  expect(code).toBe(3);
});

test("setup says what to do when the installation fails, and does not run the command", async () => {
  const clone = freshClone({ install: "exit 1" });

  const { code, stdout, stderr } = await setup(clone, ["node", "--version"]);

  expect(stderr).toContain(
    'Cannot install the dependencies: "npm ci" failed; check the network and run the command again',
  );
  expect(stdout).toBe("");
  expect(code).toBe(1);
});

test("setup says that a command does not exist", async () => {
  const clone = freshClone({ install: "node scripts/mark.mjs" });

  const { code, stderr } = await setup(clone, ["no-such-command"]);

  expect(stderr).toContain("Cannot run no-such-command: spawn no-such-command ENOENT");
  expect(code).toBe(1);
});

test("prepare leaves a clone without development dependencies alone, and says so", async () => {
  const clone = freshClone({ install: "" });
  cpSync(join(root, "scripts/prepare.mjs"), join(clone, "scripts/prepare.mjs"));

  const { code, stderr } = await run(clone, ["scripts/prepare.mjs"]);

  expect(stderr).toContain("Not building dist/: the development dependencies are not installed");
  expect(code).toBe(0);
});

test("npx kitbag in a clone prints what Kitbag prints, and builds nothing again, on a Node that is older than the package needs", async () => {
  const clone = freshClone({ install: "" });
  rmSync(join(clone, "bin"), { recursive: true });
  for (const name of [".npmrc", "scripts/prepare.mjs"]) cpSync(join(root, name), join(clone, name));
  mkdirSync(join(clone, "node_modules/rolldown"), { recursive: true });
  mkdirSync(join(clone, "dist/cli"), { recursive: true });
  writeFileSync(join(clone, "dist/cli/main.js"), '#!/usr/bin/env node\nconsole.log("started");\n', { mode: 0o755 });
  const { name, bin, scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as PackageManifest;
  const described = { name, version: "0.1.0", bin, scripts: { prepare: scripts.prepare }, engines: { node: ">=999" } };
  writeFileSync(join(clone, "package.json"), JSON.stringify(described));
  // A setting that npm does not know, as users have them.
  writeFileSync(join(clone, "user.npmrc"), "nodedir=/usr\n");

  const first = await npx(clone, ["kitbag"]);
  const second = await npx(clone, ["kitbag"]);

  expect(existsSync(join(clone, "node_modules/.kitbag-ready"))).toBe(false);
  const expected = { code: 0, stdout: "started\n", stderr: "" };
  expect([first, second]).toEqual([expected, expected]);
});

interface PackageManifest {
  readonly name: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly scripts: { readonly prepare: string };
}

/** Runs npx with a cache and settings of its own: the tests may have been started by one. */
async function npx(clone: string, args: readonly string[]): Promise<Result> {
  const env = {
    PATH: process.env["PATH"],
    HOME: clone,
    NPM_CONFIG_USERCONFIG: join(clone, "user.npmrc"),
    NPM_CONFIG_CACHE: join(clone, "cache"),
  };
  return start("npx", args, { cwd: clone, env });
}

/** A folder with the set-up scripts and an `npm` that notes its arguments, then does `install`. */
function freshClone({ install }: { install: string }): string {
  const clone = mkdtempSync(join(tmpdir(), "kitbag-setup-"));
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }));
  for (const name of ["scripts", "bin"]) mkdirSync(join(clone, name));
  for (const name of ["setup.mjs", "ready.mjs"]) cpSync(join(root, "scripts", name), join(clone, "scripts", name));
  writeFileSync(join(clone, "package-lock.json"), "{}");
  const mark = 'import { mkdirSync } from "node:fs";\nimport { markReady } from "./ready.mjs";\n';
  writeFileSync(
    join(clone, "scripts/mark.mjs"),
    `${mark}mkdirSync("node_modules", { recursive: true });\nmarkReady(".");\n`,
  );
  writeFileSync(join(clone, "bin/npm"), `#!/bin/sh\necho "$*" >> installs.txt\n${install}\n`, { mode: 0o755 });
  return clone;
}

function installs(clone: string): string[] {
  const file = join(clone, "installs.txt");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

async function setup(clone: string, command: readonly string[]): Promise<Result> {
  return run(clone, ["scripts/setup.mjs", ...command]);
}

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(clone: string, args: readonly string[]): Promise<Result> {
  const env = { ...process.env, PATH: join(clone, "bin") + delimiter + process.env["PATH"] };
  return start(process.execPath, args, { cwd: clone, env });
}

function start(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Result> {
  const { promise, resolve: finish } = Promise.withResolvers<Result>();
  execFile(command, args, options, (error, stdout, stderr) => {
    finish({ code: error === null ? 0 : Number(error.code), stdout, stderr });
  });
  return promise;
}
