import { expect, test } from "vitest";

import { runKitbag, type KitbagRun } from "../../../test/run-kitbag.ts";

interface TourDocument {
  readonly steps: readonly { readonly title: string; readonly code: string; readonly shown: readonly unknown[] }[];
}

test("kitbag tour runs through a pipe without waiting, plain, and says what to type next", async () => {
  const run = await runTour([]);

  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout).not.toContain("\u001B");
  expect(run.stdout).toContain("What to type next");
  expect(run.stdout).toContain('Cannot finish "hang": it was still running after 300 ms');
});

test("kitbag tour --json has the code of each step and what really came out", async () => {
  const run = await runTour(["--json"]);

  const { steps } = JSON.parse(run.stdout) as TourDocument;
  const outcomes = steps.flatMap(({ shown }) => shown).filter((value) => typeof value === "object");
  expect(outcomes).toMatchObject([
    { status: "ok", output: 5 },
    { status: "ok", coerced: [{ path: "width" }] },
    { status: "failed", error: { code: "input-invalid" } },
    { status: "failed", error: { code: "tool-not-found" } },
    { status: "failed", error: { code: "call-timeout" } },
    { status: "failed", error: { code: "approval-denied" } },
    {
      status: "ok",
      output: { first: "It began with 20 degrees", days: [{ celsius: 20 }, { celsius: 25 }, { celsius: 10 }] },
    },
    { status: "failed", error: { code: "step-failed" } },
    { status: "failed", error: { code: "tool-unavailable" } },
    { status: "ok", output: 10 },
    { status: "ok", output: "Ada\nBob" },
    { status: "failed", error: { code: "file-denied", details: { file: "/etc/shadow" } } },
    { handle: expect.stringMatching(/^output:/u), bytes: 152_781 },
    { offset: 90_000, nextOffset: 90_080 },
    { message: "asking for the price" },
  ]);
});

test("kitbag tour shows the code that runs: complete statements, without the function around them", async () => {
  const run = await runTour(["--json"]);

  const { steps } = JSON.parse(run.stdout) as TourDocument;
  for (const { code } of steps) {
    expect(code).toMatch(/^const \w+ = (?:define|openRuntimes)/u);
    expect(code).toMatch(/;(?: \/\/ .*)?$/u);
    expect(code).not.toContain("async ({");
    // Types that were taken out leave gaps.
    expect(code).not.toMatch(/\S {2,}/u);
  }
});

test("kitbag tour says which sandbox a script ran in, and what it did not see", async () => {
  const run = await runTour([]);

  expect(run.stdout).toMatch(/It ran in the sandbox (?:bubblewrap|unshare)\./u);
  expect(run.stdout).toContain("It did not see: your home and every other file of yours\n");
});

test("kitbag tour goes on where there is no sandbox, and says that nothing was run", async () => {
  const run = await runTour([], { KITBAG_SANDBOX: "seatbelt" });

  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout).toContain("No sandbox works on this machine, so nothing was run");
  expect(run.stdout).toContain("What to type next");
});

/** From the sources: what is built shows its code as it was put together. */
function runTour(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<KitbagRun> {
  return runKitbag(["tour", ...words], { isSource: true, env });
}
