import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { expect, onTestFinished, test, vi } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { createProject, program, runKitbag, type Project } from "../../../test/run-kitbag.ts";
import { makeImage } from "../../../test/support/make-image.ts";
import { readLines, toToolModule } from "../../../test/support/tool-modules.ts";
import { startWireModel, toCall } from "../../../test/support/wire-model.ts";
import type { AgentEvent } from "../../agent/events.ts";

vi.setConfig({ testTimeout: 120_000 });

test("kitbag run prints the answer on standard output, calls on standard error, and no table of costs for $0", async () => {
  const run = await runKitbag(["run", "add 19 and 23", "--module", "tools.mjs"], { project: createToolProject() });

  expect(run.stdout).toBe("42\n");
  expect(run.stderr).toMatch(/✓ add a: 19, b: 23 → 42 {2}[\d.]+ m?s\n/u);
  expect(run.stderr).not.toContain("SPENT ON");
  expect(run.code).toBe(0);
});

test("kitbag run shows on standard error what it was spent on, also what a tool paid", async () => {
  const convert = `
import { defineTool } from "kitbag";
const input = { type: "object", properties: { euros: { type: "number" } }, required: ["euros"] };
const run = ({ euros }, { spend }) => (spend(0.25), "$" + euros * 2);
export default [defineTool({ name: "convert", description: "Converts euros to dollars", input, run })];
`;

  const run = await runKitbag(["run", "convert 21 euros", "--module", "tools.mjs"], {
    project: createProject({ "tools.mjs": convert }),
  });

  expect(run.stdout).toBe("$42\n");
  expect(run.stderr).toMatch(/^SPENT ON +CALLS +TOKENS IN +TOKENS OUT +SHARE +COST$/mu);
  expect(run.stderr).toMatch(/^paid by convert +1 +0 +0 +0 % +\$0\.250$/mu);
  expect(run.stderr).toMatch(/^total +3 +\d[\d,]* +\d+ +100 % +\$0\.250$/mu);
});

test("kitbag run --tokens shows what the first prompt consists of, asks no model, and keeps no run", async () => {
  const { env, server } = await startWireModel([{ text: "Not asked." }]);
  const project = createToolProject();
  const words = ["run", "add 19 and 23", "--module", "tools.mjs", "--tokens"];

  const shown = await runKitbag(words, { project, env });
  const asJson = await runKitbag([...words, "--json"], { project, env });
  const runs = await runKitbag(["runs", "--json"], { project, env });

  expect(shown.stdout).toMatch(/^PART OF THE PROMPT +TOKENS +SHARE$/mu);
  expect(shown.stdout).toMatch(/^the tool add +≈ \d+ +\d+ %$/mu);
  expect(shown.stdout).toMatch(/^together +≈ \d+ +100 %$/mu);
  expect(shown.stdout).toMatch(
    /about \d+ tokens of [\d,]+ that it reads \(< 1 %\)\. Each question costs about \$0\.0/u,
  );
  const { tokens, parts } = JSON.parse(asJson.stdout) as { tokens: number; parts: readonly { tokens: number }[] };
  expect(parts.reduce((sum, part) => sum + part.tokens, 0)).toBe(tokens);
  expect(server.requests).toEqual([]);
  expect(JSON.parse(runs.stdout)).toMatchObject({ runs: [] });
});

test("kitbag run --json prints one event a line and nothing else, the last with the result", async () => {
  const { stdout, code } = await runKitbag(["run", "add 19 and 23", "--module", "tools.mjs", "--json"], {
    project: createToolProject(),
  });

  const events = parseEvents(stdout);
  expect(events.map(({ type }) => type).filter((type) => !type.endsWith("-delta") && type !== "call-event")).toEqual([
    "task-start",
    "step-start",
    "model-answer",
    "tool-start",
    "tool-end",
    "step-start",
    "model-answer",
    "task-end",
  ]);
  expect(events.at(-1)).toMatchObject({ result: { status: "ok", output: "42" } });
  expect(code).toBe(0);
});

const offersShippedSkills =
  "There are no tools and no skills here, so these are the skills that come with Kitbag. To start a project of your own: kitbag init\n";

