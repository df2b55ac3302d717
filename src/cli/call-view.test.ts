import { expect, test } from "vitest";

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

function start(call: string, parent?: string): CallEvent {
  const facts = { tool: "t", source: "global", owner: "global", input: {}, time: 0 } as const;
  return { type: "call-start", call, ...(parent !== undefined && { parent }), ...facts };
}

function createScreen(): { printed: string[]; statuses: string[]; terminal: Terminal } {
  const printed: string[] = [];
  const statuses: string[] = [];
  const terminal: Terminal = {
    print: (text) => void printed.push(text),
    note: () => {},
    showStatus: (text) => void statuses.push(text),
    style: (_style, text) => text,
    toShown: (text) => text,
    ask: async () => undefined,
    readInput: async () => "",
    flush: async () => {},
    canAsk: false,
    isScreen: true,
    hasColour: false,
    columns: 80,
  };
  return { printed, statuses, terminal };
}
