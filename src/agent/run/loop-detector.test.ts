import { expect, test } from "vitest";

import type { ToolOutcome } from "../../core/outcome.ts";
import { createLoopDetector } from "./loop-detector.ts";

const same: ToolOutcome = { status: "ok", output: 1 };
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
  ["with other inputs", (index) => ["a", String(index), same]],
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

type Noted = [tool: string, inputText: string, outcome: ToolOutcome];

function findings(calls: readonly Noted[]): (string | undefined)[] {
  const detector = createLoopDetector();
  return calls.map((call) => {
    detector.note(...call);
    return detector.check()?.kind;
  });
}
