import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { createProject, runKitbag, type Project } from "../../../test/run-kitbag.ts";
import { makeImage } from "../../../test/support/make-image.ts";
import { toToolModule } from "../../../test/support/tool-modules.ts";
import { startWireModel, toCall } from "../../../test/support/wire-model.ts";
import type { AgentEvent } from "../../agent/events.ts";

vi.setConfig({ testTimeout: 120_000 });

const skills = join(import.meta.dirname, "../../../skills");

test("kitbag chat answers each line of its input and ends, and says that the offline model answers", async () => {
  const run = await chat(["add 19 and 23", "", "add 1 and 2"]);

  expect(run).toMatchObject({ code: 0, stdout: "42\n\n3\n\n" });
  expect(run.stderr).toContain("The offline model answers: no key, no network");
  expect(run.stderr).toContain("kitbag chat --model");
});

test("kitbag chat remembers what was said", async () => {
  const { env, server } = await startWireModel([{ text: "Hello Ada." }, { text: "You are Ada." }]);

  const { stdout } = await chat(["I am Ada", "Who am I?"], { env });

  expect(stdout).toBe("Hello Ada.\n\nYou are Ada.\n\n");
  const body = JSON.stringify(server.requests[1]?.body);
  expect(["I am Ada", "Hello Ada.", "Who am I?"].every((text) => body.includes(text))).toBe(true);
});

test("kitbag chat keeps skills open from request to request, until somebody closes them", async () => {
  const { env, server } = await startWireModel([
    toCall("activate_skill", { name: "text-stats" }),
    { text: "Open." },
    { text: "Still open." },
    { text: "Closed." },
  ]);

  const words = ["--skills", skills, "--exposure", "direct"];
  const { stderr } = await chat(["open it", "and now?", "/close text-stats", "and now?"], { env, words });

  const tools = server.requests.map((request) => request.tools.some(({ name }) => name === "text-stats__stats-count"));
  expect(tools).toEqual([false, true, true, false]);
  expect(stderr).toContain("Closed text-stats");
});

test("kitbag chat goes on after a request that failed, without it, and ends with 1", async () => {
  const { env, server } = await startWireModel([{ status: 400, message: "No \u001B[2Jgood" }, { text: "Better." }]);

  const run = await chat(["first", "second"], { env });

  expect(run).toMatchObject({ code: 1, stdout: "\nBetter.\n\n" });
  expect(run.stderr).toContain("good");
  expect(run.stderr).not.toContain("\u001B");
  expect(JSON.stringify(server.requests[1]?.body)).not.toContain("first");
});

test("kitbag chat denies a call that needs an approval when no person can be asked", async () => {
  const { env, server } = await startWireModel([toCall("send", { to: "Ada" }), { text: "Then not." }]);

  const { stdout } = await chat(["write to Ada"], { env });

  expect(stdout).toBe("Then not.\n\n");
  expect(JSON.stringify(server.requests[1]?.results)).toContain("no person can be asked");
});

test("kitbag chat knows its commands, and says which was meant", async () => {
  const { env } = await startWireModel([]);

  const lines = [
    "/help",
    "/tools",
    "/skills",
    "/cost",
    "/Opne x",
    "/open nothing",
    "/model",
    "/model gpt",
    "/debug",
    "/quit",
    "x",
  ];
  const { code, stdout, stderr } = await chat(lines, { env });

  expect(stderr).toMatch(/ {2}\/skills +the skills, and which are open/u);
  expect(stderr).toMatch(/^add +Adds two numbers$/mu);
  expect(stderr).toMatch(/^ +memory +Remembers facts/mu);
  expect(stderr).toContain("Nothing was asked yet");
  expect(stderr).toContain("There is no command /Opne; did you mean /open?");
  expect(stderr).toContain('Cannot find the skill "nothing"');
  expect(stderr).toContain("The model is openai-chat/gpt-5.4-nano");
  expect(stderr).toContain('write "provider/model"');
  expect(stderr).toContain("Step by step needs a terminal");
  expect([code, stdout.trim()]).toEqual([0, ""]);
});

test("kitbag chat takes a path that begins with a slash for something to say", async () => {
  const { env, server } = await startWireModel([{ text: "A folder." }]);

  await chat(["/etc/hosts is what?"], { env });

  expect(JSON.stringify(server.requests[0]?.body)).toContain("/etc/hosts is what?");
});

test("kitbag chat /cost shows what the last answer was spent on, and the whole conversation", async () => {
  const usage = { input: 1000, output: 200 };
  const { env } = await startWireModel([
    { text: "One.", usage },
    { text: "Two.", usage },
  ]);

  const { stderr } = await chat(["first", "second", "/cost"], { env });

  expect(stderr).toMatch(/^openai\.chat\/gpt-5\.4-nano +1 +1,000 +200 +100 % +\$0\.\d+$/mu);
  expect(stderr).toMatch(/^The whole conversation: 2,400 tokens, \$0\.\d+$/mu);
});

