import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test, vi } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { createProject, runKitbag, type Project } from "../../../test/run-kitbag.ts";

vi.setConfig({ testTimeout: 120_000 });

test("kitbag test runs the examples of tools, and says what is wrong with those that fail", async () => {
  const project = createProject({ "tools.mjs": tools });

  const { code, stdout } = await runKitbag(["test", "--module", "tools.mjs"], { project });

  expect(code).toBe(1);
  expect(stdout).toMatch(/^✓ {2}add +2 passed$/mu);
  expect(stdout).toMatch(/^✗ {2}wrong +1 passed, 1 failed$/mu);
  expect(stdout).toMatch(/^✓ {2}plain +none$/mu);
  expect(stdout).toContain("wrong: example 1 (twice) gave something else\n  input: {}\n  expected: 3\n  got: 2");
  expect(stdout).toContain("2 of 3 tools passed, 3 of 4 examples. 1 tool has no examples.");
});

test("kitbag test --json tells everything, and ends with 0 if all is well", async () => {
  const project = createProject({ "tools.mjs": tools.replace("output: 3, description", "output: 2, description") });

  const { code, stdout } = await runKitbag(["test", "--module", "tools.mjs", "--json"], { project });

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    summary: { tools: 3, passed: 3, examples: 4, failed: 0, declined: 0, faults: 0, withoutExamples: 1 },
    tools: [{ address: "add", passed: true, examples: [{ status: "passed" }, {}] }, {}, {}],
  });
});

test("kitbag test --fuzz finds inputs that make a tool crash, and finds them again by their seed", async (context) => {
  needProgram(context, "python3");
  const project = createSkillProject('if len(a.text) > 4: raise ValueError("no")\nprint(len(a.text))');

  const words = ["test", "skills", "--fuzz", "--runs", "30", "--seed", "3"];
  const first = await runKitbag(words, { project });
  const again = await runKitbag(words, { project });

  expect(first.code).toBe(1);
  expect(first.stdout).toMatch(/✗ {2}count\/count +none +\d+ right, \d+ wrong, \d+ crashed it/u);
  expect(first.stdout).toContain("an input that fits its schema made it crash");
  expect(first.stdout).toContain("again: kitbag test --fuzz --seed 3");
  expect(again.stdout).toBe(first.stdout);
});

test("kitbag test --fuzz passes a tool that stands all inputs, and leaves out those that could do harm", async (context) => {
  needProgram(context, "python3");
  const project = createSkillProject("print(len(a.text))");
  project.write("tools.mjs", tools.replace('name: "plain"', 'name: "plain", annotations: { destructive: true }'));

  const skills = await runKitbag(["test", "skills", "--fuzz", "--runs", "5"], { project });
  const own = await runKitbag(["test", "--module", "tools.mjs", "--fuzz", "--runs", "5", "--json"], { project });

  expect([skills.code, skills.stdout]).toEqual([
    0,
    expect.stringMatching(/✓ {2}count\/count +none +5 right, 5 wrong/u),
  ]);
  const { tools: tested } = JSON.parse(own.stdout) as { tools: { address: string; notFuzzed?: string }[] };
  expect(tested.find(({ address }) => address === "plain")?.notFuzzed).toBe("it says that it destroys");
});

test("kitbag test --fuzz runs all examples before it makes inputs, which find nothing that examples kept", async (context) => {
  needProgram(context, "python3");
  const read = 'import kitbag\nprint(kitbag.skill_state.get("last") or "nothing")';
  const keep =
    'import kitbag\nimport argparse\np = argparse.ArgumentParser()\np.add_argument("text")\nkitbag.skill_state.set("last", p.parse_args().text)';
  const project = createSkillProject("print(len(a.text))", {
    "scripts/a_keep.py": keep,
    "scripts/b_read.py": `${read}\n`,
    "kitbag.toml": '[[tests]]\ntool = "b_read"\ninput = {}\noutput = "nothing\\n"\n',
  });

  const { code, stdout } = await runKitbag(["test", "skills", "--fuzz", "--seed", "1", "--runs", "3"], { project });

  expect(stdout).toMatch(/count\/a_keep +none +3 right/u);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/✓ {2}count\/b_read +1 passed/u)]);
});

