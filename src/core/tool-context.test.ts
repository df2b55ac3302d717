import { expect, test } from "vitest";

import { ProgressMark, progress } from "./tool.ts";

test("progress() marks words as progress", () => {
  const mark = progress("half done");

  expect(mark).toBeInstanceOf(ProgressMark);
  expect(mark.progress).toEqual({ message: "half done" });
});

test("progress() marks numbers as progress", () => {
  expect(progress({ done: 1, total: 2 }).progress).toEqual({ done: 1, total: 2 });
});
