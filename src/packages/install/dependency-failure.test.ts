import { expect, test } from "vitest";

import { dependencyFailed, explainCommon, explainSystem, lastWords } from "./dependency-failure.ts";

test("dependencyFailed() says what could not be installed, why, and what to do", () => {
  const failure = { problem: "not-found", package: "left", reason: "it is not there", cure: "look again" } as const;

  expect(dependencyFailed("node", failure).message).toBe(
    'Cannot install the npm package "left": it is not there; look again',
  );
  expect(dependencyFailed("python", { ...failure, package: undefined }).message).toBe(
    "Cannot install the Python packages: it is not there; look again",
  );
});

test.for([
  ["OSError: [Errno 28] No space left on device", "disk"],
  ["npm error code ENOSPC", "disk"],
  ["OSError: [Errno 27] File too large", "too-large"],
  ["403 the name leads to a private address; list the address too (10.0.0.5:443) to allow it - GET x", "other-host"],
])("explainCommon() of %j is %s", ([stderr = "", problem]) => {
  expect(explainCommon({ code: 1, stdout: "", stderr }, 10)?.problem).toBe(problem);
});

test("explainCommon() tells of limits, and of nothing else", () => {
  const result = { code: undefined, stdout: "", stderr: "" };

  expect(explainCommon({ ...result, stopped: "too-large" }, 10)).toMatchObject({
    reason: "it needs more than 10 bytes",
  });
  expect(explainCommon({ ...result, stopped: "out-of-memory" }, 10)?.problem).toBe("memory");
  expect(explainCommon({ ...result, code: 1 }, 10)).toBeUndefined();
});

test("explainSystem() knows a full disk, whatever else was thrown", () => {
  expect(explainSystem(Object.assign(new Error("full"), { code: "ENOSPC" }))?.problem).toBe("disk");
  expect([new Error("other"), null, undefined, "text", 1].map(explainSystem)).toEqual(Array.from({ length: 5 }));
});

test("lastWords() shows the end of a message, and no password of an address", () => {
  const text = `${"line\n".repeat(99)}at https://user:secret@index.example/simple\n\n`;

  expect(lastWords(text)).toBe("line | line | line | at https://index.example/simple");
  expect(lastWords("")).toBe("it printed nothing");
  expect(lastWords("x".repeat(5000))).toHaveLength(600);
});