test("kitbag run --json ends quietly when nobody reads on", async () => {
  const { env } = await startWireModel([{ text: "a word ".repeat(40_000) }]);
  const project = createToolProject();
  const kitbag = `'${process.execPath}' --conditions=@kitbag/source '${join(import.meta.dirname, "../main.ts")}'`;

  const shell = spawn("sh", ["-c", `${kitbag} run talk --json --store none | head -2`], {
    cwd: project.folder,
    env: { ...process.env, KITBAG_HOME: project.home, ...env },
  });
  const [stdout, stderr] = await Promise.all([text(shell.stdout), text(shell.stderr)]);

  expect(parseEvents(stdout).map(({ type }) => type)).toEqual(["task-start", "step-start"]);
  expect(stderr).toBe(offersShippedSkills);
});

test.for([
  [["run"], "missing required argument 'task'"],
  [["run", " "], "Cannot run an empty task"],
  [["run", "x", "--max-steps", "0"], "Cannot use --max-steps 0"],
  [["run", "x", "--max-cost", "-1"], "Cannot use --max-cost -1"],
  [["run", "x", "--exposure", "__proto__"], "Cannot use --exposure __proto__: there are auto, direct"],
  [["run", "x", "--model", "opnai/gpt"], 'did you mean "openai"'],
  [["run", "x", "--model", "gpt"], "gpt"],
  [["run", "x", "--output-schema", "none.json"], "Cannot use --output-schema none.json"],
  [["run", "x", "--break", "step:1"], "Cannot use --break without --debug"],
  [["run", "x", "--debug", "--break", "step:0"], "Cannot stop at step:0: expected step:N"],
  [["run", "x", "--conversation", "a b"], 'Cannot use "a b" as the name of a conversation'],
  [["run", "x", "--debug", "--json"], "Cannot use --debug with --json"],
] as const)("kitbag %j is wrong usage", async ([words, reason]) => {
  const { code, stdout, stderr } = await runKitbag(words);

  expect(stderr + stdout).toContain(reason);
  expect(code).toBe(2);
});

test.for(["run talk --json", "chat --json"])(
  "kitbag %s gives its run back when nobody reads on, and ends in order",
  async (words) => {
    const over = Promise.withResolvers<void>();
    const { env } = await startWireModel(({ results }) =>
      results.length === 0
        ? { text: "a word ".repeat(40_000), ...toCall("add", { a: 1, b: 2 }) }
        : { text: "Nobody waits for this", fault: { kind: "slow", until: over.promise } },
    );
    const project = createToolProject();
    const [command, ...args] = program;

    const child = spawn(command, [...args, ...words.split(" "), "--module", "tools.mjs"], {
      cwd: project.folder,
      env: { ...process.env, KITBAG_HOME: project.home, ...env },
    });
    child.stdin.end("talk\ntalk\n");
    child.stdout.once("data", () => child.stdout.destroy());
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    const list = await runKitbag(["runs", "--json"], { project, env });
    over.resolve();

    const { runs } = JSON.parse(list.stdout) as { readonly runs: readonly { readonly status: string }[] };
    expect(stderr).not.toContain("    at ");
    expect(code).toBe(0);
    expect(runs.map(({ status }) => status)).toEqual(["interrupted"]);
  },
);

test("kitbag run says which key is missing, and asks nobody", async () => {
  const { code, stderr } = await runKitbag(["run", "x", "--model", "openai/gpt-6-sol"]);

  expect(stderr).toContain("OPENAI_API_KEY");
  expect(code).toBe(1);
});

test("kitbag run keeps the versions of the tools that the agent called, and records their calls", async (context) => {
  needProgram(context, "python3");
  const project = createProject({ "README.md": "One two three." });
  const skills = join(import.meta.dirname, "../../../skills");
  await runKitbag(["run", "How many words does README.md have?", "--skills", skills], { project });

  const versions = await runKitbag(["versions", "text-stats/stats-count"], { project });
  const audit = await runKitbag(["audit", "show"], { project });

  expect(versions).toMatchObject({ code: 0, stdout: expect.stringContaining("1.0.0") });
  expect(audit.stdout).toContain("text-stats/stats-count");
});

test.for([
  ["run", "--json"],
  ["run", "x", "--model", "anthropic/x", "--json"],
  ["runs", "resume", "none", "--json"],
])("kitbag %j tells of a failure on one line, as of every event", async (words) => {
  const { stdout, code } = await runKitbag(words, { env: { ANTHROPIC_API_KEY: "" } });

  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  ).toMatchObject([{ status: "failed" }]);
  expect(code).toBeGreaterThan(0);
});

