import { execFile } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

import * as source from "kitbag";
import { afterAll, beforeAll, expect, test } from "vitest";

import { needProgram } from "./support/need-program.ts";
import packageJson from "../package.json" with { type: "json" };

const root = resolve(import.meta.dirname, "..");
const run = promisify(execFile);

/** A project of somebody else, with the built package and its declared dependencies installed, and nothing more. */
let project: string;
let installed: string;

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "kitbag-package-"));
  installed = join(project, "node_modules/kitbag");
  mkdirSync(installed, { recursive: true });
  for (const name of ["package.json", "LICENSE", "CHANGELOG.md"]) cpSync(join(root, name), join(installed, name));
  await build(join(installed, "dist"));
  for (const name of Object.keys(packageJson.dependencies)) {
    mkdirSync(dirname(join(project, "node_modules", name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name));
  }
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
}, 120_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

test("the built package exports what the source exports, and calls a tool", async () => {
  const program = `
    import * as kitbag from "kitbag";
    import "kitbag/testing";
    const tool = kitbag.defineTool({
      name: "double",
      description: "Doubles a number",
      input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      run: ({ n }) => n * 2,
    });
    const outcome = await kitbag.createWorkspace({ tools: [tool] }).call("double", { n: 21 });
    console.log(JSON.stringify({ names: Object.keys(kitbag).toSorted(), output: outcome.output }));
  `;

  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: project });

  expect(JSON.parse(stdout)).toEqual({ names: Object.keys(source).toSorted(), output: 42 });
});

test("the built package serves MCP, and passes on the errors of another copy of the SDK", async () => {
  const program = `
    import { ProtocolError } from "@modelcontextprotocol/server";
    import { createWorkspace } from "kitbag";
    import { createMcpServer } from "kitbag/mcp";
    import { PassThrough } from "node:stream";
    const refuse = () => { throw new ProtocolError(-32602, "not today", { why: "closed" }); };
    const server = createMcpServer({
      workspace: createWorkspace(),
      extend: (mcp) => mcp.server.setRequestHandler("prompts/get", refuse),
    });
    const [input, output] = [new PassThrough(), new PassThrough()];
    await server.serveStdio({ input, output });
    const send = (message) => input.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1.0.0" } };
    send({ id: 1, method: "initialize", params });
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "prompts/get", params: { name: "any" } });
    let text = "";
    for await (const chunk of output) {
      text += chunk;
      if (text.includes('"id":2')) break;
    }
    console.log(text.trim().split("\\n").at(-1));
    process.exit();
  `;

  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: project });

  expect(JSON.parse(stdout)).toMatchObject({ error: { code: -32_602, message: "not today", data: { why: "closed" } } });
});

test("the built command tells its version, and warns of nothing", async () => {
  const { stdout, stderr } = await run(process.execPath, [join(installed, packageJson.bin.kitbag), "--version"]);

  expect(stdout.trim()).toBe(packageJson.version);
  expect(stderr).toBe("");
});

test("the built command calls a tool of a module that imports the package", async () => {
  const module = `
    import { defineTool } from "kitbag";
    const input = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    export default [defineTool({ name: "double", description: "Doubles a number", input, run: ({ n }) => n * 2 })];
  `;
  writeFileSync(join(project, "tools.mjs"), module);
  const command = [
    join(installed, packageJson.bin.kitbag),
    "call",
    "double",
    "--module",
    "tools.mjs",
    "--n",
    "21",
    "--json",
  ];

  const { stdout } = await run(process.execPath, command, { cwd: project });

  expect(JSON.parse(stdout)).toMatchObject({ status: "ok", output: 42 });
});

test("the built command runs scripts that talk to Kitbag, in a sandbox", async (context) => {
  needProgram(context, "python3");
  const skill = join(project, "skills/greeter");
  mkdirSync(join(skill, "scripts"), { recursive: true });
  writeFileSync(join(skill, "SKILL.md"), "---\nname: greeter\ndescription: Greets people\n---\n\n# Greeter\n");
  const scripts = {
    "one.ts": 'import kitbag from "kitbag";\nconsole.log((await kitbag.call("greeter/two", {})) as string);',
    "two.py": "import kitbag\nkitbag.log('from Python')\nprint('hello', end='')",
  };
  for (const [name, text] of Object.entries(scripts)) writeFileSync(join(skill, "scripts", name), text);
  const command = [join(installed, packageJson.bin.kitbag), "call", "greeter/one", "--skills", "skills", "--json"];
  const env = { ...process.env, KITBAG_HOME: join(project, "home") };

  const { stdout } = await run(process.execPath, command, { cwd: project, env });

  expect(JSON.parse(stdout)).toMatchObject({ status: "ok", output: "hello" });
});

test("the built package imports only what package.json declares", () => {
  const { dependencies, peerDependencies } = packageJson;
  const packages = ["kitbag", ...Object.keys({ ...dependencies, ...peerDependencies })];
  // The newest modules of Node have a name with "node:" only.
  const declared = new Set([...packages, ...builtinModules.map((name) => name.replace(/^node:/u, ""))]);

  const strangers = globSync("dist/**/*.{js,d.ts}", { cwd: installed }).flatMap((file) =>
    importedPackages(readFileSync(join(installed, file), "utf8"))
      .filter((name) => !declared.has(name.replace(/^node:/u, "")))
      .map((name) => `${file}: ${name}`),
  );

  expect(strangers).toEqual([]);
});

