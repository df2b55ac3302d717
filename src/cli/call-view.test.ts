import { expect, test } from "vitest";

import { toFailure } from "../core/errors.ts";
import type { CallEvent } from "../core/events.ts";
import { createCallView } from "./call-view.ts";
import type { Terminal } from "./terminal.ts";

test("createCallView() shows progress in numbers and words", () => {
  const { statuses, terminal } = createScreen();
  const { onEvent } = createCallView({ terminal, json: false });

  onEvent({ type: "call-progress", call: "1", progress: { done: 1, total: 3, message: "reading\u001B[2J" } });
  onEvent({ type: "call-progress", call: "1", progress: { done: 2 } });
  onEvent({ type: "call-progress", call: "1", progress: { message: "nearly" } });

  expect(statuses).toEqual([String.raw`1/3 reading\u001b[2J`, "2", "nearly"]);
});

test("createCallView() shows the chunks of the call, not of calls inside it", () => {
  const { printed, terminal } = createScreen();
  const { onEvent, renderRest } = createCallView({ terminal, json: false });

  onEvent(start("1"));
  onEvent(start("2", "1"));
  onEvent({ type: "call-chunk", call: "2", chunk: "inner" });
  onEvent({ type: "call-chunk", call: "1", chunk: "outer" });

  expect(printed).toEqual(["outer"]);
  expect(renderRest("outer")).toBe("\n");
});

test("createCallView() shows a list of chunks once", () => {
  const { printed, terminal } = createScreen();
  const { onEvent, renderRest } = createCallView({ terminal, json: false });

  onEvent(start("1"));
  onEvent({ type: "call-chunk", call: "1", chunk: { id: 1 } });
  onEvent({ type: "call-chunk", call: "1", chunk: [2] });

  expect(printed).toEqual(['{"id":1}\n', "[2]\n"]);
  expect(renderRest([{ id: 1 }, [2]])).toBe("");
  expect(renderRest("other")).toBe("other");
});

test("createCallView() begins the output on a line of its own", () => {
  const { terminal } = createScreen();
  const { onEvent, renderRest } = createCallView({ terminal, json: false });

  onEvent(start("1"));
  onEvent({ type: "call-chunk", call: "1", chunk: "working" });

  expect(renderRest({ done: true })).toBe('\n{\n  "done": true\n}');
});

test("createCallView() shows what the call logs, harmless, and not what calls inside it log", () => {
  const { notes, terminal } = createScreen();
  const { onEvent } = createCallView({ terminal, json: true });

  onEvent(start("1"));
  onEvent(start("2", "1"));
  onEvent({ type: "call-log", call: "2", message: "inner" });
  onEvent({ type: "call-log", call: "1", message: "read \u001B[2J", data: { files: 3 } });

  expect(notes).toEqual([`${String.raw`read \u001b[2J`} {"files":3}\n`]);
});

test("createCallView() does not repeat the last words of a script that are on the screen", () => {
  const { terminal } = createScreen();
  const { onEvent, renderFailure } = createCallView({ terminal, json: false });
  const failure = toFailure("script-failed", { tool: "t", code: 3, stderr: "one\n$& two", hint: "do it" });

  const unseen = renderFailure(failure);
  onEvent(start("1"));
  onEvent({ type: "call-chunk", call: "1", chunk: "half a line" });
  onEvent({ type: "call-log", call: "1", message: "one" });
  onEvent({ type: "call-log", call: "1", message: "$& two" });

  expect(unseen).toBe('Cannot finish "t": it ended with exit code 3: one\n$& two\n→ do it');
  expect(renderFailure(failure)).toBe('\nCannot finish "t": it ended with exit code 3\n→ do it');
});

test("renderFailure() leaves out what a tool that was stopped said until then, as far as everybody has read it", () => {
  const { terminal } = createScreen();
  const { onEvent, renderFailure } = createCallView({ terminal, json: false });
  const calls = [{ tool: "add", status: "ok", durationMs: 1 }];
  const untilThen = { stdout: "step 1\n", stderr: "careful", console: "did one", calls };
  const failure = toFailure("call-timeout", { tool: "t", limitMs: 5, untilThen });
  const stopped = 'Cannot finish "t": it was still running after 5 ms';

  const unseen = renderFailure(failure);
  onEvent(start("1"));
  onEvent({ type: "call-chunk", call: "1", chunk: "step 1\n" });
  onEvent({ type: "call-log", call: "1", message: "careful" });
  const seen = renderFailure(failure);
  onEvent({ type: "call-log", call: "1", message: "did one" });

  expect(unseen).toBe(`${stopped}\n→ it had called: add (ok)\n→ it had printed: step 1\n→ and on stderr: careful`);
  expect(seen).toBe(`${stopped}\n→ it had called: add (ok)\n→ it had printed: did one`);
  expect(renderFailure(failure)).toBe(`${stopped}\n→ it had called: add (ok)\n→ and on stderr: careful`);
});

test("createCallView() says to a person how to make a failed call again that is kept, and nothing to a program", () => {
  const { terminal } = createScreen();
  const [person, program] = [true, false].map((isWatched) =>
    createCallView({ terminal: { ...terminal, isWatched }, json: false }),
  );
  const error = toFailure("tool-failed", { tool: "t", reason: "no" });

  for (const view of [person, program]) {
    view?.onEvent(start("1"));
    view?.onEvent({ type: "call-kept", call: "1", letter: "abc-1" });
  }

  expect(person?.toAnswer({ status: "failed", error }).failure).toBe(
    `${error.message}\nTo make this call again: kitbag dead retry abc-1`,
  );
  expect(program?.toAnswer({ status: "failed", error }).failure).toBe(error.message);
});

test("createCallView() says to a person where to see what a tool takes", () => {
  const { terminal } = createScreen();
  const problem = { path: "file", expected: "a string", found: "nothing" };
  const error = toFailure("input-invalid", { tool: "text/count", problems: [problem] });

  const { failure } = createCallView({ terminal: { ...terminal, isWatched: true }, json: false }).toAnswer({
    status: "failed",
    error,
  });

  expect(failure).toBe(`${error.message}\nTo see what it takes: kitbag show text/count`);
});

function start(call: string, parent?: string): CallEvent {
  const facts = { tool: "t", source: "global", owner: "global", input: {}, time: 0 } as const;
  return { type: "call-start", call, ...(parent !== undefined && { parent }), ...facts };
}

function createScreen(): { printed: string[]; notes: string[]; statuses: string[]; terminal: Terminal } {
  const printed: string[] = [];
  const notes: string[] = [];
  const statuses: string[] = [];
  const terminal: Terminal = {
    print: (text) => void printed.push(text),
    note: (text) => void notes.push(text),
    showStatus: (text) => void statuses.push(text),
    style: (_style, text) => text,
    toShown: (text) => text,
    ask: async () => undefined,
    readInput: async () => "",
    flush: async () => {},
    canAsk: false,
    isScreen: true,
    isWatched: true,
    hasColour: false,
    columns: 80,
  };
  return { printed, notes, statuses, terminal };
}
