import { userInfo } from "node:os";

import { expect, test, vi } from "vitest";

import { withForge } from "../../../test/support/with-forge.ts";
import { createProject, runKitbag, type KitbagRun, type Project } from "../../../test/run-kitbag.ts";
import { skillFiles } from "../../../test/support/skill-files.ts";

vi.setConfig({ testTimeout: 120_000 });

test("kitbag versions lists what was called, its versions and which is the current one", async () => {
  const project = await createCalled();

  const all = await versions(project);
  const one = await versions(project, "greet");
  const json = await versions(project, "greet", "--json");

  expect(all.stdout).toMatch(/^ADDRESS +VERSIONS +CURRENT +SINCE\ngreet +2 +1\.1\.0 +\d{4}-/u);
  expect(
    one.stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.slice(0, 18).trimEnd()),
  ).toEqual(["   NUMBER  LABEL", "   1       1.0.0", "*  2       1.1.0"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    address: "greet",
    current: 2,
    versions: [{ number: 1 }, { number: 2 }],
  });
});

test("kitbag versions --diff shows what changed, by number and by label", async () => {
  const project = await createCalled();

  const [numbers, labels, same] = await Promise.all([
    versions(project, "greet", "--diff", "1", "2"),
    versions(project, "greet", "--diff", "1.0.0", "1.1.0"),
    versions(project, "greet", "--diff", "1", "1"),
  ]);

  expect(numbers.stdout).toContain('-  "description": "Greets",\n+  "description": "Greets somebody",\n');
  expect(labels.stdout).toBe(numbers.stdout);
  expect(same.stdout).toBe("They are the same.\n");
});

test("kitbag versions keeps the files of a skill whose script was called", async () => {
  const project = createProject({ ...skillFiles("skills/short"), "skills/short/scripts/hello.sh": "echo hello\n" });
  const call = ["call", "short/hello", "--skills", "skills", "--sandbox", "off"];
  await runKitbag(call, { project });
  project.write("skills/short/scripts/hello.sh", "echo hallo\n");
  await runKitbag(call, { project });

  const diff = await versions(project, "short", "--diff", "1", "2");
  const tool = await versions(project, "plugin:short/hello", "--json");

  expect(diff.stdout).toContain("-echo hello\n+echo hallo\n");
  expect(JSON.parse(tool.stdout)).toMatchObject({ address: "short/hello", current: 2 });
});

test("kitbag versions knows the tools that a tool called, and who called them", async () => {
  const project = createProject({ "tools.mjs": nestedTools });
  const call = await runKitbag(["call", "outer", "--module", "tools.mjs"], { project });

  const all = await versions(project, "--json");
  const inner = await versions(project, "inner", "--json");
  const { calls } = JSON.parse(
    (await runKitbag(["audit", "show", "--tool", "inner", "--json"], { project })).stdout,
  ) as {
    calls: { begin: { toolDigest: string } }[];
  };
  const found = await versions(project, "inner", "--diff", calls[0]?.begin.toolDigest ?? "", "1");

  expect(call.code).toBe(0);
  expect(JSON.parse(all.stdout)).toMatchObject({ addresses: [{ address: "inner" }, { address: "outer" }] });
  expect(JSON.parse(inner.stdout)).toMatchObject({ versions: [{ number: 1, author: userInfo().username }] });
  expect(found.stdout).toBe("They are the same.\n");
});

test("kitbag versions shows tools that were made as their folders have them, whatever was called", async () => {
  const project = createProject();
  await withForge(project, async (forge) => {
    await forge.createTool(say("A"));
    const { code, examples } = say("B");
    await forge.updateTool("say", { code, examples });
    await forge.updateTool("say", { title: "Say" });
  });
  await runKitbag(["call", "say"], { project });
  await runKitbag(["call", "say@1.0.0"], { project });

  const all = await versions(project);
  const diff = await versions(project, "say", "--diff", "1.0.0", "1.0.1");
  const numbers = await versions(project, "say", "--diff", "1", "2");
  const same = await versions(project, "say", "--diff", "1.0.1", "1.0.1");
  const missing = await versions(project, "say", "--diff", "1.0.1", "9.9.9");

  expect(all.stdout).toMatch(/^ADDRESS +VERSIONS +CURRENT +SINCE\nsay +3 +1\.0\.2 +\d{4}-/u);
  expect(diff.stdout).toContain("-echo A\n+echo B\n");
  expect(numbers.stdout).toBe(diff.stdout);
  expect(same.stdout).toBe("They are the same.\n");
  expect(missing).toMatchObject({ code: 1, stdout: "" });
  expect(missing.stderr).toContain('Cannot find the version "9.9.9" of "say": the latest are 1.0.0, 1.0.1, 1.0.2');
});

test.for([
  [["nothing"], 1, 'Cannot find versions of "nothing": none is kept; kitbag versions lists what was called'],
  [["greet", "--diff", "1"], 2, "--diff takes two versions"],
  [["greet", "--diff", "1", "2", "3"], 2, "--diff takes two versions"],
  [["--diff", "1", "2"], 2, "name a tool or a skill before --diff"],
  [["greet", "--diff", "1", "9"], 1, 'Cannot find the version "1" of "greet": no version of it is kept'],
] as const)("kitbag versions %j ends with %i and says why", async ([words, code, reason]) => {
  const run = await versions(createProject(), ...words);

  expect(run).toMatchObject({ code, stdout: "" });
  expect(run.stderr).toContain(reason);
});

test("kitbag versions says so where nothing is kept", async () => {
  expect(await versions(createProject())).toEqual({
    code: 0,
    stdout: "No versions are kept: call a tool first.\n",
    stderr: "",
  });
});

function versions(project: Project, ...words: string[]): Promise<KitbagRun> {
  return runKitbag(["versions", ...words], { project });
}

/** A project in which two versions of a tool were called. */
async function createCalled(): Promise<Project> {
  const project = createProject({ "tools.mjs": toTools("1.0.0", "Greets") });
  await runKitbag(["call", "greet", "--module", "tools.mjs"], { project });
  project.write("tools.mjs", toTools("1.1.0", "Greets somebody"));
  await runKitbag(["call", "greet", "--module", "tools.mjs"], { project });
  return project;
}

function toTools(version: string, description: string): string {
  return `
import { defineTool } from "kitbag";
export default defineTool({ name: "greet", description: "${description}", version: "${version}", run: () => "Hello" });
`;
}

const nestedTools = `
import { defineTool } from "kitbag";

export default [
  defineTool({ name: "outer", description: "Calls another", run: (_input, { call }) => call("inner") }),
  defineTool({ name: "inner", description: "Is called", run: () => 1 }),
];
`;

function say(text: string) {
  return {
    name: "say",
    description: "Says something",
    language: "bash" as const,
    code: `echo ${text}\n`,
    examples: [{ input: {}, output: text }],
  };
}