test("the built programs that run inside a sandbox need no other file", () => {
  const programs = globSync("dist/**/inside/*.js", { cwd: installed });

  const imports = programs.flatMap((file) => {
    const text = readFileSync(join(installed, file), "utf8");
    return [...text.matchAll(/^(?:import|export)\b[^;]*?\bfrom\s*"([^"]+)"/gmu)].map(([, name = ""]) => name);
  });

  expect(programs.length).toBeGreaterThan(0);
  expect(imports.filter((name) => !name.startsWith("node:"))).toEqual([]);
});

test("the built package has the modules that scripts talk to Kitbag with", () => {
  const folder = join(installed, "dist/runtimes/script/inside");

  const files = globSync("**/*.{py,rb,sh,cjs,mjs,json}", { cwd: folder });

  expect(files.toSorted()).toEqual([
    "empty.mjs",
    "node/kitbag.cjs",
    "node/package.json",
    "preload.cjs",
    "python/kitbag.py",
    "python/sitecustomize.py",
    "python/usercustomize.py",
    "ruby/kitbag.rb",
    "shell/kitbag.sh",
  ]);
});

test("the built package passes on the licences of what is bundled", () => {
  const text = readFileSync(join(installed, "dist/third-party-licenses.txt"), "utf8");

  const parts = text.split(`\n${"-".repeat(80)}\n\n`);
  const packages = parts.map((part) => /^[a-z@/-]+(?= \d+\.\d+\.\d+\n)/u.exec(part)?.[0]);

  expect(packages).toEqual([
    "@modelcontextprotocol/core",
    "@modelcontextprotocol/server",
    "commander",
    "lru-cache",
    "semver",
    "smol-toml",
    "tokenx",
    "tree-sitter-bash",
    "tree-sitter-typescript",
    "typebox",
    "web-tree-sitter",
    "yaml",
    "zod",
  ]);
  expect(parts.filter((part) => !/copyright/iu.test(part))).toEqual([]);
});

test.for([
  ["program.ts", "nodenext"],
  ["program.cts", "nodenext"],
  ["program.cts", "node16"],
])(
  "the declarations of the built package are right for a strict compiler: %s, %s",
  async ([file = "", module = ""]) => {
    const program = `
    import { createWorkspace, defineTool, type ToolOutcome } from "kitbag";
    import { createAgent, type RunResult } from "kitbag/agent";
    import { resolveModel } from "kitbag/models";
    import "kitbag/testing";
    const tool = defineTool({ name: "one", description: "One", run: (): number => 1 });
    const workspace = createWorkspace({ tools: [tool] });
    export async function main(): Promise<void> {
      const outcome: ToolOutcome<number> = await workspace.call(tool, {});
      const result: RunResult = await createAgent({ workspace, model: "local" }).run("one").result;
      // @ts-expect-error A number is no text.
      const wrong: ToolOutcome<string> = outcome;
      console.log(wrong, result);
    }
    export const nameOf = async (): Promise<string> => (await resolveModel("local")).modelId;
    // @ts-expect-error It is a text.
    export const wrongNameOf = async (): Promise<number> => (await resolveModel("local")).modelId;
  `;
    writeFileSync(join(project, file), program);
    const options = ["--strict", "--exactOptionalPropertyTypes", "--module", module, "--target", "es2024", "--noEmit"];
    const node = ["--types", "node", "--typeRoots", join(root, "node_modules/@types")];

    const tsc = [join(root, "node_modules/typescript/bin/tsc"), "--ignoreConfig", ...options, ...node, file];
    const errors = await run(process.execPath, tsc, { cwd: project }).then(
      () => "",
      (cause: { stdout: string }) => cause.stdout,
    );

    expect(errors).toBe("");
  },
);

test("a CommonJS program requires the built package", async () => {
  const program = 'console.log(typeof require("kitbag").createWorkspace, typeof require("kitbag/agent").createAgent);';

  const { stdout } = await run(process.execPath, ["--input-type=commonjs", "--eval", program], { cwd: project });

  expect(stdout).toBe("function function\n");
});

test("the packed package has no source and no tests", async () => {
  const { stdout } = await run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: installed });

  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const outside = files.map(({ path }) => path).filter((path) => !/^(?:dist|skills)\//u.test(path));
  expect(outside.toSorted()).toEqual(["CHANGELOG.md", "LICENSE", "package.json"]);
  expect(files.filter(({ path }) => path.includes(".test.") || /(?<!\.d)\.ts$/u.test(path))).toEqual([]);
});

async function build(folder: string): Promise<void> {
  try {
    await run(process.execPath, [join(root, "scripts/build.ts"), folder]);
  } catch (cause) {
    const { stdout, stderr } = cause as { stdout: string; stderr: string };
    throw new Error(`Cannot build:\n${stdout}${stderr}`, { cause });
  }
}

/** The packages that a file imports, without those of the examples in its comments. */
function importedPackages(file: string): string[] {
  const text = file.replaceAll(/^ *\/\*\*.*?\*\//gmsu, "");
  const patterns = [
    /^(?:import|export)\b(?:[^;"'`]*?\bfrom)?\s*["']([^"'\n]+)["']/gmu,
    /\bimport\(\s*["']([^"'\n]+)["']\s*\)/gu,
  ];
  const specifiers = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = ""]) => name));
  const packages = specifiers.filter((name) => !name.startsWith(".") && !name.startsWith("/"));
  return packages.map((name) => /^(?:@[^/]+\/)?[^/]+/u.exec(name)?.[0] ?? name);
}
