import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { createProject, runKitbag, toolbox } from "../../test/run-kitbag.ts";
import { commands } from "./commands.ts";

test("kitbag --version prints the version of the package", async () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

  const run = await runKitbag(["--version"]);

  expect(run).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

test("kitbag --version --json prints it as JSON", async () => {
  const run = await runKitbag(["--version", "--json"]);

  expect(JSON.parse(run.stdout)).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/u) });
});

test("kitbag without a command shows every command and examples", async () => {
  const run = await runKitbag([]);

  expect(run.code).toBe(0);
  for (const { name, summary } of commands) expect(run.stdout).toContain(`  ${name.padEnd(10)} ${summary}`);
  expect(run.stdout).toContain("Examples:");
});

test.for(commands.map(({ name }) => name))("kitbag %s --help shows its options and examples", async (name) => {
  const run = await runKitbag([name, "--help"]);

  expect(run.code).toBe(0);
  expect(run.stdout).toContain(`Usage: kitbag ${name}`);
  expect(run.stdout).toContain("--json");
  expect(run.stdout).toMatch(/Examples:\n {2}# .+\n {2}\$ /u);
});

test("kitbag help call is kitbag call --help", async () => {
  const [left, right] = await Promise.all([runKitbag(["help", "call"]), runKitbag(["call", "--help"])]);

  expect(left).toEqual(right);
});

test("kitbag with an unknown command says which one was meant, exit code 2", async () => {
  const run = await runKitbag(["lits"]);

  expect(run).toEqual({
    code: 2,
    stdout: "",
    stderr: 'Cannot run "lits": there is no such command; did you mean "list"?\n',
  });
});

test.for(["constructor", "__proto__", "toString", ""])("kitbag %j is an unknown command", async (name) => {
  const run = await runKitbag([name]);

  expect(run.code).toBe(2);
  expect(run.stderr).toContain("there is no such command; see kitbag --help");
});

test("kitbag with an unknown option says which one was meant, exit code 2", async () => {
  const run = await runKitbag(["list", "--modul", "x.ts"]);

  expect(run.code).toBe(2);
  expect(run.stderr).toBe(
    "Cannot read the command: unknown option '--modul' (Did you mean --module?); see kitbag list --help\n",
  );
});

test.for([
  [["lits", "--json"], "usage-invalid"],
  [["list", "--nope", "--json"], "usage-invalid"],
  [["show", "--json"], "usage-invalid"],
  [["call", "add", "--json"], "config-missing"],
  [["list", "--module", "missing.ts", "--json"], "config-invalid"],
] as const)("kitbag %j prints its failure as one JSON document", async ([words, code]) => {
  const run = await runKitbag(words);

  expect(run.code).toBe(code === "usage-invalid" ? 2 : 1);
  expect(JSON.parse(run.stdout)).toMatchObject({ status: "failed", error: { code, message: expect.any(String) } });
  expect(run.stderr.trim().split("\n")).toHaveLength(1);
});

test("kitbag refuses a KITBAG_HOME that is not an absolute path", async () => {
  const project = createProject({ "kitbag.config.ts": "export default {};" });

  const run = await runKitbag(["list"], { project, env: { KITBAG_HOME: "home" } });

  expect(run.code).toBe(2);
  expect(run.stderr).toBe('Cannot use "KITBAG_HOME": found "home", expected an absolute path\n');
});

test("kitbag ends quietly when nobody reads its output", async () => {
  const tools =
    "Array.from({ length: 20000 }, (_, i) => defineTool({ name: `t${i}`, description: 'x'.repeat(50), run: () => i }))";
  const project = createProject({ "tools.mjs": `import { defineTool } from "kitbag";\nexport default ${tools};` });

  const child = spawn(process.execPath, [
    "--conditions=@kitbag/source",
    "src/cli/main.ts",
    "list",
    "--module",
    `${project.folder}/tools.mjs`,
  ]);
  child.stdout.once("data", () => child.stdout.destroy());
  let stderr = "";
  child.stderr.on("data", (piece: Buffer) => (stderr += piece.toString()));
  const code = await new Promise((resolve) => child.once("close", resolve));

  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("kitbag uses no colour in a pipe, whatever FORCE_COLOR says", async () => {
  const run = await runKitbag(["list", "--module", toolbox], { env: { FORCE_COLOR: "1" } });

  expect(run.stdout).not.toContain("\u001B");
});
