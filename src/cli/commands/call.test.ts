import { expect, test } from "vitest";

import { createProject, runKitbag, toolbox, type KitbagRun, type RunKitbagOptions } from "../../../test/run-kitbag.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { argparseScript, skillFiles, toolManifest } from "../../../test/support/skill-files.ts";

test("kitbag call turns flags into input by the schema", async () => {
  const run = await callEcho(
    "--count 3 --ratio -0.5 --tag a --tag b --verbose --no-quiet --filter.size 3 --filter.deep.x=y --maxItems 7".split(
      " ",
    ),
  );

  expect(output(run)).toEqual({
    count: 3,
    ratio: -0.5,
    tag: ["a", "b"],
    verbose: true,
    quiet: false,
    filter: { size: 3, deep: { x: "y" } },
    maxItems: 7,
  });
});

test("kitbag call matches kebab-case flags with camelCase and snake_case parameters", async () => {
  const run = await callEcho(["--max-items", "7", "--user-name", "Ada"]);

  expect(output(run)).toEqual({ maxItems: 7, user_name: "Ada" });
});

test("kitbag call keeps a text that looks like a number a text where the schema wants text", async () => {
  const run = await callEcho(["--text", "007"]);

  expect(output(run)).toEqual({ text: "007" });
});

test("kitbag call takes --input as JSON, and flags go before it", async () => {
  const run = await callEcho([
    "--input",
    '{"count": 1, "text": "kept", "filter": {"size": 1, "deep": {"x": "kept"}}}',
    "--count",
    "2",
    "--filter.size",
    "2",
  ]);

  expect(output(run)).toEqual({ count: 2, text: "kept", filter: { size: 2, deep: { x: "kept" } } });
});

test("kitbag call --input - reads standard input", async () => {
  const run = await callEcho(["--input", "-"], { stdin: '\uFEFF{"text": "hö"}' });

  expect(output(run)).toEqual({ text: "hö" });
});

test("kitbag call --input @file reads a file of the working directory", async () => {
  const run = await callEcho(["--input", "@input.json"]);

  expect(output(run)).toEqual({ text: "from a file" });
});

test("kitbag call gives flags behind -- to the tool", async () => {
  const run = await callEcho(["--count", "1", "--", "--json", "yes"]);

  expect(run.code).toBe(0);
  expect(JSON.parse(run.stdout)).toEqual({ count: 1, json: "yes" });
});

test("kitbag call prints text as text", async () => {
  const run = await runKitbag(["call", "slugify", "--module", toolbox, "--text", "Crème brûlée!"]);

  expect(run).toEqual({ code: 0, stdout: "creme-brulee\n", stderr: "" });
});

test("kitbag call prints data as JSON that is easy to read", async () => {
  const run = await runKitbag(["call", "count-words", "--module", toolbox, "--text", "a b a", "--top", "1"]);

  expect(run.stdout).toBe('{\n  "total": 3,\n  "top": [\n    {\n      "word": "a",\n      "count": 2\n    }\n  ]\n}\n');
});

test("kitbag call --json prints the outcome", async () => {
  const run = await runKitbag(["call", "add", "--module", toolbox, "--a", "2", "--json"]);

  expect(JSON.parse(run.stdout)).toEqual({ status: "ok", output: 3 });
});

test("kitbag call shows chunks as they come, and the output only once", async () => {
  const run = await runKitbag(["call", "countdown", "--module", toolbox, "--from", "2"]);

  expect(run).toEqual({ code: 0, stdout: "2 … 1 … lift-off!\n", stderr: "" });
});

test("kitbag call shows an output that is not its chunks after them", async () => {
  const run = await callTool("chatty", []);

  expect(run.stdout).toBe('one\n{"two":2}\n3\n');
});

test("kitbag call --json prints no chunks", async () => {
  const run = await callTool("chatty", ["--json"]);

  expect(JSON.parse(run.stdout)).toEqual({ status: "ok", output: 3 });
});

test("kitbag call sends what a tool prints to standard error", async () => {
  const run = await callTool("printing", ["--json"]);

  expect(JSON.parse(run.stdout)).toEqual({ status: "ok", output: "done" });
  expect(run.stderr).toBe("hello from the tool\n");
});