test("kitbag run --json says how a run ended that could not begin", async () => {
  const { code, stdout } = await runKitbag(["run", "x", "--skill", "nothing", "--json"]);

  expect(parseEvents(stdout)).toMatchObject([
    { type: "task-end", result: { status: "failed", error: { code: "skill-not-found" } } },
  ]);
  expect(code).toBe(1);
});

test("kitbag run without a configuration and without skills still talks", async () => {
  const { code, stdout } = await runKitbag(["run", "hello"]);

  expect(stdout).toContain("Hello");
  expect(code).toBe(0);
});

test("R16: kitbag run sends neither a prompt nor a key to the model of a configuration that is not trusted", async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const model = `openai-compatible:http://127.0.0.1:${port}/v1/x`;
  const project = createProject({ "kitbag.config.json": JSON.stringify({ model }) });
  const env = { KITBAG_OPENAI_COMPATIBLE_KEY: "canary-key" };

  const refused = await runKitbag(["run", "hello"], { project, env });
  const doctor = await runKitbag(["doctor", "--models"], { project, env });
  const before = [...asked];
  await runKitbag(["trust", "."], { project, env });
  await runKitbag(["run", "hello"], { project, env });

  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain(
    "can start programs, send prompts and keys elsewhere, or loosen limits, and is not trusted",
  );
  expect(doctor.stdout).not.toContain(String(port));
  expect(before).toEqual([]);
  expect(asked[0]).toBe("/v1/chat/completions Bearer canary-key");
});

test("kitbag run takes the model of the flag over that of the environment over that of the configuration", async () => {
  const project = createProject({ "kitbag.config.json": '{"model": "openai/gpt-6-sol"}' });
  await runKitbag(["trust", "."], { project });

  const configured = await runKitbag(["run", "hello"], { project });
  const environment = await runKitbag(["run", "hello"], {
    project,
    env: { KITBAG_MODEL: "anthropic/claude-sonnet-5" },
  });
  const flag = await runKitbag(["run", "hello", "--model", "local"], { project, env: { KITBAG_MODEL: "anthropic/x" } });

  expect(configured.stderr).toContain("OPENAI_API_KEY");
  expect(environment.stderr).toContain("ANTHROPIC_API_KEY");
  expect(flag.stdout).toContain("Hello");
});

test("guards of a configuration look at the task, at calls and at the answer", async () => {
  const guards = `
import tools from "./tools.mjs";
const holds = (word) => ({ value }) => (JSON.stringify(value).includes(word) ? { refuse: "it says " + word } : undefined);
export default { tools, guards: [
  { name: "tasks", at: ["task"], check: holds("secret") },
  { name: "inputs", at: ["tool-input"], check: holds("13") },
  { name: "answers", at: ["answer"], check: ({ value }) => ({ change: value.replace("42", "forty-two") }) },
] };`;
  const project = createProject({ "tools.mjs": tools, sent: "", "kitbag.config.mjs": guards });
  await runKitbag(["trust", "."], { project });

  const [task, called, answer] = await Promise.all([
    runKitbag(["run", "tell a secret"], { project }),
    runKitbag(["call", "add", "--a", "13", "--b", "1"], { project }),
    runKitbag(["run", "add 19 and 23"], { project }),
  ]);

  expect(task.stderr).toContain('the guard "tasks" refused it (it says secret)');
  expect(called).toMatchObject({ code: 1, stderr: expect.stringContaining('the guard "inputs" refused it') });
  expect(answer.stdout).toBe("forty-two\n");
});

test("kitbag run --output-schema prints JSON of that form and nothing else", async () => {
  const { env } = await startWireModel([{ text: 'Here it is: {"sum": "many"}' }, { text: '{"sum": 42}' }]);
  const project = createProject({
    "sum.json": '{"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}',
  });

  const { code, stdout } = await runKitbag(["run", "add", "--output-schema", "sum.json"], { project, env });

  expect(JSON.parse(stdout)).toEqual({ sum: 42 });
  expect(code).toBe(0);
});

