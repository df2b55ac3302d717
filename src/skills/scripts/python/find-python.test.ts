import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { findPython } from "./python-reader.ts";

const folder = mkdtempSync(join(tmpdir(), "kitbag-python-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("findPython() goes past a script that chooses a Python", () => {
  const shims = place("shims", "#!/bin/sh\nexec python3.12\n");
  const real = place("real", "\u007fELF");

  const found = findPython([shims, real].join(delimiter));

  expect(found).toBe(join(real, "python3"));
});

test("findPython() takes the first of several", () => {
  const [first, second] = [place("first", "\u007fELF"), place("second", "\u007fELF")];

  const found = findPython([first, second].join(delimiter));

  expect(found).toBe(join(first, "python3"));
});

test("findPython() leaves it to the system when there are only scripts, empty files or folders, or nothing", () => {
  const shims = place("only-shims", "#!/bin/sh\n");
  const empty = place("empty", "");
  mkdirSync(join(folder, "odd", "python3"), { recursive: true });

  const found = findPython(
    [shims, empty, join(folder, "odd"), join(folder, "missing"), "relative", ""].join(delimiter),
  );

  expect(found).toBe("python3");
  expect(findPython("")).toBe("python3");
});

function place(name: string, text: string): string {
  const directory = join(folder, name);
  mkdirSync(directory);
  writeFileSync(join(directory, "python3"), text);
  chmodSync(join(directory, "python3"), 0o755);
  return directory;
}