test("kitbag call of an unknown tool says which one was meant, exit code 1", async () => {
  const run = await runKitbag(["call", "slugfy", "--module", toolbox, "--text", "x", "--json"]);

  expect(run.code).toBe(1);
  expect(JSON.parse(run.stdout)).toMatchObject({
    status: "failed",
    error: { code: "tool-not-found", details: { nearest: ["slugify"] } },
  });
  expect(run.stderr).toBe('Cannot find the tool "slugfy": did you mean "slugify"?\n');
});

test("kitbag call with a wrong input fails with every problem, exit code 1", async () => {
  const run = await callEcho(["--count", "NaN", "--ratio", "Infinity", "--json"]);

  expect(run.code).toBe(1);
  expect(JSON.parse(run.stdout)).toMatchObject({
    error: { code: "input-invalid", details: { problems: [{ path: "count" }, { path: "ratio" }] } },
  });
});

test.for([
  [["--cuont", "3"], "did you mean --count?"],
  [["--limitms", "3"], "did you mean --limit-ms?"],
  [["--__proto__", "3"], "no such parameter"],
  [["stray"], '"stray": it is not a flag'],
  [["--input", "[]"], "expected a JSON object like"],
  [["--input", "NaN"], "expected JSON, found"],
  [["--input", "@missing.json"], "there is no such file"],
  [["--input", "@."], "it is a folder"],
  [["--input", "{}", "--input", "{}"], "Cannot use --input twice"],
  [["--limit-ms", "0"], "expected a whole number of milliseconds"],
  [["--limit-ms", "1e9"], "expected a whole number of milliseconds"],
] as const)("kitbag call with %j is wrong usage", async ([words, message]) => {
  const run = await callEcho(words);

  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toContain(message);
  expect(run.stderr.trim().split("\n")).toHaveLength(1);
});

test("kitbag call refuses an input that is nested 10,000 levels deep", async () => {
  const run = await callEcho(["--input", "-", "--json"], {
    stdin: `{"any":${"[".repeat(10_000)}${"]".repeat(10_000)}}`,
  });

  expect(run.code).toBe(2);
  expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: "usage-invalid" } });
  expect(run.stderr).toBe("Cannot use --input: it is nested more than 1000 levels deep\n");
});

test("kitbag call leaves an input of 100 levels to the check of the call", async () => {
  const run = await callEcho(["--input", "-"], { stdin: `{"any":${"[".repeat(100)}${"]".repeat(100)}}` });

  expect(run.code).toBe(1);
  expect(run.stderr).toContain("at most 64 levels");
});

test("kitbag call refuses millions of brackets before they use up the memory", async () => {
  const run = await callEcho(["--input", "-"], { stdin: "[".repeat(12_000_000) });

  expect(run.code).toBe(2);
});

test("kitbag call passes 10 MB through, whole", async () => {
  const text = "ö".repeat(5_000_000);

  const run = await callEcho(["--input", "-"], { stdin: JSON.stringify({ text }) });

  expect(run.code).toBe(0);
  expect((JSON.parse(run.stdout) as { text: string }).text === text).toBe(true);
});

test("kitbag call refuses the key __proto__ in JSON", async () => {
  const run = await callEcho(["--input", '{"__proto__": {"polluted": true}}']);

  expect(run.code).toBe(1);
  expect(run.stderr).toContain("__proto__");
});

test("kitbag call --limit-ms ends a tool that hangs", async () => {
  const run = await callTool("hang", ["--limit-ms", "100", "--json"]);

  expect(run.code).toBe(1);
  expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: "call-timeout", details: { limitMs: 100 } } });
});

