import { expect, test } from "vitest";

import { createProject, runKitbag, toolbox } from "../../../test/run-kitbag.ts";

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
