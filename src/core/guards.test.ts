import { expect, test } from "vitest";

import { toFailure } from "./errors.ts";
import { guardsOnlyAt, hasGuardAt, judge, withShown, type Guard, type GuardVerdict } from "./guards.ts";
import type { JsonValue } from "./json.ts";

const mail = ["ada", "example.com"].join("@");

test("judge() shows each guard what those before it have left, and says what each did", async () => {
  const seen: unknown[] = [];
  const guards: Guard[] = [
    { name: "mails", check: () => ({ redact: true }) },
    { name: "nothing", check: ({ value }) => void seen.push(value) },
    { name: "cards", check: () => ({ redact: ["personal"] }) },
    { name: "louder", check: ({ value }) => ({ change: `${String(value)}!` }) },
    { name: "elsewhere", at: ["answer"], check: () => ({ refuse: "never asked" }) },
  ];

  const judged = await judge(guards, { place: "task", value: `Write to ${mail}` });

  expect(seen).toEqual(["Write to [email]"]);
  expect(judged).toEqual({
    value: "Write to [email]!",
    acts: [
      { guard: "mails", place: "task", verdict: "redact" },
      { guard: "louder", place: "task", verdict: "change" },
    ],
  });
});

test("judge() stops at the first guard that refuses, also behind one that asks", async () => {
  const guards: Guard[] = [
    { name: "asks", check: () => ({ ask: "large" }) },
    { name: "asks too", check: () => ({ ask: "late" }) },
    { name: "refuses", check: async () => ({ refuse: "too large" }) },
    { name: "last", check: () => ({ change: "x" }) },
  ];

  expect(await judge(guards.slice(0, 2), { place: "task", value: 1 })).toMatchObject({ asked: { guard: "asks" } });
  expect(await judge(guards, { place: "task", value: 1 })).toMatchObject({
    value: 1,
    refused: { guard: "refuses", verdict: "refuse", reason: "too large" },
  });
});

test.for<[what: string, answer: unknown]>([
  ["a word", "no"],
  ["two verdicts", { refuse: "a", ask: "b" }],
  ["an empty one", {}],
  ["a kind that is none", { redact: ["all"] }],
  ["another type in place of a text", { change: 1 }],
])("judge() refuses if a guard answers with %s", async ([, answer]) => {
  const guard: Guard = { name: "odd", check: () => answer as GuardVerdict };

  const { refused } = await judge([guard], { place: "answer", value: "text" });

  expect(refused?.reason).toContain("the guard failed: it answered");
});

test("judge() refuses if a guard throws, and a guard cannot change what it is shown", async () => {
  const value = { list: [1] };
  const guards: Guard[] = [
    { name: "changes", check: (guarded) => void (guarded.value as { list: number[] }).list.push(2) },
    { name: "throws", check: () => Promise.reject(new Error("out of order")) },
  ];

  const judged = await judge(guards, { place: "tool-output", value });

  expect(judged).toMatchObject({ value: { list: [1] }, refused: { reason: "the guard failed: out of order" } });
});

test("judge() takes anything in place of JSON, and null for nothing", async () => {
  const guards: Guard[] = [
    { name: "null", check: () => null as never },
    { name: "text", check: () => ({ change: "text" }) },
  ];

  expect((await judge(guards, { place: "tool-input", value: {} })).value).toBe("text");
});

test("hasGuardAt() says whether one of them looks there", () => {
  const guards: Guard[] = [{ name: "a", at: ["task"], check: () => undefined }];

  expect([hasGuardAt(guards, "task"), hasGuardAt(guards, "answer"), hasGuardAt([], "task")]).toEqual([
    true,
    false,
    false,
  ]);
});

test("guards that look at other places are left out, and the others look only at those that are named", async () => {
  const all: Guard = { name: "all", check: () => ({ refuse: "no" }) };
  const calls: Guard = { name: "calls", at: ["tool-input"], check: () => undefined };

  const kept = guardsOnlyAt([all, calls], ["task", "answer"]);

  expect(kept.map(({ name, at }) => ({ name, at }))).toEqual([{ name: "all", at: ["task", "answer"] }]);
  expect(await judge(kept, { place: "tool-input", value: 1 })).toEqual({ value: 1, acts: [] });
});

test.for([
  [{ message: "short" }, { code: "store-failed", message: "short", details: {} }],
  ["short", { code: "store-failed", message: "short", details: {} }],
  [[1], { code: "store-failed", message: "[1]", details: {} }],
] as const)("what guards leave of a failure is a failure: %j", ([shown, error]) => {
  const failed = { status: "failed", error: toFailure("store-failed", { reason: "disk", ran: false }) } as const;

  expect(withShown(failed, shown as JsonValue)).toEqual({ status: "failed", error });
});

test("what guards leave of an output is an output; what they leave alone stays the same outcome", () => {
  const ok = { status: "ok", output: "text", recalled: "cache" } as const;

  expect(withShown(ok, "text")).toBe(ok);
  expect(withShown(ok, "other")).toEqual({ ...ok, output: "other" });
});
