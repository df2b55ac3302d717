import { delimiter } from "node:path";

import { expect, test } from "vitest";

import { createProject, runKitbag, toolbox } from "../../../test/run-kitbag.ts";
import { skillFiles, toolManifest } from "../../../test/support/skill-files.ts";

test("kitbag list shows each tool with its source and description", async () => {
  const project = createProject({ "tools.ts": tools });

  const run = await runKitbag(["list", "--module", "tools.ts"], { project });

  expect(run.stderr).toBe("");
  expect(run.stdout).toMatchInlineSnapshot(`
    "TOOL        SOURCE     DESCRIPTION
    hello       global     Says hello \\u001b[31m in red
    math/hello  component  Says hello to numbers
    "
  `);
});

test("kitbag list --json prints the tools as data", async () => {
  const project = createProject({ "tools.ts": tools });

  const run = await runKitbag(["list", "--module", "tools.ts", "--json"], { project });

  expect(JSON.parse(run.stdout)).toEqual({
    tools: [
      {
        address: "hello",
        wireName: "hello",
        source: "global",
        owner: "global",
        description: "Says hello\n\u001B[31m in red",
      },
      {
        address: "math/hello",
        wireName: "math__hello",
        source: "component",
        owner: "math",
        description: "Says hello to numbers",
      },
    ],
    skills: [],
  });
});

test("kitbag list shows the example tools", async () => {
  const run = await runKitbag(["list", "--module", toolbox, "--json"]);

  const { tools: found } = JSON.parse(run.stdout) as { tools: { address: string }[] };
  expect(found.map(({ address }) => address)).toEqual([
    "add",
    "slugify",
    "count-words",
    "format-date",
    "hash-text",
    "countdown",
  ]);
});

test("kitbag list says when there are no tools", async () => {
  const project = createProject({ "kitbag.config.json": '{"limits": {"limitMs": 1000}}' });

  const run = await runKitbag(["list"], { project });

  expect(run).toEqual({ code: 0, stdout: "There are no tools.\n", stderr: "" });
});

test("kitbag list shows skills beside tools, closed, and says why one was skipped", async () => {
  const project = createProject({
    "tools.ts": tools,
    ...skillFiles("skills/poet", { description: "Writes poems" }),
    "skills/poet/kitbag.toml": toolManifest,
    "skills/poet/scripts/print.py": "",
    "skills/broken/SKILL.md": "---\n- a list\n---\n",
    ...skillFiles("second/poet"),
  });

  const run = await runKitbag(["list", "skills", "second", "--module", "tools.ts"], { project });

  expect(run.stderr).toBe("");
  expect(run.stdout.replace(project.folder, "…")).toMatchInlineSnapshot(`
    "TOOL        SOURCE         DESCRIPTION
    hello       global         Says hello \\u001b[31m in red
    math/hello  component      Says hello to numbers
    poet/twice  skill, closed  Says a text twice
    poet/print  skill, closed  Prints a text

    SKILL   STATE    TOOLS  FROM           DESCRIPTION
    poet    closed   2      skills/poet    Writes poems
    broken  skipped  0      skills/broken  skipped, because the front matter is a list, not keys with values
    poet    skipped  0      second/poet    skipped, because …/skills/poet has a skill of the same name and goes before it
    "
  `);
});

test("kitbag list --json tells where skills are and whether they may run", async () => {
  const project = createProject({
    ...skillFiles("given/a"),
    ...skillFiles(".claude/skills/b"),
    ...skillFiles("../.kitbag/skills/c"),
    "given/d/SKILL.md": "",
  });

  const run = await runKitbag(["list", "given", "--json"], { project });

  expect(run.code).toBe(0);
  expect(JSON.parse(run.stdout)).toMatchObject({
    tools: [],
    skills: [
      { name: "a", state: "closed", path: "given/a", scope: "given", trust: "trusted" },
      { name: "b", state: "closed", path: ".claude/skills/b", scope: "project", trust: "untrusted" },
      { name: "c", state: "closed", scope: "user", trust: "trusted" },
      { name: "d", state: "skipped", path: "given/d", reason: "skipped, because the file is empty" },
    ],
  });
});

test("kitbag list takes folders from KITBAG_SKILLS, after those that are named", async () => {
  const project = createProject({ ...skillFiles("one/a"), ...skillFiles("two/b"), ...skillFiles("three/a") });
  const env = { KITBAG_SKILLS: [project.folder + "/two", "", "three"].join(delimiter) };

  const run = await runKitbag(["list", "one", "--json"], { project, env });

  const { skills } = JSON.parse(run.stdout) as { skills: { name: string; path: string; state: string }[] };
  expect(skills.map(({ name, path, state }) => [name, path, state])).toEqual([
    ["a", "one/a", "closed"],
    ["b", "two/b", "closed"],
    ["a", "three/a", "skipped"],
  ]);
});

test("kitbag list trusts what KITBAG_SKILLS names, unless every project could be meant", async () => {
  const project = createProject({ ...skillFiles("one/a"), ...skillFiles("two/b"), ...skillFiles("two/c") });
  const env = { KITBAG_SKILLS: [`${project.folder}/one`, "two"].join(delimiter) };

  const run = await runKitbag(["list", "two/c", "--json"], { project, env });

  const { skills } = JSON.parse(run.stdout) as { skills: { name: string; trust: string }[] };
  expect(skills.map(({ name, trust }) => [name, trust])).toEqual([
    ["c", "trusted"],
    ["a", "trusted"],
    ["b", "untrusted"],
  ]);
});

