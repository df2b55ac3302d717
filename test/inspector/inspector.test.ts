/** The MCP Inspector looks at `kitbag serve` from outside. A run of it takes seconds, so each looks at as much as it can. */
import { execFile } from "node:child_process";
import { join } from "node:path";

import { expect, test, vi, type TestContext } from "vitest";

import { createProject, type Project, program } from "../run-kitbag.ts";
import { needProgram } from "../support/need-program.ts";
import { startHttp, toEnvironment } from "../support/serve-kitbag.ts";

vi.setConfig({ testTimeout: 120_000 });

const inspector = join(import.meta.dirname, "node_modules/.bin/mcp-inspector");
const exampleSkills = join(import.meta.dirname, "../../skills");

test("kitbag serve lists tools whose schemas every client can read", async (context) => {
  const project = createTools();

  const seen = await inspect(context, project, [...serve(project), "--method", "tools/list", "--strict"]);

  const { tools } = JSON.parse(seen.stdout) as { tools: readonly { name: string }[] };
  expect(seen.stderr).not.toMatch(/^Error:/mu);
  expect(seen.stderr).toMatch(/^0 errors, /mu);
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["add", "call_tool", "forge__create_tool"]));
  expect(seen.code).toBe(0);
});

test("kitbag serve answers the call of a tool on stdio", async (context) => {
  const project = createTools();
  const words = ["--method", "tools/call", "--tool-name", "add", "--tool-args-json", '{"a":2,"b":40}'];

  const seen = await inspect(context, project, [...serve(project), ...words]);

  expect(JSON.parse(seen.stdout)).toMatchObject({ structuredContent: { sum: 42 } });
  expect(seen.code).toBe(0);
});

test("kitbag serve answers a call that cannot be made with a failure that says why, in the generation of 2026", async (context) => {
  const project = createTools();
  const { url } = await startHttp(project, ["--module", "tools.ts", "--no-token"]);
  const words = ["--method", "tools/call", "--tool-name", "call_tool", "--tool-args-json", '{"name":"ad"}'];

  const seen = await inspect(context, project, ["--protocol-era", "modern", url, ...words]);

  expect(JSON.parse(seen.stdout)).toMatchObject({ isError: true });
  expect(seen.stdout).toContain("add");
  expect(seen.code).toBe(5);
});

test("kitbag serve lists skills whose files have the digests that it says", async (context) => {
  const project = createProject();

  const seen = await inspect(context, project, [
    ...serve(project, exampleSkills),
    "--method",
    "skills/list",
    "--verify",
  ]);

  expect(seen.stderr).toMatch(/^Verified 13 skills and \d+ files: no conformance errors\.$/mu);
  expect(seen.stdout).not.toMatch(/"status":"(?!verified)/u);
  expect(seen.code).toBe(0);
});

/** How the Inspector is to start our server. */
function serve({ folder, home }: Project, ...words: readonly string[]): readonly string[] {
  const tools = words.length === 0 ? ["--module", "tools.ts", "--open", "forge,code"] : words;
  return ["-e", `KITBAG_HOME=${home}`, ...program, "serve", "--project", folder, ...tools];
}

interface Inspected {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function inspect(context: TestContext, project: Project, words: readonly string[]): Promise<Inspected> {
  needProgram(context, inspector);
  const options = { cwd: project.folder, env: toEnvironment(project), maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(process.execPath, [inspector, "--cli", ...words], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

function createTools(): Project {
  return createProject({
    "tools.ts": `import { defineTool } from "kitbag";
      const number = { type: "number" };
      export default [
        defineTool({
          name: "add",
          description: "Adds two numbers",
          input: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] },
          output: { type: "object", properties: { sum: number }, required: ["sum"] },
          run: ({ a, b }) => ({ sum: a + b }),
        }),
      ];`,
  });
}