test.for([
  [
    "--max-steps",
    "the model was asked as often as it may be; raise --max-steps",
    / --module tools\.mjs --max-steps 4$/mu,
  ],
  ["--max-calls", "it has made as many calls as it may; raise --max-calls", / --module tools\.mjs$/mu],
] as const)(
  "kitbag run %s stops a run that does not end, with exit code 1, and says how to go on",
  async ([flag, words, next]) => {
    const { env, server } = await startWireModel(({ results }) =>
      toCall("add", { a: results.length, b: 1 }, `call_${results.length}`),
    );

    const { code, stderr } = await runKitbag(["run", "count", flag, "2", "--module", "tools.mjs"], {
      project: createToolProject(),
      env,
    });

    expect(stderr).toMatch(new RegExp(`^Stopped: ${words}\\nTo go on from there: kitbag runs fork `, "mu"));
    expect(stderr).toMatch(next);
    expect(server.requests.length).toBeLessThan(4);
    expect(code).toBe(1);
  },
);

test("kitbag run --image shows the picture to the model", async () => {
  const { env, server } = await startWireModel([{ text: "A picture." }]);
  const project = createProject();
  writeFileSync(join(project.folder, "a b.png"), await makeImage("png"));

  const { code } = await runKitbag(["run", "What is it?", "--image", "a b.png"], { project, env });

  expect(server.requests[0]?.images).toHaveLength(1);
  expect(code).toBe(0);
});

test("kitbag run reads the task from standard input", async () => {
  const { env, server } = await startWireModel([{ text: "Done." }]);

  const { stdout } = await runKitbag(["run", "-"], { env, stdin: "line one\nline two\n" });

  expect(stdout).toBe("Done.\n");
  expect(JSON.stringify(server.requests[0]?.body)).toContain(String.raw`line one\nline two`);
});

test("kitbag run pauses for an approval when nobody is there, and another process decides and goes on", async () => {
  const { env } = await startWireModel([toCall("send", { to: "Ada" }), { text: "Sent." }]);
  const project = createToolProject();
  const words = ["--module", "tools.mjs"];

  const paused = await runKitbag(["run", "write to Ada", ...words], { project, env });
  const listed = await runKitbag(["approvals"], { project });
  const id = /kitbag runs resume (\S+)/u.exec(paused.stderr)?.[1] ?? "";
  const asked = await runKitbag(["approvals", "show", id.slice(0, 8)], { project });
  const approved = await runKitbag(["approvals", "approve", id.slice(0, 8), "--input", '{"to": "Bob"}'], { project });
  const resumed = await runKitbag(["runs", "resume", id.slice(0, 8), ...words], { project, env });

  expect(paused.code).toBe(1);
  expect(paused.stderr).toContain(`kitbag approvals approve ${id}:1.0`);
  expect(listed.stdout).toMatch(new RegExp(`^${id}:1\\.0  send  \\S+ +to: Ada$`, "mu"));
  expect(asked.stdout).toContain('"to": "Ada"');
  expect(paused.stderr).toContain(`kitbag runs resume ${id} --module tools.mjs\n`);
  expect(approved.stdout).toBe(`Approved send. To go on: kitbag runs resume ${id} --module tools.mjs\n`);
  expect(resumed).toMatchObject({ code: 0, stdout: "Sent.\n" });
  expect(resumed.stderr).toContain("✓ send to: Bob →");
  expect(readLines(project, "sent")).toEqual(["Bob"]);
  const shown = await runKitbag(["runs", "show", id], { project });
  expect(shown.stdout).toContain("✓ 1.0 send to: Ada (approved with to: Bob)\n");
});

test("kitbag store import brings no approval that was not given with the key of the audit", async () => {
  const { env } = await startWireModel([toCall("send", { to: "Ada" }), { text: "Sent." }]);
  const [first, second] = [createToolProject(), createToolProject()];
  const words = ["--module", "tools.mjs"];
  const paused = await runKitbag(["run", "write to Ada", ...words], { project: first, env });
  const id = /kitbag runs resume (\S+)/u.exec(paused.stderr)?.[1] ?? "";
  await runKitbag(["store", "export", "kept.jsonl"], { project: first });
  second.write("kept.jsonl", withApproval(readFileSync(join(first.folder, "kept.jsonl"), "utf8"), id));

  const imported = await runKitbag(["store", "import", "kept.jsonl"], { project: second });
  const listed = await runKitbag(["approvals"], { project: second });
  const resumed = await runKitbag(["runs", "resume", id, ...words], { project: second, env });

  expect(imported.code).toBe(0);
  expect(listed.stdout).toMatch(new RegExp(`^${id}:1\\.0  send  \\S+ +to: Ada$`, "mu"));
  expect(resumed.stderr).toContain(`kitbag approvals approve ${id}:1.0`);
  expect(readLines(second, "sent")).toEqual([]);
  await runKitbag(["approvals", "approve", id], { project: second });
  expect(await runKitbag(["runs", "resume", id, ...words], { project: second, env })).toMatchObject({
    code: 0,
    stdout: "Sent.\n",
  });
});

