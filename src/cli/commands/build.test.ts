import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";

import { expect, test, vi } from "vitest";

import { createProject, runKitbag, type Project } from "../../../test/run-kitbag.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { skillFiles } from "../../../test/support/skill-files.ts";
import { createTerminal } from "../terminal.ts";
import { buildCommand } from "./build.ts";

// Compilers take seconds where other tests run beside them.
vi.setConfig({ testTimeout: 120_000 });

const hello = '#include <stdio.h>\nint main(void) { puts("{\\"hello\\":true}"); }\n';

test("kitbag build makes the modules of a skill, once", async (context) => {
  needProgram(context, "clang-19");
  const project = createSkill();

  const first = await runKitbag(["build", "skills/greeter"], { project });
  const second = await runKitbag(["build", "greeter/hello", "--skills", "skills"], { project });

  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toMatch(
    /^greeter\/hello: built in \d+\.\d s: skills\/greeter\/hello\.wasm \(\d+ KB\) from src\/hello\.c, by clang-19 19\.\S+\n$/u,
  );
  expect(second.stdout).toMatch(/^greeter\/hello: up to date: skills\/greeter\/hello\.wasm /u);
  expect(readFileSync(join(project.folder, "skills/greeter/hello.wasm")).subarray(0, 4).toString("latin1")).toBe(
    "\0asm",
  );
});

test("kitbag build makes a tool that can be shown then", async (context) => {
  needProgram(context, "clang-19");
  const project = createSkill();

  const before = await runKitbag(["check", "skills"], { project });
  await runKitbag(["build", "skills"], { project });
  const after = await runKitbag(["show", "greeter/hello", "--skills", "skills", "--json"], { project });

  expect(before.stdout).toContain("Build it: kitbag build greeter/hello");
  expect(JSON.parse(after.stdout)).toMatchObject({ address: "greeter/hello" });
});

test("kitbag build --json prints one document, also about what failed", async (context) => {
  needProgram(context, "clang-19");
  const project = createSkill({
    ...skillFiles("skills/wrong"),
    "skills/wrong/kitbag.toml": manifest("broken", "broken.c"),
    "skills/wrong/broken.c": "int main(void) { return missing; }\n",
  });

  const run = await runKitbag(["build", "skills", "--json"], { project });

  const document = JSON.parse(run.stdout) as { status: string; tools: Record<string, unknown>[] };
  expect(run.code).toBe(1);
  expect(document.status).toBe("failed");
  expect(document.tools).toMatchObject([
    { address: "greeter/hello", status: "built", language: "c", compiler: "clang-19", output: "hello.wasm" },
    { address: "wrong/broken", status: "failed", error: { code: "build-failed", details: { source: "broken.c" } } },
  ]);
  expect(document.tools[0]?.["digest"]).toMatch(/^sha256:[0-9a-f]{64}$/u);
  expect(readdirSync(join(project.folder, "skills/wrong")).toSorted()).toEqual(["SKILL.md", "broken.c", "kitbag.toml"]);
});

test("kitbag build shows the compiler's words, harmless for a terminal", async (context) => {
  needProgram(context, "clang-19");
  const project = createSkill();
  project.write("skills/greeter/src/hello.c", '#error "\u001B]0;title\u0007 stop"\n');

  const run = await runKitbag(["build", "skills/greeter"], { project });

  expect(run).toMatchObject({ code: 1, stdout: "greeter/hello: failed\n" });
  expect(run.stderr).toContain('"greeter/hello": Cannot build "src/hello.c": clang-19 says:\nsrc/hello.c:1:2: error:');
  expect(run.stderr).not.toContain("\u001B");
  expect(existsSync(join(project.folder, "skills/greeter/hello.wasm"))).toBe(false);
});