test("Z12: kitbag call takes KITBAG_LIMIT_MS unless --limit-ms says otherwise, and refuses a wrong one", async () => {
  const env = { KITBAG_LIMIT_MS: "90" };

  const byEnvironment = await callTool("hang", ["--json"], { env });
  const byFlag = await callTool("hang", ["--json", "--limit-ms", "50"], { env });
  const wrong = await callTool("hang", ["--json"], { env: { KITBAG_LIMIT_MS: "soon" } });

  expect(JSON.parse(byEnvironment.stdout)).toMatchObject({ error: { details: { limitMs: 90 } } });
  expect(JSON.parse(byFlag.stdout)).toMatchObject({ error: { details: { limitMs: 50 } } });
  expect(wrong.code).toBe(2);
  expect(wrong.stdout + wrong.stderr).toContain("Cannot use KITBAG_LIMIT_MS soon");
});

test.for([
  ["--limit-ms over the module", ["--limit-ms", "50"], 50],
  ["the module over kitbag.config.json", ["--module", "limited.ts"], 60],
  ["kitbag.config.json over the default", ["--module", "tools.ts"], 70],
] as const)("kitbag call takes %s", async ([, words, limitMs]) => {
  const project = createProject({
    "tools.ts": tools,
    "limited.ts": 'import tools from "./tools.ts";\nexport default { tools, limits: { limitMs: 60 } };',
    "kitbag.config.json": '{"limits": {"limitMs": 70}}',
  });
  const module = words[0] === "--module" ? [] : ["--module", "limited.ts"];

  const run = await runKitbag(["call", "hang", ...module, ...words, "--json"], { project });

  expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: "call-timeout", details: { limitMs } } });
});

test.for<NodeJS.Signals>(["SIGINT", "SIGTERM", "SIGHUP"])("kitbag call is cancelled by %s", async (name) => {
  const run = await callTool("endless", [], { signal: { name, after: "started" } });

  expect(run.code).toBe(1);
  expect(run.stderr).toContain('Cannot finish "endless": the call was cancelled');
});

test("kitbag call of a tool that needs an approval is denied where nobody can be asked", async () => {
  const run = await callTool("careful", []);

  expect(run.code).toBe(1);
  expect(run.stderr).toContain("approve it with --yes");
});

test("kitbag call --yes approves", async () => {
  const run = await callTool("careful", ["--yes"]);

  expect(run).toMatchObject({ code: 0, stdout: "did it\n" });
});

test("kitbag call reaches a tool that is named constructor", async () => {
  const run = await callTool("constructor", ["--json"]);

  expect(JSON.parse(run.stdout)).toEqual({ status: "ok", output: "built" });
});

test("kitbag call reports a tool that throws, in one line", async () => {
  const run = await callTool("throwing", []);

  expect(run).toEqual({
    code: 1,
    stdout: "",
    stderr: 'Cannot finish "throwing": the tool failed: out of paper\n',
  });
});

test.for(["exiting", "rejecting-later"])("kitbag call --json prints one document when the tool %s", async (tool) => {
  const run = await callTool(tool, ["--json"]);

  expect(run.code).toBe(1);
  expect(JSON.parse(run.stdout)).toMatchObject({ status: "failed", error: { code: "program-failed" } });
});

test("kitbag call of a skill's tool opens the skill, says so, and closes it", async () => {
  const project = createProject({ "tools.ts": skillModule });

  const run = await runKitbag(["call", "greeter/greet", "--name", "Ada", "--module", "tools.ts"], { project });

  expect(run).toEqual({
    code: 0,
    stdout: "Hello Ada\n",
    stderr: "up\nOpened the skill greeter for this call\ndown\n",
  });
});

test("kitbag call opens no skill for input that is wrong", async () => {
  const project = createProject({ "tools.ts": skillModule });

  const run = await runKitbag(["call", "greeter/greet", "--nam", "Ada", "--module", "tools.ts"], { project });

  expect(run.code).toBe(2);
  expect(run.stderr).not.toContain("up");
});

test("kitbag call opens a skill with those it needs, for a tool that it takes over from one of them", async () => {
  const project = createProject({ "tools.ts": skillModule });

  const run = await runKitbag(["call", "polite/greet-ada", "--json", "--module", "tools.ts"], { project });

  expect(JSON.parse(run.stdout)).toEqual({ status: "ok", output: "Hello Ada" });
  expect(run.stderr).toContain("Opened the skill polite and greeter, which it needs, for this call\n");
});

