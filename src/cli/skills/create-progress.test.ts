import { PassThrough } from "node:stream";

import { expect, test } from "vitest";

import { createTerminal } from "../terminal.ts";
import { createProgress } from "./load-reports.ts";

test("createProgress() shows how far reading has come, not more often than ten times a second", () => {
  const shown: string[] = [];
  let now = 0;
  const progress = createProgress({ showStatus: (text) => shown.push(text) }, () => now);

  for (let done = 1; done <= 2000; done++) {
    now += 1;
    progress(done, 2000);
  }

  expect(shown).toHaveLength(18);
  expect(shown[0]).toBe("Reading skills: 15 % of 1000");
});

test("createProgress() shows nothing for what is quick", () => {
  const shown: string[] = [];
  let now = 0;
  const progress = createProgress({ showStatus: (text) => shown.push(text) }, () => now);

  for (let done = 1; done <= 200; done++) {
    now += 1;
    progress(done, 200);
  }

  expect(shown).toEqual([]);
});

test.for([
  [true, "\r\u001B[KReading skills: 50 % of 5"],
  [false, ""],
] as const)("createProgress() writes to standard error, if that is a terminal (%s)", ([isTTY, written]) => {
  const stderr = Object.assign(new PassThrough(), { isTTY });
  const stdout = new PassThrough();
  const terminal = createTerminal({ stdin: new PassThrough(), stdout, stderr, env: {} });
  let now = 0;
  const progress = createProgress(terminal, () => now);

  now = 1000;
  progress(5, 10);

  expect(stderr.read()?.toString() ?? "").toBe(written);
  expect(stdout.read()).toBeNull();
});
