import { expect, test } from "vitest";

import { createProject, runKitbag, toolbox } from "../../../test/run-kitbag.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { argparseScript, skillFiles } from "../../../test/support/skill-files.ts";

test("kitbag show --text prints a skill's text with arguments and the output of granted commands", async () => {
  const project = createProject(greeter);

  const run = await runKitbag(["show", "greeter", "--skills", "skills", "--text", "Ada", "two words"], { project });

  expect(run.stdout).toContain(
    '\n\nAda, hello (two words) [not run: `id -u` (the skill\'s permission run does not list "id"; ',
  );
  expect(run.stderr).toContain('skills/greeter/SKILL.md:5:31 warning shell-not-run The command "id -u" was not run:');
  expect(run.stderr).toContain('    → add it to [permissions] in kitbag.toml, if the skill shall run it: run = ["id"]');
  expect(run.code).toBe(0);
});

test("kitbag show --text --json gives text and diagnostics, and runs nothing of a skill that is not trusted", async () => {
  const files = Object.entries(greeter).map(([path, text]) => [`.kitbag/${path}`, text]);
  const project = createProject(Object.fromEntries(files));

  const run = await runKitbag(["show", "greeter", "--text", "--json", "Ada"], { project });

  const { name, text, diagnostics } = JSON.parse(run.stdout) as Record<string, unknown>;
  expect(name).toBe("greeter");
  expect(text).toMatch(/Ada, \[not run: `printf [^`]*` \(.*was not given/u);
  expect(diagnostics).toMatchObject([
    { code: "shell-not-run", line: 5 },
    { code: "shell-not-run", line: 5 },
  ]);
});

test("kitbag show --text runs nothing of a project's skill until it is trusted", async () => {
  const files = Object.entries(greeter).map(([path, text]) => [`.kitbag/${path}`, text]);
  const project = createProject(Object.fromEntries(files));

  const run = await runKitbag(["show", "greeter", "--text", "Ada", "x"], { project });

  expect(run.stdout).toMatch(/Ada, \[not run: `printf [^`]*` \(Cannot open the skill "greeter": .*kitbag trust/u);
});

test("kitbag show takes arguments for --text only, and --text for skills only", async () => {
  const project = createProject(greeter);

  const bare = await runKitbag(["show", "greeter", "--skills", "skills", "Ada"], { project });
  const unknown = await runKitbag(["show", "greter", "--skills", "skills", "--text"], { project });

  expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining("Cannot use Ada: only --text takes arguments")]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('did you mean "greeter"?')]);
});

test("kitbag show --text shows the text of a skill that a module defines", async () => {
  const project = createProject({
    "tools.ts": `import { defineSkill } from "kitbag";
const games = defineSkill({ name: "games", description: "Games", workDirection: "Play \\u001B[31m." });
export default { skills: [games] };\n`,
  });

  const run = await runKitbag(["show", "games", "--module", "tools.ts", "--text", "now"], { project });

  expect(run.stdout).toBe("Play \\u001b[31m.\n\nARGUMENTS: now\n");
});

const greeter = {
  "skills/greeter/SKILL.md": "---\nname: greeter\ndescription: Greets\n---\n$0, !`printf 'hello (%s)' $1` !`id -u`\n",
  "skills/greeter/kitbag.toml": '[permissions]\nrun = ["printf"]\n',
};

test("kitbag show tells everything about a tool", async () => {
  const project = createProject({ "tools.ts": tools });

  const run = await runKitbag(["show", "web/fetch-page", "--module", "tools.ts"], { project });

  expect(run.stderr).toBe("");
  expect(run.stdout).toMatchInlineSnapshot(`
    "web/fetch-page
    Reads a page of the web

    title        Fetch a page
    version      1.2.0
    source       component web
    wire name    web__fetch-page
    runtime      function
    annotations  readOnly, openWorld
    permissions  network example.com (declared, not enforced: it runs in this process)
    approval     a person must approve each call
    injected     key
    limits       limitMs 5000, retries 2, rate 100 calls in 1 min (10 at once)
    cache        outputs are used again for 10 min, for everybody; tags pages, web
    token cost   ≈ 69 for its definition

    FLAG           VALUE           REQUIRED  DESCRIPTION
    --url          a string        yes       where
    --max-bytes    a whole number            default 1000
    --[no-]follow  true or false

    Call it
      # the front page
      $ kitbag call web/fetch-page --url https://example.com --no-follow
      "<html>"

    Input schema
    {
      "type": "object",
      "properties": {
        "url": {
          "type": "string",
          "description": "where"
        },
        "maxBytes": {
          "type": "integer",
          "default": 1000
        },
        "follow": {
          "type": "boolean"
        }
      },
      "required": [
        "url"
      ],
      "additionalProperties": false
    }

    Output schema
    {
      "type": "string"
    }
    "
  `);
});

