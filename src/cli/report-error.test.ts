import { expect, test } from "vitest";

import { toFailedAnswer } from "./report-error.ts";

test.for([
  ["EACCES", "there is no permission for it; change who may use it, or name another place with KITBAG_HOME or --store"],
  ["EROFS", "it cannot be written there; change who may use it, or name another place with KITBAG_HOME or --store"],
  ["ENOSPC", "the disk is full; make room, or name another place with KITBAG_HOME or --store"],
] as const)("toFailedAnswer() says in one line which file %s is about, and what to do", ([code, words]) => {
  const cause = Object.assign(new Error(`${code}: no, open '/home/x'`), { code, path: "/home/x" });

  const answer = toFailedAnswer(cause);

  expect(answer.failure).toBe(`Cannot use "/home/x": ${words}`);
  expect(answer.document).toMatchObject({ status: "failed", error: { code: "program-failed" } });
  expect(answer.exitCode).toBe(1);
});

test.for([
  new Error("a bug"),
  Object.assign(new Error("no path"), { code: "EACCES" }),
  Object.assign(new Error("no such code"), { code: "__proto__", path: "/x" }),
])("toFailedAnswer() keeps the stack of %s", (cause) => {
  expect(toFailedAnswer(cause).failure).toBe(cause.stack);
});