test("kitbag test of a folder tries the skills in it, and nothing else of the project", async () => {
  const project = createSkillProject("print(len(a.text))");
  const other = "---\nname: other\ndescription: Is elsewhere\n---\n";
  project.write(".kitbag/skills/other/SKILL.md", other);
  project.write(".kitbag/skills/other/scripts/go.sh", "echo gone\n");
  project.write("empty/note.txt", "");

  const all = await runKitbag(["test", "--json"], { project });
  const one = await runKitbag(["test", "skills/count", "--json"], { project });
  const none = await runKitbag(["test", "empty"], { project });

  expect(addressesIn(all.stdout)).toEqual(["other"]);
  expect(addressesIn(one.stdout)).toEqual(["count/count"]);
  expect([none.code, none.stdout]).toEqual([0, "There are no tools here.\n"]);
});

test("kitbag test --fuzz says truly why it makes no inputs for a tool that is made of others", async () => {
  const project = createProject({ "tools.mjs": composed });

  const { stdout } = await runKitbag(["test", "--module", "tools.mjs", "--fuzz", "--runs", "2", "--json"], { project });

  const { tools: tested } = JSON.parse(stdout) as { tools: { address: string; notFuzzed?: string }[] };
  expect(Object.fromEntries(tested.map(({ address, notFuzzed = "" }) => [address, notFuzzed]))).toEqual({
    plain: "",
    wipe: "it says that it destroys",
    fine: "",
    lost: "its step nowhere is not there",
    deadly: "its step wipe: it says that it destroys",
    nested: "its step deadly: its step wipe: it says that it destroys",
    joined: "its part plain does not say that it destroys nothing",
  });
});

test("kitbag test lets tools work in a directory of their own, with the files that the examples need", async (context) => {
  needProgram(context, "python3");
  const project = createSkillProject(
    "import os\nopen('made', 'w').write('x')\nprint(open(a.text).read(), os.listdir('.'))",
    {
      "kitbag.toml": '[permissions]\nread = ["."]\nwrite = ["."]\n',
      "scripts/manifest.yml": "tools:\n  - script: count.py\n    examples:\n      - input: { text: in.txt }\n",
      "evals/files/in.txt": "inside",
    },
  );
  project.write("in.txt", "outside");

  const { code, stdout } = await runKitbag(["test", "skills", "--json"], { project });

  expect([code, stdout]).toEqual([0, expect.stringContaining("inside")]);
  expect(() => readFileSync(join(project.folder, "made"))).toThrow();
});

test("kitbag test runs every example of the skills that ship with Kitbag, and all pass", async (context) => {
  needProgram(context, "python3");
  const project = createProject({});
  // A copy: some of them may write where they are.
  const skills = fileURLToPath(new URL("../../../skills", import.meta.url));
  cpSync(skills, join(project.folder, "skills"), { recursive: true });

  const { code, stdout } = await runKitbag(["test", "skills", "--json"], { project });

  const { summary, tools: tested, leftOut } = JSON.parse(stdout) as Trials;
  const bad = tested.flatMap(({ examples }) => examples.filter(({ status }) => status !== "passed"));
  expect({ code, bad, leftOut }).toEqual({ code: 0, bad: [], leftOut: [] });
  expect(summary).toMatchObject({ tools: 25, passed: 25, withoutExamples: 0, failed: 0, declined: 0 });
  expect(summary.examples).toBeGreaterThanOrEqual(40);
});

test("kitbag test runs the tests of kitbag.toml, and fails if it must leave one out", async (context) => {
  needProgram(context, "python3");
  const tests = '[[tests]]\ntool = "count"\ninput = { text = "abc" }\noutput = "3"\n';
  const good = createSkillProject("print(len(a.text))", { "kitbag.toml": tests });
  const bad = createSkillProject("print(len(a.text))", {
    "kitbag.toml": `${tests}[[tests]]\ntool = "cuont"\ninput = {}\n`,
  });

  const passed = await runKitbag(["test", "skills"], { project: good });
  const failed = await runKitbag(["test", "skills"], { project: bad });

  expect([passed.code, passed.stdout]).toEqual([0, expect.stringMatching(/✓ {2}count\/count +1 passed/u)]);
  expect([failed.code, failed.stdout]).toEqual([
    1,
    expect.stringContaining(
      'count/kitbag.toml: Left out tests[1]: the skill has no tool "cuont"; did you mean "count"?',
    ),
  ]);
});

