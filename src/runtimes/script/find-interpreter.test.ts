import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { openTestSandbox, runScript } from "../../../test/support/run-script.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import type { Tool } from "../../core/tool.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { findHostProgram, findInterpreter } from "./find-interpreter.ts";
import type { Interpreter } from "./launch.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox();
});
afterAll(() => sandbox.close());

test("findInterpreter() takes Node for the program that runs Kitbag, whatever is in PATH", () => {
  const interpreter = find(["node", "--no-warnings"], "a.mjs");

  expect(interpreter).toEqual({
    family: "node",
    program: "/opt/node",
    argv: ["--no-warnings"],
    mounts: [{ source: realpathSync(process.execPath), target: "/opt/node" }],
    programs: [],
  });
});

test.for(["../../../bin/sh", "./../sh", "./bin/../../sh"])(
  "findInterpreter() says that %s is no path for it",
  (name) => {
    expect(() => find([name], "a.sh")).toThrow(
      `"${name}" is not installed on this machine; name a program of this machine`,
    );
  },
);

test("findInterpreter() prefers the programs of the system", (context) => {
  needProgram(context, "/usr/bin/python3");
  expect(find(["python3"], "a.py")).toMatchObject({
    family: "python",
    program: "/usr/bin/python3",
    programs: ["/usr/bin/python3"],
    mounts: [],
  });
});

test.for<[words: readonly string[], path: string, program: string]>([
  [["python"], "a.py", "/usr/bin/python3"],
  [["uv", "run", "--script"], "a.py", "/usr/bin/python3"],
  [["tsx"], "a.ts", "/opt/node"],
  [["npx", "tsx"], "a.ts", "/opt/node"],
  [["bash -eu"], "a.sh", "/usr/bin/bash"],
  [[], "a.PL", "/usr/bin/perl"],
])("findInterpreter() runs %j of %s with %s", ([words, path, program], context) => {
  if (program !== "/opt/node") needProgram(context, program);
  expect(find(words, path).program).toBe(program);
});

test("findInterpreter() splits a manifest's command into words", () => {
  expect(find(["bash -eu"], "a.sh").argv).toEqual(["-eu"]);
});

test.for<[words: readonly string[], path: string, name: string, cure: string]>([
  [["pwsh", "-NoProfile", "-File"], "a.ps1", "pwsh", "install PowerShell"],
  [["bun"], "a.ts", "bun", "install Bun"],
  [["deno", "run"], "a.ts", "deno", "install Deno"],
  [["tsx"], "a.tsx", "tsx", "npm install --global tsx"],
  [["no-such-language"], "a.x", "no-such-language", "name another interpreter in scripts/manifest.yml"],
  [["/opt/no/such/python9"], "a.py", "", ""],
  [[], "a.unknown", "interpreter for a.unknown", "in a first line with #!"],
])("findInterpreter() says how to get %j", ([words, path, name, cure], context) => {
  if (name === "") {
    needProgram(context, "/usr/bin/python3");
    // Another one of its family does as well.
    expect(find(words, path).program).toBe("/usr/bin/python3");
    return;
  }
  expect(() => find(words, path)).toThrow(
    expect.objectContaining({
      code: "interpreter-missing",
      details: expect.objectContaining({ interpreter: name, cure: expect.stringContaining(cure) }),
    }),
  );
});

test("scriptRuntime() fails with the cure where an interpreter is missing", async () => {
  const { outcome } = await runScript(sandbox, { files: { "a.ps1": "Write-Output hi" } });

  expect(outcome).toMatchObject({ error: { code: "interpreter-missing", details: { interpreter: "pwsh" } } });
});

test("scriptRuntime() runs an interpreter of another prefix, with the libraries of that prefix", async () => {
  const prefix = write({
    "bin/kbl": `#!/bin/sh\ncat $(dirname "$0")/../lib/kbl/hello; echo "$1 $2"; ls "$(dirname "$0")"`,
    "bin/neighbour": "#!/bin/sh\n",
    "lib/kbl/hello": "from lib\n",
  });
  withPath(join(prefix, "bin"));

  const { outcome } = await runScript(sandbox, {
    files: { "a.kbl": "" },
    interpreter: ["kbl"],
    command: { argv: ["x"] },
  });

  expect(outcome).toEqual({ status: "ok", output: "from lib\n/skill/a.kbl x\nkbl" });
});

test("findHostProgram() follows a shim to the version that it stands for", () => {
  const root = write({
    "shims/kbl": "#!/bin/sh\nexec pyenv exec",
    version: "1.2.3\n",
    "versions/1.2.3/bin/kbl": "#!/bin/sh\n",
    "versions/1.2.3/lib/x": "",
  });
  withPath(join(root, "shims"));
  const file = join(root, "versions/1.2.3/bin/kbl");
  const lib = join(root, "versions/1.2.3/lib");

  expect(findHostProgram("kbl")).toEqual({
    program: file,
    file,
    programs: [],
    mounts: [
      { source: file, target: file },
      { source: lib, target: lib },
    ],
  });
});

test("findHostProgram() finds nothing behind a shim without a version", () => {
  const root = write({ "shims/kbl": "#!/bin/sh\n", version: "system\n" });
  withPath(join(root, "shims"));

  expect(findHostProgram("kbl")).toBeUndefined();
});

test("findHostProgram() never gives away the home directory for a program in it", () => {
  const folder = mkdtempSync(join(homedir(), "kitbag-home-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  vi.stubEnv("HOME", folder);
  const [own, local] = [join(folder, "bin/kbl"), join(folder, ".local/bin/kbl2")];
  for (const file of [own, local]) writeProgram(file, "");
  withPath(`${dirname(own)}${delimiter}${dirname(local)}`);

  const found = ["kbl", "kbl2"].map((name) => findHostProgram(name)?.mounts);

  expect(found).toEqual([[{ source: own, target: own }], [{ source: local, target: local }]]);
});

test("findHostProgram() takes all of a program's folder where that is no bin", () => {
  const folder = write({ "powershell/7/kbl": "", "powershell/7/kbl.dll": "" });
  const place = join(folder, "powershell/7");
  withPath(place);

  expect(findHostProgram("kbl")?.mounts).toEqual([{ source: place, target: place }]);
});

function find(interpreter: readonly string[], path: string): Interpreter {
  const code = { kind: "script", directory: "/nonexistent", path, digest: "", interpreter, environment: [] };
  return findInterpreter({ name: "script" } as Tool, code as unknown as ScriptCode);
}

function write(files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-prefix-")));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) writeProgram(join(folder, path), text);
  return folder;
}

function writeProgram(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o755 });
}

function withPath(folders: string): void {
  vi.stubEnv("PATH", `${folders}${delimiter}${process.env["PATH"] ?? ""}`);
}