test("kitbag call checks the input of a script before it looks for what runs it", async (context) => {
  needProgram(context, "python3");
  const project = createProject({ ...skillFiles("skills/short"), "skills/short/scripts/shorten.py": argparseScript });
  const words = ["call", "short/shorten", "--skills", "skills", "--json"];

  const run = await runKitbag([...words, "--file", "x", "--mode", "middle", "--lines", "many"], { project });

  expect(JSON.parse(run.stdout)).toMatchObject({
    error: { code: "input-invalid", details: { problems: [{ path: "mode" }, { path: "lines" }] } },
  });
});

test("kitbag call of an untrusted skill's tool says how to trust it", async () => {
  const project = createProject({
    ...skillFiles(".kitbag/skills/poet"),
    ".kitbag/skills/poet/kitbag.toml": toolManifest,
    ".kitbag/skills/poet/scripts/print.py": "",
  });

  const run = await runKitbag(["call", "poet/print", "--text", "hi"], { project });

  expect(run).toMatchObject({ code: 1, stdout: "" });
  expect(run.stderr).toContain(
    'Cannot open the skill "poet": its folder is not trusted; read it, then run: kitbag trust ',
  );
});

test("kitbag call of a tool of the configuration does not look for skills", async () => {
  const project = createProject({ "tools.ts": tools });

  const run = await runKitbag(["call", "constructor", "--module", "tools.ts", "--skills", "missing"], { project });

  expect(run).toEqual({ code: 0, stdout: "built\n", stderr: "" });
});

function callEcho(words: readonly string[], options: RunKitbagOptions = {}): Promise<KitbagRun> {
  return callTool("echo", words, options);
}

function callTool(tool: string, words: readonly string[], options: RunKitbagOptions = {}): Promise<KitbagRun> {
  const project = createProject({ "tools.ts": tools, "input.json": '{"text": "from a file"}' });
  return runKitbag(["call", tool, "--module", "tools.ts", ...words], { project, ...options });
}

function output(run: KitbagRun): unknown {
  expect(run.stderr).toBe("");
  return JSON.parse(run.stdout);
}

const tools = `
import { defineTool } from "kitbag";

const text = { type: "string" };
const flag = { type: "boolean" };
const filter = {
  type: "object",
  properties: { size: { type: "integer" }, deep: { type: "object", properties: { x: text } } },
};
const tool = (name: string, run: () => unknown, more = {}) => defineTool({ name, description: name, run, ...more });

export default [
  defineTool({
    name: "echo",
    description: "Answers with its input",
    input: {
      type: "object",
      properties: {
        count: { type: "integer" }, ratio: { type: "number" }, tag: { type: "array", items: text }, verbose: flag, quiet: flag,
        filter, maxItems: { type: "integer" }, user_name: text, text, json: text, any: {},
      },
    },
    run: (input) => input,
  }),
  tool("chatty", async function* () { yield "one\\n"; yield { two: 2 }; return 3; }),
  tool("printing", () => { console.log("hello from the tool"); return "done"; }),
  tool("hang", () => { setInterval(() => {}, 1000); return new Promise(() => {}); }),
  tool("endless", async function* () { yield "started"; await new Promise((resolve) => setTimeout(resolve, 20_000)); }),
  tool("careful", () => "did it", { needsApproval: true }),
  tool("constructor", () => "built"),
  tool("throwing", () => { throw new Error("out of paper"); }),
  tool("exiting", () => process.exit(0)),
  tool("rejecting-later", () => { setTimeout(() => Promise.reject(new Error("late"))); return new Promise(() => {}); }),
];
`;

const skillModule = `
import { defineSkill, defineTool } from "kitbag";

const greet = defineTool({
  name: "greet",
  description: "Greets",
  input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  run: ({ name }) => "Hello " + name,
});
const greeter = defineSkill({
  name: "greeter",
  description: "Greets people",
  tools: [greet],
  onActivate: () => console.error("up"),
  onDeactivate: () => console.error("down"),
});
const polite = defineSkill({
  name: "polite",
  description: "Greets Ada",
  reuses: [{ name: "greet-ada", uses: "greeter/greet", locked: { name: "Ada" } }],
});
export default { skills: [greeter, polite] };
`;