test("kitbag chat shows pictures whose path is in the text, and those of /image", async () => {
  const { env, server } = await startWireModel(["A dot.", "Two.", "None.", "Bad."].map((text) => ({ text })));
  const project = createTools();
  writeFileSync(join(project.folder, "a b.png"), await makeImage("png"));
  writeFileSync(join(project.folder, "c.png"), await makeImage("png"));
  writeFileSync(join(project.folder, "bad.png"), "no picture");

  const lines = ["What is in c.png?", '/image "a b.png" And here?', "And in none.png?", "/image none.png"];
  lines.push("Why does bad.png not open?");
  const { stderr } = await chat(lines, { env, project });

  expect(server.requests.map(({ images }) => images.length)).toEqual([1, 2, 2, 2]);
  expect(stderr).toMatch(/bad\.png": its bytes are of no kind .*; it is not shown to the model$/mu);
  expect(stderr).toContain("none.png");
});

test("kitbag chat --conversation saves a conversation, and goes on with it in another process", async () => {
  const { env, server } = await startWireModel([{ text: "Hello Ada." }, { text: "Noted." }, { text: "You are Ada." }]);
  const project = createTools();

  const first = await chat(["I am Ada", "/save ada", "I like tea"], { env, project });
  const second = await chat(["Who am I?"], { env, project, words: ["--conversation", "ada"] });
  const taken = await chat(["/save ada"], { env, project });

  expect(first.stderr).toContain("To go on with it: kitbag chat --conversation ada");
  expect(second.stderr).toContain("Going on with ada: 2 requests so far");
  const body = JSON.stringify(server.requests[2]?.body);
  expect(["I am Ada", "Hello Ada.", "I like tea", "Noted."].map((text) => body.split(text).length - 1)).toEqual([
    1, 1, 1, 1,
  ]);
  expect(taken.stderr).toContain("there is another one of this name");
});

test("kitbag chat --json prints one event a line for every request", async () => {
  const { stdout, code } = await chat(["add 19 and 23", "add 1 and 2"], { words: ["--json"] });

  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as AgentEvent);
  const ends = events.flatMap((event) => (event.type === "task-end" ? [event.result.output] : []));
  expect(ends).toEqual(["42", "3"]);
  expect(code).toBe(0);
});

test("kitbag chat sends no command to the model that does not exist, and asks which was meant", async () => {
  const { env, server } = await startWireModel([{ text: "A path." }]);

  const { stdout, stderr } = await chat(["/quit2", "/hlep me", "/öffne", "/1", "/tmp/file.txt what is that?"], { env });

  expect(stderr).toContain("There is no command /quit2; did you mean /quit?");
  expect(stderr).toContain("There is no command /hlep; did you mean /help?");
  expect(stderr).toMatch(/There is no command \/öffne; \S/u);
  expect(stderr).toContain("There is no command /1; /help lists them");
  expect(stdout.trim()).toBe("A path.");
  expect(server.requests).toHaveLength(1);
});

test("kitbag chat answers a pipe in Markdown as it is, however long its lines are", async () => {
  const text = `# Title\n**bold** ${"word ".repeat(60)}end`;
  const { env } = await startWireModel([{ text }]);

  const { stdout } = await chat(["hi"], { env });

  expect(stdout.trim()).toBe(text);
});

test("kitbag chat --examples without a keyboard holds three short conversations over the example skills, and ends", async (context) => {
  needProgram(context, "python3");
  const project = createProject({ "README.md": "# One\n\nTwo three `not counted` four.\n\n## Five\n" });

  const { code, stdout, stderr } = await runKitbag(["chat", "--examples"], { project });

  expect(stdout).toContain("› How many words does README.md have?\n- words: ");
  expect(stdout).toContain("- left out: 2 words of code, tables, links and front matter");
  expect(stdout).toContain("b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9");
  expect(stdout).toContain("[Five](#five)");
  expect(stderr).toContain("✓ text-stats/stats-count file: README.md");
  expect(code).toBe(0);
  expect(packageJson.scripts.start).toMatch(/main\.ts chat --examples$/u);
});

interface ChatOptions {
  readonly project?: Project;
  readonly env?: Readonly<Record<string, string>>;
  readonly words?: readonly string[];
}

function chat(
  lines: readonly string[],
  { project = createTools(), env = {}, words = [] }: ChatOptions = {},
): ReturnType<typeof runKitbag> {
  return runKitbag(["chat", "--module", "tools.mjs", ...words], { project, env, stdin: `${lines.join("\n")}\n` });
}

function createTools(): Project {
  return createProject({ "tools.mjs": tools });
}

const tools = toToolModule({
  name: "send",
  description: "Sends a message",
  parameter: "to",
  done: "sent",
  needsApproval: true,
});
