import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { createProject, type Project } from "../../../test/run-kitbag.ts";
import { startKitbagTerminal } from "../../../test/support/kitbag-terminal.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { startWireModel, toCall } from "../../../test/support/wire-model.ts";

vi.setConfig({ testTimeout: 120_000 });

const prompt = "› ";
const words = ["chat", "--module", "tools.mjs"];
const [control, escape] = [{ c: "\u0003", d: "\u0004" }, "\u001B"];

test("kitbag chat at a terminal shows thoughts dimmed, calls with their outcome, and what it took", async (context) => {
  needProgram(context, "script");
  const { env } = await startWireModel([
    { reasoning: { text: "I will add.", signature: "s1" }, ...toCall("add", { a: 19, b: 23 }) },
    { text: "It is 42." },
  ]);
  const terminal = startKitbagTerminal(words, createTools(), toAnthropic(env));

  await terminal.waitFor(prompt);
  terminal.type("add 19 and 23\r");
  await terminal.waitFor("tokens");
  await terminal.waitFor(prompt);
  terminal.type("/quit\r");

  expect(await terminal.ended).toBe(0);
  const shown = terminal.shown();
  expect(shown.replaceAll(`${escape}[22m${escape}[2m`, "")).toContain(`${escape}[2mI will add.`);
  expect(shown).toMatch(/✓\S* add a: 19, b: 23 \S*→ 42/u);
  expect(shown).toContain("It is 42.");
  expect(shown).toMatch(/2 steps · 1 call · 30 tokens · .*\d m?s/u);
});

test("kitbag chat at a terminal wraps at words, and shows Markdown as it is meant", async (context) => {
  needProgram(context, "script");
  const long = `${"twelve-chars ".repeat(20)}end`;
  const { env } = await startWireModel([{ text: `# Title\n\n- an **important** \`thing\`\n\n${long}\n` }]);
  const terminal = startKitbagTerminal(words, createTools(), env);

  await terminal.waitFor(prompt);
  terminal.type("tell me\r");
  await terminal.waitFor("tokens");
  terminal.type("/quit\r");
  await terminal.ended;

  const shown = terminal.shown();
  expect(shown).toContain(`${escape}[1mTitle${escape}[22m`);
  expect(shown).toContain(`• ${escape}[22man ${escape}[1mimportant${escape}[22m ${escape}[36mthing${escape}[39m`);
  const lines = shown.split(/\r?\n/u).filter((line) => line.startsWith("twelve-chars"));
  expect(lines.map((line) => line.trimEnd().length)).toEqual([90, 90, 81]);
});

test("kitbag chat stops an answer with Ctrl-C and goes on, and leaves with Ctrl-C twice", async (context) => {
  needProgram(context, "script");
  const { env, server } = await startWireModel([toCall("wait", {}), { text: "Here again." }]);
  const terminal = startKitbagTerminal(words, createTools(), env);

  await terminal.waitFor(prompt);
  terminal.type("wait for ever\r");
  await terminal.waitFor("waiting for ever");
  terminal.type(control.c);
  await terminal.waitFor("Stopped: you stopped it; go on with it: kitbag runs resume");
  await terminal.waitFor(prompt);
  terminal.type("are you there?\r");
  await terminal.waitFor("Here again.");
  await terminal.waitFor(prompt);
  terminal.type(control.c);
  await terminal.waitFor("Ctrl-C again leaves");
  terminal.type(control.c);

  expect(await terminal.ended).toBe(0);
  expect(server.requests).toHaveLength(2);
});

test("kitbag chat stops waiting for a model with Ctrl-C", async (context) => {
  needProgram(context, "script");
  const over = Promise.withResolvers<void>();
  const { env } = await startWireModel([
    { text: "Late.", fault: { kind: "slow", until: over.promise } },
    { text: "Quick." },
  ]);
  const terminal = startKitbagTerminal(words, createTools(), env);

  await terminal.waitFor(prompt);
  terminal.type("think\r");
  await terminal.waitFor("thinking");
  terminal.type(control.c);
  await terminal.waitFor("Stopped: you stopped it");
  over.resolve();
  await terminal.waitFor(prompt);
  terminal.type("again\r");
  await terminal.waitFor("Quick.");
  terminal.type("/quit\r");

  expect(await terminal.ended).toBe(0);
  expect(terminal.shown()).not.toContain("Late.");
});

test("kitbag chat answers lines in order that are typed while an answer is running", async (context) => {
  needProgram(context, "script");
  const over = Promise.withResolvers<void>();
  const { env, server } = await startWireModel([
    { text: "One.", fault: { kind: "slow", until: over.promise } },
    { text: "Two." },
    { text: "Three." },
  ]);
  const terminal = startKitbagTerminal(words, createTools(), env);

  await terminal.waitFor(prompt);
  terminal.type("first request\r");
  await terminal.waitFor("thinking");
  terminal.type("second request\rthird request\r/quit\r");
  await terminal.waitFor("third request");
  over.resolve();

  expect(await terminal.ended).toBe(0);
  const last = server.requests.map(({ body }) =>
    JSON.stringify(body)
      .match(/first|second|third/gu)
      ?.at(-1),
  );
  expect(last).toEqual(["first", "second", "third"]);
});

test("kitbag chat at a terminal leaves with Ctrl-D, and empties a line with Ctrl-C", async (context) => {
  needProgram(context, "script");
  const { env, server } = await startWireModel([{ text: "Yes." }]);
  const terminal = startKitbagTerminal(words, createTools(), env);

  await terminal.waitFor(prompt);
  terminal.type("not this");
  await terminal.waitFor("not this");
  terminal.type(control.c);
  await terminal.waitFor(prompt);
  terminal.type("this\r");
  await terminal.waitFor("Yes.");
  await terminal.waitFor(prompt);
  terminal.type(control.d);

  expect(await terminal.ended).toBe(0);
  expect(JSON.stringify(server.requests[0]?.body)).not.toContain("not this");
});

