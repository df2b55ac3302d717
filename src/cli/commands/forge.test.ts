import { rmSync } from "node:fs";

import { expect, test, vi } from "vitest";

import { createProject, runKitbag, type KitbagRun, type Project } from "../../../test/run-kitbag.ts";
import { forgeOperations } from "../forge/operations.ts";

vi.setConfig({ testTimeout: 120_000 });

const countWords = `const { text } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
console.log(JSON.stringify({ words: text.split(" ").length }));
`;
const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const output = { type: "object", properties: { words: { type: "integer" } }, required: ["words"] };
const examples = [{ input: { text: "one two" }, output: { words: 2 } }];

test("kitbag forge makes a tool of files, which other processes call, change and delete", async () => {
  const project = createCounting();

  const made = await create(project);
  const called = await kitbag(project, "call", "count-words", "--text", "a b c", "--json");
  const changed = await kitbag(project, "forge", "update_tool", "--name", "count-words", "--changes.title", "Words");
  const versions = await kitbag(project, "forge", "list_versions", "--name", "count-words", "--json");
  const back = await kitbag(project, "forge", "rollback_tool", "--name", "count-words", "--version", "1.0.0");
  const tested = await kitbag(project, "forge", "test_tool", "--name", "count-words", "--json");
  const deleted = await kitbag(project, "forge", "delete_tool", "--name", "count-words", "--json");
  const undone = await kitbag(project, "forge", "delete_tool", "--name", "count-words", "--undo");

  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toBe(
    "count-words is live, at 1.0.0; 1 example passed. Next:\n  kitbag call count-words --text 'one two'\n",
  );
  expect(JSON.parse(called.stdout)).toEqual({ status: "ok", output: { words: 3 } });
  expect(changed.stdout).toContain("count-words is live, at 1.0.1 (patch, after 1.0.0); 1 example passed.");
  expect(JSON.parse(versions.stdout)).toMatchObject({
    status: "ok",
    output: { versions: [{ version: "1.0.0" }, { version: "1.0.1", current: true }] },
  });
  expect(back.stdout).toContain("count-words is live, at 1.0.0.");
  expect(JSON.parse(tested.stdout)).toMatchObject({ output: { version: "1.0.0", passed: true } });
  expect(JSON.parse(deleted.stdout)).toMatchObject({ output: { status: "deleted", version: "1.0.0" } });
  expect(undone.stdout).toContain("count-words is live, at 1.0.0.");
});

test("kitbag forge delete_tool and delete_skill bring back what nobody has trusted, and say that it does not run", async () => {
  const project = createCounting();
  await create(project);
  const skill = { name: "talk", description: "Talks. Use it to talk.", instructions: "Talk." };
  await kitbag(project, "forge", "create_skill", "--input", JSON.stringify(skill));
  await kitbag(project, "forge", "delete_tool", "--name", "count-words");
  await kitbag(project, "forge", "delete_skill", "--name", "talk");
  rmSync(project.trustFile);

  const tool = await kitbag(project, "forge", "delete_tool", "--name", "count-words", "--undo");
  const undone = await kitbag(project, "forge", "delete_skill", "--name", "talk", "--undo");

  expect(tool).toMatchObject({ code: 0, stderr: "" });
  expect(tool.stdout).toMatch(/^count-words is back, at 1\.0\.0\. .*kitbag trust \.kitbag\/tools\/count-words\n$/u);
  expect([undone.code, undone.stderr]).toEqual([0, ""]);
  expect(undone.stdout).toMatch(/^talk is (?:back|live), at 1\.0\.0/u);
});

test("kitbag forge says what to change if an example does not pass, and keeps nothing", async () => {
  const project = createCounting();
  project.write("count.js", "console.log('{\"words\": 7}');\n");

  const made = await create(project);
  const called = await kitbag(project, "call", "count-words", "--text", "a");

  expect(made).toMatchObject({ code: 1, stdout: "" });
  expect(made.stderr).toContain("1 of 1 examples did not pass, so it is not live");
  expect(made.stderr).toContain('{"words":2}');
  expect(made.stderr).toContain('{"words":7}');
  expect(called.code).toBe(1);
});

