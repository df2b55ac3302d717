import { expect, test } from "vitest";

import { toFailure } from "./errors.ts";
import { sayUntilThen } from "./error-texts.ts";

test("sayUntilThen() names what was called and printed, a line each, and nothing that there is not", () => {
  const calls = [
    { tool: "add", status: "ok", durationMs: 1 },
    { tool: "send", status: "unfinished", durationMs: 2 },
  ];

  expect(sayUntilThen()).toBe("");
  expect(sayUntilThen({ console: "", calls: [] })).toBe("");
  expect(sayUntilThen({ stdout: "a\n", stderr: "b" })).toBe("\n→ it had printed: a\n→ and on stderr: b");
  expect(sayUntilThen({ console: "c", calls })).toBe(
    "\n→ it had called: add (ok), send (unfinished)\n→ it had printed: c",
  );
});

test("sayUntilThen() repeats the end of a long text, and the last of many calls", () => {
  const calls = Array.from({ length: 30 }, (_, index) => ({ tool: `t${index}`, status: "ok", durationMs: 1 }));

  const said = sayUntilThen({ stdout: `${"x".repeat(5000)}end`, calls });

  expect(said).toMatch(/^\n→ it had called: t10 \(ok\),.*t29 \(ok\)\n→ it had printed: x{997}end$/u);
});

test("toFailure() tells computing time from time that passed, and one sandbox that was asked for from all", () => {
  const messageOf = (...failure: Parameters<typeof toFailure>): string => toFailure(...failure).message;

  expect(messageOf("call-timeout", { tool: "t", limitMs: 5, counted: "computing" })).toContain(
    "has computed for longer",
  );
  expect(messageOf("call-timeout", { tool: "t", limitMs: 5 })).toContain("still running after 5 ms");
  expect(messageOf("sandbox-missing", { tried: ["nsjail: x"], asked: "nsjail" })).toContain("choose another one");
  expect(messageOf("sandbox-missing", { tried: ["nsjail: x"] })).toContain("install bubblewrap");
  expect(messageOf("sandbox-weak", { sandbox: "nsjail", lacks: ["files"] })).toMatch(
    /^[^:]*: it does not enforce files;/u,
  );
  expect(messageOf("sandbox-weak", { sandbox: "nsjail", lacks: ["files"], found: "No clone" })).toMatch(
    /^[^:]*: No clone; so it does not enforce files;/u,
  );
});

test("toFailure() says how to go on with a run that was stopped", () => {
  const cureOf = (reason: string): string =>
    toFailure("run-stopped", { run: "a", reason, text: "" }).message.replace(/^.*; /u, "");

  expect(["cancelled", "lost", "loop", "steps"].map(cureOf)).toEqual([
    "resume the run to go on",
    "resume the run to go on",
    "fork the run to go on",
    "raise the limit, and fork the run to go on",
  ]);
});