test("kitbag show --json tells the same as data", async () => {
  const project = createProject({ "tools.ts": tools });

  const run = await runKitbag(["show", "web__fetch-page", "--module", "tools.ts", "--json"], { project });

  expect(JSON.parse(run.stdout)).toMatchObject({
    address: "web/fetch-page",
    wireName: "web__fetch-page",
    source: "component",
    owner: "web",
    runtime: "function",
    permissions: { network: ["example.com"] },
    permissionsEnforced: false,
    needsApproval: true,
    inject: ["key"],
    limits: { limitMs: 5000, retries: 2, rate: { calls: 100, inMs: 60_000, burst: 10 } },
    cache: { ttlMs: 600_000, tags: ["pages", "web"], scope: "everybody" },
    flags: [{ flag: "--url", required: true }, { flag: "--max-bytes" }, { flag: "--[no-]follow" }],
  });
});

test("kitbag show writes examples that can be called as they are", async () => {
  const shown = await runKitbag(["show", "count-words", "--module", toolbox]);
  const line = /\$ kitbag call count-words (.*)/u.exec(shown.stdout)?.[1];

  expect(line).toBe("--text 'to be or not to be' --top 1");
  const called = await runKitbag([
    "call",
    "count-words",
    "--module",
    toolbox,
    "--text",
    "to be or not to be",
    "--top",
    "1",
    "--json",
  ]);
  expect(JSON.parse(called.stdout)).toMatchObject({ output: { total: 6, top: [{ word: "to", count: 2 }] } });
});

test("kitbag show of an unknown tool says which one was meant", async () => {
  const run = await runKitbag(["show", "sluggify", "--module", toolbox]);

  expect(run).toMatchObject({ code: 1, stdout: "" });
  expect(run.stderr).toBe('Cannot find the tool "sluggify": did you mean "slugify"?\n');
});

test("kitbag show of a name that two owners have lists both", async () => {
  const project = createProject({ "tools.ts": tools });

  const run = await runKitbag(["show", "ping", "--module", "tools.ts"], { project });

  expect(run.code).toBe(1);
  expect(run.stderr).toBe('Cannot choose a tool for "ping": several have this name; use one of web/ping, disk/ping\n');
});

test.for(["constructor", "__proto__", "a/b/c", "", "x".repeat(100_000)])(
  "kitbag show %.20s finds nothing",
  async (address) => {
    const run = await runKitbag(["show", address, "--module", toolbox, "--json"]);

    expect(run.code).toBe(1);
    expect(JSON.parse(run.stdout)).toMatchObject({ status: "failed", error: { code: "tool-not-found" } });
  },
);

test("kitbag show of a skill tells its permissions, cost, tools, and which scripts are none and why", async (context) => {
  needProgram(context, "python3");
  const project = createProject({
    ...shortener,
    "skills/shortener/scripts/test_shorten.py": "def test_it():\n    pass\n",
  });

  const run = await runKitbag(["show", "shortener", "--skills", "skills"], { project });

  expect(run.stderr).toBe("");
  expect(run.stdout.replace(/sha256:[0-9a-f]{64}/u, "sha256:…").replaceAll(/≈ \d+/gu, "≈ N")).toMatchInlineSnapshot(`
    "shortener
    Shortens texts

    state        closed: its tools do not exist until it is opened
    folder       skills/shortener
    trust        trusted: you named its folder
    digest       sha256:…
    files        4
    permissions  read .
    token cost   ≈ N in the list of skills, ≈ N when it is opened, ≈ N for its tools

    TOOL               CONFIDENCE  READ FROM  TOKENS  DESCRIPTION
    shortener/shorten  declared    argparse   ≈ N    Shorten a text file.

    NOT A TOOL               KIND  WHY
    scripts/test_shorten.py  test  it defines tests

    Findings
    skills/shortener/scripts/shorten.py warning environment-undeclared Reads SHORTEN_TOKEN from the environment, which the permissions do not list, so it is denied
        → write in kitbag.toml: [permissions] env = ["SHORTEN_TOKEN"]
    skills/shortener/scripts/shorten.py warning network-undeclared Uses requests to reach api.example.com, which the permissions do not list, so it is denied
        → write in kitbag.toml: [permissions] network = ["api.example.com"]
    "
  `);
});

test("kitbag show of a skill's tool prints a typed schema that was read from an unmodified argparse script", async (context) => {
  needProgram(context, "python3");
  const project = createProject(shortener);

  const run = await runKitbag(["show", "shortener/shorten", "--skills", "skills"], { project });

  expect(run.stderr).toBe("");
  expect(run.stdout).toMatchInlineSnapshot(`
    "shortener/shorten
    Shorten a text file.

    source       skill shortener
    wire name    shortener__shorten
    runtime      script
    permissions  read .
    files        named by file (read)
    script       scripts/shorten.py
    runs with    python3
    confidence   declared (argparse): the script or its author declares it
    environment  SHORTEN_TOKEN (required)
    packages     requests (not declared)
    network      requests, api.example.com
    token cost   ≈ 97 for its definition

    FLAG            VALUE                  REQUIRED  DESCRIPTION
    --lines         a whole number                   how many lines to keep; default 10
    --mode          one of "head", "tail"            which end; default "head"
    --[no-]verbose  true or false
    --file          a string               yes       the text file

    Call it
      $ kitbag call shortener/shorten --lines 3 --file notes.txt

    Input schema
    {
      "type": "object",
      "properties": {
        "lines": {
          "type": "integer",
          "description": "how many lines to keep",
          "default": 10
        },
        "mode": {
          "type": "string",
          "enum": [
            "head",
            "tail"
          ],
          "description": "which end",
          "default": "head"
        },
        "verbose": {
          "type": "boolean"
        },
        "file": {
          "type": "string",
          "description": "the text file"
        }
      },
      "required": [
        "file"
      ],
      "additionalProperties": false
    }
    "
  `);
});