test("kitbag forge takes a whole draft as JSON, and a flag goes before it", async () => {
  const project = createCounting();
  const draft = { name: "count", description: "Counts", language: "javascript", input, output, examples };
  project.write("draft.json", JSON.stringify(draft));

  const made = await kitbag(project, "forge", "create_tool", "--input", "@draft.json", "--code", "@count.js", "--json");

  expect(JSON.parse(made.stdout)).toMatchObject({ status: "ok", output: { status: "live", name: "count" } });
});

test("kitbag forge makes pipelines and skills, runs code, and reads what tools keep", async () => {
  const project = createCounting();
  await create(project);
  const steps = [{ id: "count", tool: "count-words", args: { text: "$input.text" } }];
  const pipeline = { name: "report", description: "Reports", steps, examples: [{ input: { text: "a b" } }] };
  const remember = "import { state } from 'kitbag';\nawait state.set('seen', 3);\nconsole.log('ok');\n";
  const keeper = {
    name: "keep",
    description: "Keeps",
    language: "javascript",
    code: remember,
    examples: [{ input: {} }],
  };

  const piped = await kitbag(project, "forge", "create_pipeline", "--input", JSON.stringify(pipeline));
  const report = await kitbag(project, "call", "report", "--text", "a b c", "--json");
  const skill = await kitbag(
    ...[project, "forge", "create_skill", "--name", "counting", "--description", "Counts. Use it to count."],
    ...["--instructions", "Call it.", "--tools", JSON.stringify([keeper])],
  );
  const kept = await kitbag(project, "call", "counting/keep");
  const state = await kitbag(
    project,
    "forge",
    "tool_state",
    "--action",
    "get",
    "--tool",
    "counting/keep",
    "--key",
    "seen",
  );
  const code = "return (await tools.count_words({ text: 'a b' })).words + 1";
  const ran = await kitbag(project, "forge", "execute_code", "--code", code, "--json");

  expect(piped.stdout).toContain("report is live, at 1.0.0");
  expect(JSON.parse(report.stdout)).toEqual({ status: "ok", output: { words: 3 } });
  expect(skill.stdout).toContain("counting is live, at 1.0.0, in .kitbag/skills/counting");
  expect(kept.stdout.trim()).toBe("ok");
  expect(JSON.parse(state.stdout)).toEqual({ key: "seen", found: true, value: 3 });
  expect(JSON.parse(ran.stdout)).toMatchObject({ status: "ok", output: { result: 3 } });
});