test("kitbag test leaves nothing of what tools keep, unless it is told where", async (context) => {
  needProgram(context, "python3");
  const body =
    'import kitbag\nkitbag.state.set("seen", 1 + (kitbag.state.get("seen") or 0))\nprint(kitbag.state.get("seen"))';
  const tests = '[[tests]]\ntool = "count"\ninput = { text = "a" }\noutput = "1"\n';
  const project = createSkillProject(body, { "kitbag.toml": tests });

  const codes: (number | null)[] = [];
  for (const words of [[], [], ["--store", "sqlite:kept.db"], ["--store", "sqlite:kept.db"]]) {
    codes.push((await runKitbag(["test", "skills", ...words], { project })).code);
  }

  expect(codes).toEqual([0, 0, 0, 1]);
  expect(readdirSync(project.folder).toSorted()).not.toContain(".kitbag");
});

test("kitbag test makes the folder dot-git of the files the repository that the examples work in", async (context) => {
  needProgram(context, "python3");
  const body = "import os\nprint(sorted(os.listdir('.')), open('.git/HEAD').read())";
  const project = createSkillProject(body, {
    "kitbag.toml":
      '[permissions]\nread = ["."]\n[[tests]]\ntool = "count"\ninput = { text = "a" }\noutput = "[\'.git\'] x\\n"\n',
    "evals/files/dot-git/HEAD": "x",
  });

  const { code, stdout } = await runKitbag(["test", "skills"], { project });

  expect([code, stdout]).toEqual([0, expect.stringContaining("1 passed")]);
});

test("kitbag test takes names of tools and skills beside folders, and says which one was meant", async () => {
  const project = createSkillProject("print(len(a.text))");
  project.write("tools.mjs", tools);

  const tool = await runKitbag(["test", "add", "--module", "tools.mjs", "--json"], { project });
  const both = await runKitbag(["test", "skills", "count", "--json"], { project });
  const wrong = await runKitbag(["test", "skills", "cuont/count"], { project });

  expect(addressesIn(tool.stdout)).toEqual(["add"]);
  expect(addressesIn(both.stdout)).toEqual(["count/count"]);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('did you mean "count/count"')]);
});

test.for([
  [["--runs", "5"], "they belong to --fuzz"],
  [["--fuzz", "--runs", "0"], "expected a whole number from 1 to 10000"],
  [["--fuzz", "--seed", "x"], "expected a whole number"],
] as const)("kitbag test %j says what is wrong with it", async ([words, text]) => {
  const project = createProject({ "tools.mjs": tools });

  const { code, stderr } = await runKitbag(["test", "--module", "tools.mjs", ...words], { project });

  expect([code, stderr]).toEqual([2, expect.stringContaining(text)]);
});

interface Trials {
  readonly tools: readonly { readonly examples: readonly { readonly status: string }[] }[];
  readonly leftOut: readonly string[];
  readonly summary: { readonly examples: number };
}

function addressesIn(stdout: string): readonly string[] {
  return (JSON.parse(stdout) as { tools: { address: string }[] }).tools.map(({ address }) => address);
}

function createSkillProject(body: string, more: Readonly<Record<string, string>> = {}): Project {
  const script = `import argparse\np = argparse.ArgumentParser()\np.add_argument("text")\na = p.parse_args()\n${body}\n`;
  const files = { "SKILL.md": "---\nname: count\ndescription: Counts\n---\n", "scripts/count.py": script, ...more };
  return createProject(Object.fromEntries(Object.entries(files).map(([path, text]) => [`skills/count/${path}`, text])));
}

const tools = `
import { defineTool } from "kitbag";

const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  annotations: { readOnly: true },
  examples: [{ input: { a: 1, b: 2 }, output: 3 }, { input: { a: 0, b: 0 } }],
  run: ({ a, b }) => a + b,
});
const wrong = defineTool({
  name: "wrong",
  description: "Says two",
  examples: [{ input: {}, output: 2 }, { input: {}, output: 3, description: "twice" }],
  run: () => 2,
});
const plain = defineTool({ name: "plain", description: "Does nothing", run: () => null });
export default [add, wrong, plain];
`;

const composed = `
import { definePipeline, defineTool, pipeline } from "kitbag";

const plain = defineTool({ name: "plain", description: "Does nothing", run: () => null });
const wipe = defineTool({ name: "wipe", description: "Wipes", annotations: { destructive: true }, run: () => null });
const make = (name, tool) => definePipeline({ name, description: "Takes a step", steps: [{ id: "one", tool, args: {} }] });
const joined = pipeline({ name: "joined", description: "Joins", steps: [plain] });
export default [plain, wipe, make("fine", "plain"), make("lost", "nowhere"), make("deadly", "wipe"), make("nested", "deadly"), joined];
`;