test("kitbag show --json of a skill and of its tool tells the same as data", async (context) => {
  needProgram(context, "python3");
  const project = createProject(shortener);

  const skill = await runKitbag(["show", "shortener", "--skills", "skills", "--json"], { project });
  const tool = await runKitbag(["show", "plugin:shortener/shorten", "--skills", "skills", "--json"], { project });

  expect(JSON.parse(skill.stdout)).toMatchObject({
    name: "shortener",
    status: "warning",
    state: "closed",
    path: "skills/shortener",
    scope: "given",
    trust: { status: "trusted" },
    digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/u) as string,
    permissions: { read: ["."] },
    tokens: {
      listed: expect.any(Number) as number,
      opened: expect.any(Number) as number,
      tools: expect.any(Number) as number,
    },
    tools: [{ address: "shortener/shorten", confidence: "declared", source: "argparse" }],
  });
  expect(JSON.parse(tool.stdout)).toMatchObject({
    address: "shortener/shorten",
    wireName: "shortener__shorten",
    source: "skill",
    runtime: "script",
    confidence: "declared",
    readFrom: "argparse",
    file: "scripts/shorten.py",
    environment: [{ name: "SHORTEN_TOKEN" }],
    imports: [{ name: "requests" }],
    inputSchema: { properties: { lines: { type: "integer", default: 10 }, mode: { enum: ["head", "tail"] } } },
  });
});

test("kitbag show of a skill that was skipped says why, exit code 1", async () => {
  const project = createProject({ "skills/broken/SKILL.md": "---\n- a list\n---\n" });

  const run = await runKitbag(["show", "broken", "--skills", "skills"], { project });

  expect(run.code).toBe(1);
  expect(run.stdout).toMatchInlineSnapshot(`
    "broken
    skipped, because the front matter is a list, not keys with values

    skills/broken/SKILL.md:2:1 error front-matter-not-map The front matter is a list, not keys with values
        → Write "key: value" lines, and texts in double quotes
    "
  `);
});

test("kitbag show of a skill of the project says that it must be trusted", async () => {
  const project = createProject(skillFiles(".kitbag/skills/mine"));

  const run = await runKitbag(["show", "mine"], { project });

  expect(run.stdout).toContain("trust        not trusted: it comes with the project; read it, then run: kitbag trust ");
});

test("kitbag show shows the skill if one of its tools has the same name", async () => {
  const project = createProject({
    ...skillFiles("skills/count"),
    "skills/count/scripts/count.sh": "#!/bin/sh\n# Count things.\necho 1\n",
  });

  const run = await runKitbag(["show", "count", "--skills", "skills", "--json"], { project });

  expect(JSON.parse(run.stdout)).toMatchObject({ name: "count", tools: [{ address: "count/count" }] });
});

test("kitbag show of a name that is nearly a skill's says which one was meant", async () => {
  const project = createProject(skillFiles("skills/shortener"));

  const run = await runKitbag(["show", "shortner", "--skills", "skills"], { project });

  expect(run).toMatchObject({ code: 1, stdout: "" });
  expect(run.stderr).toContain('did you mean "shortener"?');
});

const shortener = {
  ...skillFiles("skills/shortener", {
    description: "Shortens texts",
    body: "Run `python3 scripts/shorten.py notes.txt --lines 3`.\n",
  }),
  "skills/shortener/kitbag.toml": '[permissions]\nread = ["."]\n',
  "skills/shortener/scripts/shorten.py": argparseScript,
};

const tools = `
import { defineTool, injected } from "kitbag";
const fetchPage = defineTool({
  name: "fetch-page",
  title: "Fetch a page",
  description: "Reads a page of the web",
  version: "1.2.0",
  input: {
    type: "object",
    properties: {
      url: { type: "string", description: "where" },
      maxBytes: { type: "integer", default: 1000 },
      follow: { type: "boolean" },
    },
    required: ["url"],
  },
  output: { type: "string" },
  annotations: { readOnly: true, openWorld: true },
  permissions: { network: ["example.com"] },
  inject: { key: injected<string>() },
  needsApproval: true,
  limits: { limitMs: 5000, retries: 2, rate: { calls: 100, inMs: 60_000, burst: 10 } },
  cache: { ttlMs: 600_000, tags: ["pages", "web"], scope: "everybody" },
  examples: [{ description: "the front page", input: { url: "https://example.com", follow: false }, output: "<html>" }],
  run: () => "<html>",
});
const ping = defineTool({ name: "ping", description: "Answers", run: () => "pong" });
export default { components: [{ name: "web", tools: [fetchPage, ping] }, { name: "disk", tools: [ping] }] };
`;