test("kitbag forge replaces a skill, whose versions are called, listed, compared, rolled back and deleted", async () => {
  const project = createProject();
  const skill = (text: string): string => {
    const code = `cat > /dev/null\necho ${text}\n`;
    const tool = { name: "say", description: "Says", language: "bash", code, examples: [{ input: {}, output: text }] };
    return JSON.stringify({
      name: "talk",
      description: "Talks. Use it to talk.",
      instructions: "Talk.",
      tools: [tool],
    });
  };

  await kitbag(project, "forge", "create_skill", "--input", skill("A"));
  const taken = await kitbag(project, "forge", "create_skill", "--input", skill("B"));
  const next = await kitbag(project, "forge", "create_skill", "--input", skill("B"), "--replace");
  const stale = ["create_skill", "--input", skill("C"), "--replace", "--expected-version", "1.0.0"];
  const conflict = await kitbag(project, "forge", ...stale);
  const calls = [await kitbag(project, "call", "talk/say"), await kitbag(project, "call", "talk/say@1.0.0")];
  const versions = await kitbag(project, "versions", "talk", "--json");
  const all = await kitbag(project, "versions");
  const diff = await kitbag(project, "versions", "talk", "--diff", "1.0.0", "1.0.1");
  const back = await kitbag(project, "rollback", "talk", "1.0.0");
  const deleted = await kitbag(project, "forge", "delete_skill", "--name", "talk");
  const gone = await kitbag(project, "call", "talk/say");
  const undone = await kitbag(project, "forge", "delete_skill", "--name", "talk", "--undo");
  const called = await kitbag(project, "call", "talk/say");

  expect(taken).toMatchObject({ code: 1, stdout: "" });
  expect(taken.stderr).toContain('give "replace": true');
  expect(next.stdout).toContain("talk is live, at 1.0.1, in .kitbag/skills/talk (patch, after 1.0.0). Next:");
  expect(conflict).toMatchObject({ code: 1, stdout: "" });
  expect(conflict.stderr).toContain("its version is 1.0.1 now, not 1.0.0");
  expect(calls.map(({ stdout }) => stdout)).toEqual(["B\n", "A\n"]);
  expect(JSON.parse(versions.stdout)).toMatchObject({ versions: [{ version: "1.0.0" }, { version: "1.0.1" }] });
  expect(all.stdout).toMatch(/^talk +2 +1\.0\.1/mu);
  expect(diff.stdout).toContain("+echo B");
  expect(back.stdout).toBe("talk is at 1.0.0 now; it was at 1.0.1. To undo: kitbag rollback talk 1.0.1\n");
  expect(deleted.stdout).toBe(
    "talk is deleted; it was at 1.0.0. To bring it back: kitbag forge delete_skill --name talk --undo\n",
  );
  expect(gone.code).toBe(1);
  expect(undone.stdout).toContain("talk is live, at 1.0.0");
  expect(called.stdout).toBe("A\n");
});

test("kitbag forge keeps a tool that asks for more than the policy grants waiting, and says how to agree", async () => {
  const project = createCounting();

  const made = await create(project, "--permissions.network", "api.example.com");
  const [, id = ""] = /kitbag approvals approve (\S+)/u.exec(made.stdout) ?? [];
  const approved = await kitbag(project, "approvals", "approve", id);

  expect(made.code).toBe(0);
  expect(made.stdout).toContain("count-words is not live yet. It asks a person to agree to: network api.example.com.");
  expect(approved.stdout).toMatch(/^count-words is live now, at 1\.0\.0\. Next:\n {2}kitbag call count-words --text /u);
});

test("kitbag forge opens the skills that are named before it does its work", async () => {
  const project = createProject({
    "skills/greet/SKILL.md": "---\nname: greet\ndescription: Greets. Use it to say hello.\n---\nGreet.\n",
    "skills/greet/scripts/hello.sh": "echo hello\n",
  });
  const code = "return await tools.greet.hello({})";

  const closed = await kitbag(project, "forge", "execute_code", "--code", code, "--skills", "skills");
  const open = await kitbag(project, "forge", "execute_code", "--code", code, "--skills", "skills", "--open", "greet");

  expect(closed.code).toBe(1);
  expect(JSON.parse(open.stdout)).toMatchObject({ result: expect.stringContaining("hello") });
});

test("kitbag forge imports only what a person agrees to", async () => {
  const run = await kitbag(createProject(), "forge", "import", "--source", "owner/repo", "--skill", "pdf");

  expect(run).toMatchObject({ code: 1, stdout: "" });
  expect(run.stderr).toContain("approve it with --yes");
});

test("kitbag forge lists its operations, which are those that clients of kitbag serve get", async () => {
  const project = createProject();
  const { served, own } = await listServed(project);

  const listed = await kitbag(project, "forge", "--json");
  const text = await kitbag(project, "forge");

  const operations = (JSON.parse(listed.stdout) as { operations: { name: string }[] }).operations;
  expect(operations.map(({ name }) => name)).toEqual(forgeOperations.map(({ name }) => name));
  const made = served.filter((name) => !own.includes(name)).map((name) => name.replace(/^(?:forge|code)__/u, ""));
  expect(made.toSorted()).toEqual(operations.map(({ name }) => name).toSorted());
  expect(text.stdout).toMatch(/^create_tool +Make a tool/mu);
});