test.for([
  [["list", "missing"], {}],
  [["list"], { KITBAG_SKILLS: "missing" }],
  [["search", "x", "--skills", "missing"], {}],
] as const)("kitbag %j refuses a folder that is not there", async ([words, env]) => {
  const run = await runKitbag(words, { env });

  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(/^Cannot find skills in .*missing: there is no such folder\n$/u);
});

test("kitbag list of a folder without skills says that there is nothing", async () => {
  const run = await runKitbag(["list", "skills"], { project: createProject({ "skills/readme.txt": "" }) });

  expect(run).toEqual({ code: 0, stdout: "There are no tools.\n", stderr: "" });
});

test("kitbag list skips a folder whose skill the configuration has already", async () => {
  const config =
    'import { defineSkill } from "kitbag";\nexport default { skills: [defineSkill({ name: "a", description: "Mine" })] };';
  const project = createProject({ "tools.ts": config, ...skillFiles("skills/a") });

  const run = await runKitbag(["list", "skills", "--module", "tools.ts"], { project });

  expect(run.stdout).toMatch(/^a +closed +0 +the configuration +Mine$/mu);
  expect(run.stdout).toMatch(
    /^a +skipped +0 +skills\/a +skipped, because the configuration goes before it: Cannot add the skill "a"/mu,
  );
});

test("kitbag list never lets a skill's words reach the terminal as commands", async () => {
  const project = createProject({
    "skills/evil/SKILL.md": '---\nname: evil\ndescription: "\\x1b[2J\\u202Eboo"\n---\n\nText\n',
    "skills/b\u001B[1mad/SKILL.md": "",
  });

  const run = await runKitbag(["list", "skills"], { project });

  expect(run.stdout).toContain("evil");
  expect(run.stdout).not.toMatch(/[\u001B\u202E]/u);
});

test.for([
  ["a tool", 'export default defineTool({ name: "x", description: "x", run: () => 1 });'],
  ["a list", 'export default [defineTool({ name: "x", description: "x", run: () => 1 })];'],
  ["options", 'export default { tools: [defineTool({ name: "x", description: "x", run: () => 1 })] };'],
  ["a function", 'export default async () => [defineTool({ name: "x", description: "x", run: () => 1 })];'],
])("kitbag list takes a module that exports %s", async ([, text = ""]) => {
  const project = createProject({ "tools.mts": `import { defineTool } from "kitbag";\n${text}` });

  const run = await runKitbag(["list", "--module", "tools.mts", "--json"], { project });

  expect(JSON.parse(run.stdout)).toMatchObject({ tools: [{ address: "x" }] });
});

test.for([
  ["tools.ts", "export const tools = [];", "it has no default export"],
  ["tools.ts", "export default 3;", "expected a tool, a list of tools or options like { tools: [...] }, found 3"],
  ["tools.ts", "export default null;", "found null"],
  ["tools.ts", "export default new Map();", "found a Map"],
  ["tools.ts", "export default { tolls: [] };", 'it cannot have "tolls"; did you mean "tools"?'],
  ["tools.ts", "export default JSON.parse('{\"__proto__\": 1}');", 'it cannot have "__proto__"'],
  ["tools.ts", "export default { tools: 3 };", "tools: expected a list, found 3"],
  ["tools.ts", "export default [() => 1];", "expected a tool made with defineTool, found a function"],
  ["tools.ts", "export default { limits: { limitMs: NaN } };", 'Cannot use "limits.limitMs"'],
  ["tools.ts", "export default { limits: { limitMS: 3 } };", "limitMs"],
  ["tools.ts", 'throw new Error("no paper");', "loading it failed: Error: no paper ("],
  ["tools.ts", "throw null;", "loading it failed: null"],
  ["tools.ts", 'export default () => { throw new Error("no ink"); };', "its function failed: no ink"],
  ["tools.ts", "enum X {}", "loading it failed: SyntaxError"],
  ["tools.ts", "export default (", "loading it failed: SyntaxError"],
  ["tools.ts", 'import "no-such-package";', "Cannot find package 'no-such-package'"],
  ["tools.ts", 'import { defineTool } from "kitbag"; defineTool({ name: "a b" });', "Cannot define the tool"],
  ["tools.json", "[]", "a module ends in .ts, .mts, .js or .mjs"],
  ["tools.ts", "await new Promise(() => {});", "waits for something that never comes"],
] as const)("kitbag list refuses %s with %s", async ([name, text, message]) => {
  const project = createProject({ [name]: text });

  const run = await runKitbag(["list", "--module", name], { project });

  expect(run.code).not.toBe(0);
  expect(run.stdout).toBe("");
  expect(run.stderr).toContain(message);
  expect(run.stderr.trim().split("\n").length).toBeLessThanOrEqual(2);
});

const tools = `
import { defineTool } from "kitbag";
const hello = (description: string) => defineTool({ name: "hello", description, run: () => "Hello!" });
export default {
  tools: [hello("Says hello\\n\\u001B[31m in red")],
  components: [{ name: "math", tools: [hello("Says hello to numbers")] }],
};
`;

test("kitbag list --skills takes folders as kitbag call does, before those that are arguments", async () => {
  const project = createProject({
    "one/hi/SKILL.md": "---\nname: hi\ndescription: Says hi\n---\n",
    "two/ho/SKILL.md": "---\nname: ho\ndescription: Says ho\n---\n",
  });

  const run = await runKitbag(["list", "two", "--skills", "one", "--json"], { project });

  expect(JSON.parse(run.stdout)).toMatchObject({ skills: [{ name: "hi" }, { name: "ho" }] });
});
