import { PassThrough } from "node:stream";

import { expect, test } from "vitest";

import type { AgentEvent } from "../../../agent/events.ts";
import { textWidth } from "../../render.ts";
import { createTerminal } from "../../terminal.ts";
import { createRunView, nameCall, type RunViewOptions } from "./run-view.ts";

const at = { run: "r", step: 1 };

test("createRunView() writes text on standard output, and thoughts nowhere when nobody watches", () => {
  const { stdout, stderr } = show([
    { type: "step-start", ...at },
    { type: "reasoning-delta", ...at, text: "Hm." },
    { type: "text-delta", ...at, text: "Hel" },
    { type: "text-delta", ...at, text: "lo" },
  ]);

  expect([stdout, stderr]).toEqual(["Hello\n", ""]);
});

test("createRunView() shows a call that is over on one line, whatever is in it", () => {
  const { stderr } = show([
    { type: "tool-start", ...at, id: "1", tool: "a\u001B[2J", input: { text: "x\ny\u0007".repeat(200) } },
    { type: "call-event", run: "r", id: "1", event: { type: "call-log", call: "c", message: "half\u001B[2J\nway" } },
    {
      type: "tool-end",
      ...at,
      id: "1",
      tool: "a",
      outcome: { status: "ok", output: "\u001B]0;x\u0007" },
      durationMs: 12,
    },
  ]);

  const lines = stderr.trimEnd().split("\n");
  expect(lines.slice(0, 2)).toEqual([String.raw`│ half\u001b[2J`, "│ way"]);
  expect(lines).toHaveLength(3);
  expect(lines[2]).toMatch(/^✓ a\\u001b\[2J text: .*… → \\u001b\]0;x\\u0007 {2}12 ms$/u);
  expect(stderr).not.toMatch(/[\u0007\u001B]/u);
});

test("createRunView() shows what a call was made with, if that is not what the model gave", () => {
  const outcome = { status: "ok", output: "seen" } as const;

  const { stderr } = show([
    { type: "tool-start", ...at, id: "1", tool: "look", input: { at: "a" } },
    { type: "call-changed", ...at, call: "1.0", id: "1", tool: "look", input: { at: "b" } },
    { type: "tool-end", ...at, id: "1", tool: "look", outcome, durationMs: 1 },
  ]);

  expect(stderr).toBe("✓ look at: b → seen  1 ms\n");
});

test("createRunView() does not let a call flood the screen with what it logs", () => {
  const log = { type: "call-event", run: "r", id: "1", event: { type: "call-log", call: "c", message: "x" } } as const;

  const { stderr } = show([
    { type: "tool-start", ...at, id: "1", tool: "a", input: {} },
    ...Array.from({ length: 1000 }, () => log),
  ]);

  const lines = stderr.trimEnd().split("\n");
  expect([lines.length, lines.at(-1)]).toEqual([21, "│ … it logs on"]);
});

test("createRunView() shows a failure with its reason, and what comes from the journal as such", () => {
  const error = { code: "input-invalid", message: "Cannot call: wrong", details: {} } as never;

  const { stderr } = show([
    {
      type: "tool-end",
      ...at,
      id: "1",
      tool: "add",
      outcome: { status: "failed", error },
      durationMs: 1,
      recalled: true,
    },
  ]);

  expect(stderr).toBe("✗ add → Cannot call: wrong  from the journal\n");
});

test("createRunView() says what the agent tells the model by itself, and that a model is asked again", () => {
  const message = { role: "user", content: [{ type: "text", text: "Go on." }] } as const;
  const error = { code: "model-unavailable", message: "Cannot ask: busy", details: {} } as never;

  const { stderr } = show([
    { type: "model-retry", ...at, error },
    { type: "message-added", ...at, reason: "loop", message: message as never },
    { type: "message-added", ...at, reason: "steering", message: message as never },
  ]);

  expect(stderr).toBe("The model did not answer and is asked again: Cannot ask: busy\nTold the model: Go on.\n");
});

test("createRunView() says once what the provider did not do as it was asked to", () => {
  const answer = {
    type: "model-answer",
    ...at,
    model: "openai/gpt-6-sol",
    warnings: ["seed is not supported"],
  } as never;

  const { stderr } = show([answer, answer]);

  expect(stderr).toBe("openai/gpt-6-sol: seed is not supported\n");
});

test("createRunView() shows no text if nobody wants it", () => {
  const { stdout } = show([{ type: "text-delta", ...at, text: "{}" }], { showsText: false });

  expect(stdout).toBe("");
});

test("createRunView() shows a call on one line of a narrow screen, also with wide characters", () => {
  const stderr = new PassThrough();
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 40 });
  const env = { NO_COLOR: "1" };
  const view = createRunView(createTerminal({ stdin: new PassThrough(), stdout, stderr, env }));
  const text = "日本語のとても長いテキスト".repeat(3);

  view.onEvent({ type: "tool-start", ...at, id: "1", tool: "look", input: { text } });
  view.onEvent({
    type: "tool-end",
    ...at,
    id: "1",
    tool: "look",
    outcome: { status: "ok", output: text },
    durationMs: 31,
  });

  const line = (stderr.read() as Buffer).toString("utf8").trimEnd();
  expect(line).toMatch(/^✓ look text: .*… → .*… {2}31 ms$/u);
  expect(textWidth(line)).toBeLessThanOrEqual(40);
});

test("leave() lets one ask at a time, and shows what happened meanwhile before the next one asks", async () => {
  const stderr = new PassThrough();
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr, env: {} };
  const terminal = createTerminal(streams);
  const view = createRunView(terminal);
  const ask = (name: string): Promise<void> =>
    view.leave(async () => {
      terminal.note(`${name}? `);
      await new Promise(setImmediate);
      terminal.note("yes\n");
    });

  const first = ask("a");
  const second = ask("b");
  await Promise.resolve();
  const outcome = { status: "ok", output: "done" } as const;
  view.onEvent({ type: "tool-end", ...at, id: "1", tool: "c", outcome, durationMs: 1 });
  await Promise.all([first, second]);

  expect((stderr.read() as Buffer).toString("utf8")).toBe("a? yes\n✓ c → done  1 ms\nb? yes\n");
});

test.for([
  ["activate_skill", { name: "pdf" }, "open the skill pdf"],
  ["deactivate_skill", { name: "pdf" }, "close the skill pdf"],
  ["activate_skill", {}, "activate_skill"],
  [
    "a/b",
    { file: "x.csv", top: 3, by: ["r"], deep: { a: null } },
    'a/b file: x.csv, top: 3, by: ["r"], deep: {"a":null}',
  ],
  ["a/b", "no object", "a/b no object"],
  ["__proto__", { name: "x" }, "__proto__ name: x"],
  ["a/b", null, "a/b null"],
] as const)("nameCall() says %s with %j in a few words", ([tool, input, words]) => {
  expect(nameCall({ tool, input })).toBe(words);
});

function show(events: readonly AgentEvent[], options: RunViewOptions = {}): { stdout: string; stderr: string } {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const view = createRunView(createTerminal({ stdin, stdout, stderr, env: {} }), options);
  for (const event of events) view.onEvent(event);
  view.end();
  const read = (stream: PassThrough): string => (stream.read() as Buffer | null)?.toString("utf8") ?? "";
  return { stdout: read(stdout), stderr: read(stderr) };
}