test.for(forgeOperations)(
  "kitbag forge $name --help shows its parameters and an example",
  async ({ name, example }) => {
    const help = await kitbag(createProject(), "forge", name, "--help");

    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("FLAG");
    expect(help.stdout).toContain(`$ kitbag forge ${name}${example === "" ? "" : ` ${example}`}`);
  },
);

test("kitbag forge names the operation that was meant, and the flag", async () => {
  const project = createProject({ "kitbag.json": "{}" });
  project.write("broken.json", "[{]");

  const wrong = await kitbag(project, "forge", "creat_tool");
  const flag = await kitbag(project, "forge", "create_tool", "--nam", "x");
  const missing = await kitbag(project, "forge", "create_tool", "--code", "@nowhere.py");
  const broken = await kitbag(project, "forge", "create_tool", "--examples", "@broken.json");
  const schema = await kitbag(project, "forge", "create_tool", "--input", JSON.stringify(input));
  const little = await kitbag(project, "forge", "create_tool", "--name", "x");

  expect(wrong).toMatchObject({ code: 2, stdout: "" });
  expect(wrong.stderr).toContain('did you mean "create_tool"?');
  expect(flag.stderr).toContain("did you mean --name?");
  expect(missing.stderr).toBe("Cannot read --code @nowhere.py: there is no such file\n");
  expect(broken.stderr).toContain("Cannot use --examples @broken.json: expected JSON");
  expect(schema.stderr).toContain("--input-schema");
  expect([flag.code, missing.code, broken.code, schema.code]).toEqual([2, 2, 2, 2]);
  expect(little).toMatchObject({ code: 1, stdout: "" });
  expect(little.stderr).toContain("description");
});

test("kitbag forge reads a text that begins with @ as it is if there are two", async () => {
  const run = await kitbag(createProject(), "forge", "execute_code", "--code", "@@", "--json");

  expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: "code-failed" } });
});

test.for(["", "{}"])("kitbag call says where an operation of the forge is (%s)", async (config) => {
  const project = createProject(config === "" ? {} : { "kitbag.config.json": config });

  const run = await kitbag(project, "call", "create_tool", "--name", "x");

  expect(run).toMatchObject({ code: 1, stdout: "" });
  expect(run.stderr).toContain("run: kitbag forge create_tool");
});

function createCounting(): Project {
  return createProject({
    "count.js": countWords,
    "input.json": JSON.stringify(input),
    "output.json": JSON.stringify(output),
    "examples.json": JSON.stringify(examples),
  });
}

async function create(project: Project, ...more: string[]): Promise<KitbagRun> {
  const parts = ["--name", "count-words", "--description", "Counts the words of a text", "--language", "javascript"];
  const files = ["--code", "@count.js", "--examples", "@examples.json"];
  const schemas = ["--input-schema", "@input.json", "--output-schema", "@output.json"];
  return kitbag(project, "forge", "create_tool", ...parts, ...files, ...schemas, ...more);
}

/** The tools that a client of `kitbag serve` gets, and those of them that make nothing. */
async function listServed(project: Project): Promise<{ served: readonly string[]; own: readonly string[] }> {
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const lines = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: hello },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} },
  ];
  const stdin = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const list = async (...words: string[]): Promise<readonly string[]> => {
    const { stdout } = await runKitbag(["serve", ...words], { project, stdin });
    const answers = stdout.split("\n").filter((line) => line !== "");
    const found = answers.map((line) => JSON.parse(line) as Listed).find(({ id }) => id === 2);
    return found?.result.tools.map(({ name }) => name) ?? [];
  };
  return { served: await list("--open", "forge,code"), own: await list("--no-forge") };
}

interface Listed {
  readonly id?: number;
  readonly result: { readonly tools: readonly { readonly name: string }[] };
}

async function kitbag(project: Project, ...words: string[]): Promise<KitbagRun> {
  return runKitbag(words, { project });
}
