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
  ["with other inputs of a tool that changes something", (index) => ["a", String(index), same, false]],
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

test.for<[readOnly: boolean | undefined, nudgeAt: number, stopAt: number]>([
  [true, 8, 16],
  [undefined, 16, 32],
])(
  "check() finds a tool (read-only: %s) that has nothing new to say, at step %i and %i",
  ([readOnly, nudgeAt, stopAt]) => {
    const detector = createLoopDetector();
    const kinds = Array.from({ length: stopAt }, (_, step) => {
      for (let call = 0; call < 5; call++) {
        detector.note({ tool: "find", inputText: `${step} ${call}`, outcome: same, readOnly });
      }
      return detector.check();
    });

    expect(kinds.flatMap((found, index) => (found === undefined ? [] : [[found.kind, index + 1]]))).toEqual([
      ["nudge", nudgeAt],
      ["stop", stopAt],
    ]);
    expect(kinds.at(-1)?.what).toBe("find is called again and again, and whatever it is asked the outcome is the same");
  },
);

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

type Noted = [tool: string, inputText: string, outcome: ToolOutcome, readOnly?: boolean];

function findings(calls: readonly Noted[]): (string | undefined)[] {
  const detector = createLoopDetector();
  return calls.map(([tool, inputText, outcome, readOnly]) => {
    detector.note({ tool, inputText, outcome, readOnly });
    return detector.check()?.kind;
  });
}