test("kitbag build of a skill of the project says that it must be trusted again", async (context) => {
  needProgram(context, "clang-19");
  const project = createProject({
    ...skillFiles(".kitbag/skills/mine"),
    ".kitbag/skills/mine/kitbag.toml": manifest("hello", "hello.c"),
    ".kitbag/skills/mine/hello.c": hello,
  });

  const first = await runKitbag(["build", "mine"], { project });
  const second = await runKitbag(["build", "mine"], { project });

  expect(first.stdout).toContain(
    "The skill mine has changed, so it must be trusted again: kitbag trust .kitbag/skills/mine",
  );
  expect(second.stdout).not.toContain("trusted");
});

test("kitbag build in two programs at once builds once", async (context) => {
  needProgram(context, "clang-19");
  const project = createSkill();

  const runs = await Promise.all([1, 2, 3].map(() => runKitbag(["build", "skills/greeter", "--json"], { project })));

  const tools = runs.map(
    ({ stdout }) => (JSON.parse(stdout) as { tools: { status: string; digest: string }[] }).tools[0],
  );
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(tools.filter((tool) => tool?.status === "built").length).toBe(1);
  expect(new Set(tools.map((tool) => tool?.digest)).size).toBe(1);
  expect(readdirSync(join(project.home, "cache/wasm")).length).toBe(1);
});

test("kitbag build shows on a terminal what it is doing", async (context) => {
  needProgram(context, "clang-19");
  const project = createSkill();
  const stdout = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 100 });
  const terminal = createTerminal({ stdin: new PassThrough(), stdout, stderr, env: {} });
  const env = { KITBAG_HOME: project.home };

  await buildCommand.run({ args: ["skills"], options: {}, json: false, terminal, env, cwd: project.folder });

  expect(String(stderr.read())).toContain("Building with clang-19: greeter/hello (0 s)");
});

test("kitbag build makes a module of a file that is in no skill", async (context) => {
  needProgram(context, "clang-19");
  const project = createProject({ "hello.c": hello, "notes.txt": "" });

  const run = await runKitbag(["build", "hello.c"], { project });
  const other = await runKitbag(["build", "notes.txt"], { project });

  expect(run.stdout).toMatch(/^hello\.c: built in \S+ s: hello\.wasm /u);
  expect(other).toMatchObject({ code: 1 });
  expect(other.stderr).toContain("expected one of c, c++, rust, assemblyscript, zig, go, javascript");
});

test("kitbag build says what it does without a sandbox", async (context) => {
  needProgram(context, "clang-19");
  const project = createSkill();

  const run = await runKitbag(["build", "skills/greeter", "--sandbox", "off"], { project });

  expect(run.code).toBe(0);
  expect(run.stderr).toBe("No sandbox: what runs can read and change all that you can\n");
});

test.for([
  [["build", "gretter", "--skills", "skills"], 1, 'Cannot find the skill "gretter": did you mean "greeter"?'],
  [["build", "greeter/helo", "--skills", "skills"], 1, 'did you mean "greeter/hello"?'],
  [["build", "skills/plain"], 2, 'Cannot build "skills/plain": no tool there has a "source"'],
  [["build", "skills/greeter", "--sandbox", "none"], 2, "Cannot use the sandbox none: there are bubblewrap"],
  [["build", ""], 1, 'Cannot find the skill ""'],
  [["build"], 2, "missing required argument 'what'"],
  [["build", "skills/outside"], 1, "a path of a file in the skill's folder"],
] as const)("kitbag %j fails with a message", async ([words, code, message]) => {
  const project = createSkill({
    ...skillFiles("skills/plain"),
    ...skillFiles("skills/outside"),
    "skills/outside/kitbag.toml": manifest("hello", "../greeter/src/hello.c"),
  });

  const run = await runKitbag(words, { project });

  expect(run.code).toBe(code);
  expect(run.stderr).toContain(message);
});

function createSkill(others: Readonly<Record<string, string>> = {}): Project {
  return createProject({
    ...skillFiles("skills/greeter"),
    "skills/greeter/kitbag.toml": manifest("hello", "src/hello.c"),
    "skills/greeter/src/hello.c": hello,
    ...others,
  });
}

function manifest(name: string, source: string): string {
  return `[[tools]]\nname = "${name}"\nkind = "wasm"\nfile = "${name}.wasm"\nsource = "${source}"\ndescription = "Says hello"\n`;
}