test.for([
  ["call", "print one JSON document and nothing else"],
  ["run", "print one event a line, as JSON, and nothing else"],
  ["chat", "print one event a line, as JSON, and nothing else"],
] as const)("kitbag %s --help says what --json prints", async ([command, words]) => {
  const { stdout } = await runKitbag([command, "--help"]);

  expect(stdout.replaceAll(/\s+/gu, " ")).toContain(words);
});

test("kitbag run, runs and approvals name the store again in what to type next, if it was named", async () => {
  const { env } = await startWireModel([toCall("send", { to: "Ada" }), { text: "Sent." }]);
  const project = createToolProject();
  const store = ["--store", "sqlite:own records.db"];

  const paused = await runKitbag(["run", "write to Ada", "--module", "tools.mjs", ...store], { project, env });
  const id = /kitbag runs resume (\S+)/u.exec(paused.stderr)?.[1] ?? "";
  const shown = await runKitbag(["runs", "show", id, ...store], { project });
  const approved = await runKitbag(["approvals", "approve", id, ...store], { project });

  const resume = `kitbag runs resume ${id} --module tools.mjs --store 'sqlite:own records.db'\n`;
  expect(paused.stderr).toContain(resume);
  expect(paused.stderr).toContain(`kitbag approvals approve ${id}:1.0 --store 'sqlite:own records.db'`);
  expect(shown.stdout).toContain(
    `kitbag approvals approve ID --store 'sqlite:own records.db', or deny; then: ${resume}`,
  );
  expect(approved.stdout).toContain(resume);
});

test("kitbag runs resume without the module of the run says which to name, and leaves the run and its approval as they are", async () => {
  const { env } = await startWireModel([toCall("send", { to: "Ada" }), { text: "Sent." }]);
  const project = createToolProject();
  const paused = await runKitbag(["run", "write to Ada", "--module", "tools.mjs"], { project, env });
  const id = /kitbag runs resume (\S+)/u.exec(paused.stderr)?.[1] ?? "";
  await runKitbag(["approvals", "approve", id], { project });
  const before = await runKitbag(["runs", "show", id, "--json"], { project });

  const refused = await runKitbag(["runs", "resume", id], { project, env });
  const after = await runKitbag(["runs", "show", id, "--json"], { project });
  const resumed = await runKitbag(["runs", "resume", id, "--module", "tools.mjs"], { project, env });

  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain(
    `Cannot go on with the run ${id} without its tools: say where they are, as in --module tools.mjs`,
  );
  expect(after.stdout).toBe(before.stdout);
  expect(resumed).toMatchObject({ code: 0, stdout: "Sent.\n" });
  expect(readLines(project, "sent")).toEqual(["Ada"]);
});

test("kitbag runs resume goes on with the skills and the model that the run was begun with, without being told them", async () => {
  const { server } = await startWireModel([{ text: "Done." }]);
  const model = `openai-compatible:${server.url("openai-chat")}/tiny`;
  const folder = "more/notes";
  const project = createProject({
    [`${folder}/SKILL.md`]: "---\nname: notes\ndescription: Takes notes\n---\nWrite on the blue paper.",
  });
  const words = ["--skills", "more", "--skill", "notes", "--model", model];

  const stopped = await runKitbag(["run", "x", "--debug", ...words], { project, stdin: "q\n" });
  const id = /kitbag runs resume (\S+)/u.exec(stopped.stderr)?.[1] ?? "";
  const env = { KITBAG_OPENAI_COMPATIBLE_KEY: server.key };
  const resumed = await runKitbag(["runs", "resume", id], { project, env });

  expect(resumed).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(JSON.stringify(server.requests[0]?.body)).toContain("Write on the blue paper.");
});

