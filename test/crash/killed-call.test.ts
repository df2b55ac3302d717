import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../support/temporary-folder.ts";
import { startCrashProgram } from "./start-crash-program.ts";

interface Crash {
  readonly kind: "idempotent" | "other";
  /** When its process is killed. */
  readonly when: "while it runs" | "when it is done";
  readonly outcome: object;
  /** Whether the tool runs in the process that comes after it. */
  readonly runsAgain: boolean;
}

const paid = { status: "ok", output: "paid" };
const uncertain = { status: "failed", error: { code: "call-uncertain" } };

const crashes: readonly Crash[] = [
  { kind: "idempotent", when: "when it is done", outcome: { ...paid, recalled: "key" }, runsAgain: false },
  { kind: "other", when: "when it is done", outcome: { ...paid, recalled: "key" }, runsAgain: false },
  { kind: "idempotent", when: "while it runs", outcome: paid, runsAgain: true },
  { kind: "other", when: "while it runs", outcome: uncertain, runsAgain: false },
];

test.for(crashes)(
  "a call with a key whose process is killed $when is run again: $runsAgain (tool: $kind)",
  { timeout: 120_000 },
  async ({ kind, when, outcome, runsAgain }) => {
    const file = join(createFolder(), "kitbag.db");
    const isDone = when === "when it is done";
    const first = startCrashProgram("call-once.ts", [file, kind, isDone ? "short" : "for-ever"]);
    await first.waitFor(isDone ? "outcome" : "ran");
    first.signal("SIGKILL");
    await first.gone;

    const second = startCrashProgram("call-once.ts", [file, kind, "short"]);
    const line = await second.waitFor("outcome");

    expect(JSON.parse(line.slice("outcome ".length))).toMatchObject(outcome);
    expect(second.lines().includes("ran")).toBe(runsAgain);
  },
);