test("kitbag chat takes several lines that are pasted for one request, and keeps a history for its owner alone", async (context) => {
  needProgram(context, "script");
  const { env, server } = await startWireModel([{ text: "First." }, { text: "Second." }]);
  const project = createTools();
  const terminal = startKitbagTerminal(words, project, env);

  await terminal.waitFor(prompt);
  terminal.type(`${escape}[200~line one\nline two\u0007${escape}[201~`);
  await terminal.waitFor("line two");
  terminal.type("\r");
  await terminal.waitFor("First.");
  await terminal.waitFor(prompt);
  terminal.type(`${escape}[A`);
  await terminal.waitFor("line two");
  terminal.type("\r");
  await terminal.waitFor("Second.");
  await terminal.waitFor(prompt);
  terminal.type("/quit\r");
  await terminal.ended;

  const bodies = server.requests.map(({ body }) => JSON.stringify(body));
  expect(bodies.map((body) => body.split(String.raw`"line one\nline two"`).length - 1)).toEqual([1, 2]);
  const history = join(project.home, "chat-history");
  expect(readFileSync(history, "utf8")).toBe("line one␤line two\n/quit\n");
  expect(statSync(history).mode & 0o777).toBe(0o600);
});

test("kitbag chat completes commands and names with Tab", async (context) => {
  needProgram(context, "script");
  const { env } = await startWireModel([]);
  const skills = join(import.meta.dirname, "../../../skills");
  const terminal = startKitbagTerminal([...words, "--skills", skills], createTools(), env);

  await terminal.waitFor(prompt);
  for (const keys of ["/op", "\t", "json", "\t"]) {
    terminal.type(keys);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await terminal.waitFor("-query");
  terminal.type("\r");
  await terminal.waitFor("Opened json-query");
  terminal.type("/quit\r");

  expect(await terminal.ended).toBe(0);
});

test("kitbag chat asks at the terminal before a call that needs an approval", async (context) => {
  needProgram(context, "script");
  const { env, server } = await startWireModel([toCall("send", { to: "Ada" }), { text: "Sent." }]);
  const terminal = startKitbagTerminal(words, createTools(), env);

  await terminal.waitFor(prompt);
  terminal.type("write to Ada\r");
  await terminal.waitFor('Call send with {"to":"Ada"}? [y/N]');
  terminal.type("y\r");
  await terminal.waitFor("Sent.");
  terminal.type("/quit\r");
  await terminal.ended;

  expect(server.requests[1]?.results).toMatchObject([{ text: expect.stringContaining("sent to Ada") }]);
});

test("kitbag chat /debug goes through the next request step by step", async (context) => {
  needProgram(context, "script");
  const { env, server } = await startWireModel([toCall("add", { a: 1, b: 2 }), { text: "Done." }]);
  const terminal = startKitbagTerminal(words, createTools(), env);

  await terminal.waitFor(prompt);
  terminal.type("/debug\r");
  await terminal.waitFor(prompt);
  terminal.type("add\r");
  for (const place of ["before the model is asked", "the model has answered", "before the call: add"]) {
    await terminal.waitFor(place);
    await terminal.waitFor("(debug) ");
    terminal.type(place.startsWith("before the call") ? 'result "forty"\r' : "\r");
  }
  await terminal.waitFor("(debug) ");
  terminal.type("c\r");
  await terminal.waitFor("Done.");
  terminal.type("/quit\r");
  await terminal.ended;

  expect(JSON.stringify(server.requests[1]?.results)).toContain("forty");
});

test("kitbag chat shows what a model or a tool would have a terminal do, and does not do it", async (context) => {
  needProgram(context, "script");
  const evil = `${escape}]0;owned\u0007${escape}[2J\u202Egood`;
  const { env } = await startWireModel([toCall("echo", { text: evil }), { text: `Here: ${evil}` }]);
  const terminal = startKitbagTerminal(words, createTools(), env);

  await terminal.waitFor(prompt);
  terminal.type("say it\r");
  await terminal.waitFor("Here: ");
  await terminal.waitFor("tokens");
  terminal.type("/quit\r");
  await terminal.ended;

  const shown = terminal.shown();
  expect(shown).toContain(String.raw`Here: \u001b]0;owned\u0007\u001b[2J\u202egood`);
  expect([`${escape}]0;`, `${escape}[2J`, "\u0007", "\u202E"].filter((text) => shown.includes(text))).toEqual([]);
});

/** The same server, for a model that shows its thoughts. */
function toAnthropic(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { origin } = new URL(env["OPENAI_BASE_URL"] ?? "");
  return {
    ANTHROPIC_BASE_URL: `${origin}/anthropic/v1`,
    ANTHROPIC_API_KEY: env["OPENAI_API_KEY"] ?? "",
    KITBAG_MODEL: "anthropic/claude-haiku-4-5",
  };
}

function createTools(): Project {
  return createProject({ "tools.mjs": tools });
}

const tools = `
import { defineTool } from "kitbag";

const text = { type: "object", properties: { text: { type: "string" } } };
const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  run: ({ a, b }) => a + b,
});
const wait = defineTool({
  name: "wait",
  description: "Waits",
  run(_input, { log, signal }) {
    log("waiting for ever");
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  },
});
const send = defineTool({
  name: "send",
  description: "Sends a message",
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  needsApproval: true,
  run: ({ to }) => "sent to " + to,
});
const echo = defineTool({ name: "echo", description: "Says it again", input: text, run: (input, { log }) => (log(input.text), input.text) });
export default [add, wait, send, echo];
`;
