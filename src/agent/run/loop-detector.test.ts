import { expect, test } from "vitest";

import type { ToolOutcome } from "../../core/outcome.ts";
import { createLoopDetector } from "./loop-detector.ts";

const same: ToolOutcome = { status: "ok", output: 1 };
const other: ToolOutcome = { status: "ok", output: 2 };
const failed = {
  status: "failed",
  error: { code: "call-timeout", message: "late", details: {} },
} as unknown as ToolOutcome;

test("check() tells a model that calls the same three times, once, and stops it at six", () => {
  expect(findings(Array.from({ length: 6 }, () => ["a", "{}", same]))).toEqual([
    undefined,
    undefined,
    "nudge",
    undefined,
    undefined,
    "stop",
  ]);
});

test("check() finds calls in turn", () => {
  const turn = Array.from({ length: 12 }, (_, index): Noted => [index % 2 === 0 ? "a" : "b", "{}", same]);

  expect(findings(turn).flatMap((kind, index) => (kind === undefined ? [] : [[kind, index + 1]]))).toEqual([
    ["nudge", 6],
    ["stop", 12],
  ]);
});

test.for<[what: string, toCall: (index: number) => Noted]>([
  ["with other inputs of a tool that changes something", (index) => ["a", String(index), same, true]],
  ["that turn pages, one of them often empty", (index) => ["a", String(index), index % 7 === 0 ? other : same]],
  ["whose outcomes change", (index) => ["a", "{}", { status: "ok", output: index }]],
  ["of other tools", (index) => [`tool-${index}`, "{}", same]],
])("check() finds nothing in calls %s", ([, toCall]) => {
  expect(
    findings(Array.from({ length: 40 }, (_, index) => toCall(index))).filter((kind) => kind !== undefined),
  ).toEqual([]);
});

test("check() finds calls that fail one after the other, whatever they are", () => {
  const calls = Array.from({ length: 16 }, (_, index): Noted => [`tool-${index}`, String(index), failed]);

  expect(findings(calls).flatMap((kind, index) => (kind === undefined ? [] : [[kind, index + 1]]))).toEqual([
    ["nudge", 8],
    ["stop", 16],
  ]);
});

test("check() finds a tool that has nothing new to say, whatever it is asked, by steps and not by calls", () => {
  const detector = createLoopDetector();
  const kinds = Array.from({ length: 16 }, (_, step) => {
    for (let call = 0; call < 5; call++) {
      detector.note({ tool: "find", inputText: `${step} ${call}`, outcome: same, changes: false });
    }
    return detector.check();
  });

  expect(kinds.flatMap((found, index) => (found === undefined ? [] : [[found.kind, index + 1]]))).toEqual([
    ["nudge", 8],
    ["stop", 16],
  ]);
  expect(kinds[7]?.what).toBe("find is called again and again, and whatever it is asked the outcome is the same");
});

test("check() begins anew after something else was done", () => {
  const repeat: Noted = ["a", "{}", same];

  expect(findings([repeat, repeat, repeat, ["b", "{}", same], repeat, repeat, repeat])).toEqual([
    undefined,
    undefined,
    "nudge",
    undefined,
    undefined,
    undefined,
    "nudge",
  ]);
});

type Noted = [tool: string, inputText: string, outcome: ToolOutcome, changes?: boolean];

function findings(calls: readonly Noted[]): (string | undefined)[] {
  const detector = createLoopDetector();
  return calls.map(([tool, inputText, outcome, changes = false]) => {
    detector.note({ tool, inputText, outcome, changes });
    return detector.check()?.kind;
  });
}