test("kitbag approvals deny keeps a call from being made, and the model is told why", async () => {
  const { env, server } = await startWireModel([toCall("send", { to: "Ada" }), { text: "Then not." }]);
  const project = createToolProject();
  const words = ["--module", "tools.mjs"];

  await runKitbag(["run", "write to Ada", ...words], { project, env });
  const { stdout } = await runKitbag(["approvals", "--json"], { project });
  const { approvals } = JSON.parse(stdout) as { approvals: { approval: string; run: string }[] };
  const [{ approval, run } = { approval: "", run: "" }] = approvals;
  await runKitbag(["approvals", "deny", approval, "--reason", "not today"], { project });
  const again = await runKitbag(["approvals", "approve", approval], { project });
  const resumed = await runKitbag(["runs", "resume", run, ...words], { project, env });

  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("Cannot find the approval") });
  expect(resumed.stdout).toBe("Then not.\n");
  expect(JSON.stringify(server.requests[1]?.results)).toContain("not today");
  expect(readLines(project, "sent")).toEqual([]);
});

test("kitbag run --conversation goes on with what was said in another process", async () => {
  const { env, server } = await startWireModel([{ text: "Hello Ada." }, { text: "You are Ada." }]);
  const project = createProject();

  await runKitbag(["run", "I am Ada", "--conversation", "ada"], { project, env });
  const { stdout } = await runKitbag(["run", "Who am I?", "--conversation", "ada"], { project, env });

  expect(stdout).toBe("You are Ada.\n");
  expect(JSON.stringify(server.requests[1]?.body)).toContain("Hello Ada.");
});

test("kitbag run --yes approves by itself", async () => {
  const { env } = await startWireModel([toCall("send", { to: "Ada" }), { text: "Sent." }]);
  const project = createToolProject();

  const { code } = await runKitbag(["run", "write", "--yes", "--module", "tools.mjs"], { project, env });

  expect(code).toBe(0);
  expect(readLines(project, "sent")).toEqual(["Ada"]);
});

test("kitbag run --debug stops where it was told to, and takes other arguments and another result", async () => {
  const { env, server } = await startWireModel([toCall("add", { a: 1, b: 2 }), { text: "It is done." }]);
  const commands = ["p", "m", "t", "nonsense", 'args {"a": 40, "b": 2}', "p", "c"];

  const { code, stdout, stderr } = await runKitbag(
    ["run", "add", "--module", "tools.mjs", "--debug", "--break", "tool:add"],
    { project: createToolProject(), env, stdin: `${commands.join("\n")}\n` },
  );

  expect(stderr).toContain("▸ Step 1, before the call: add a: 1, b: 2");
  expect(stderr).toContain("1 user      add");
  expect(stderr).toContain("There is no command nonsense; h lists them");
  expect(stderr).toContain("▸ Step 1, after the call of add: 42");
  expect(server.requests[1]?.results).toMatchObject([{ text: expect.stringContaining("42") }]);
  expect([code, stdout]).toEqual([0, "It is done.\n"]);
});

test("kitbag run --debug stops the run at q, and it can be gone on with", async () => {
  const { env } = await startWireModel([{ text: "Done." }]);
  const project = createToolProject();

  const stopped = await runKitbag(["run", "x", "--debug"], { project, env, stdin: "q\n" });
  const id = /kitbag runs resume (\S+)/u.exec(stopped.stderr)?.[1] ?? "";
  const resumed = await runKitbag(["runs", "resume", id], { project, env });

  expect(stopped).toMatchObject({ code: 1, stdout: "" });
  expect(resumed).toMatchObject({ code: 0, stdout: "Done.\n" });
});

function parseEvents(stdout: string): readonly AgentEvent[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as AgentEvent);
}

/** An export without its audit, and with a line that approves the first call of a run. */
function withApproval(lines: string, run: string): string {
  const decided = { type: "approval-decided", run, approval: `${run}:1.0`, decision: "approve" };
  const forged = { type: "entry", stream: `run:${run}`, time: Date.now(), value: decided };
  const all = lines.trimEnd().split("\n");
  const kept = all.slice(0, -1).filter((line) => !line.includes('"stream":"audit"'));
  const { entries, ...end } = JSON.parse(all.at(-1) ?? "") as { readonly entries: number };
  const left = entries + 1 - (all.length - 1 - kept.length);
  return `${[...kept, JSON.stringify(forged), JSON.stringify({ ...end, entries: left })].join("\n")}\n`;
}

function createToolProject(): Project {
  return createProject({ "tools.mjs": tools, sent: "" });
}

const tools = toToolModule({
  name: "send",
  description: "Sends a message",
  parameter: "to",
  done: "sent",
  needsApproval: true,
});
