import { expect, test } from "vitest";

import { isName } from "../../core/names.ts";
import { toFreeName, toToolName } from "./derive-scripts.ts";

test("toToolName() takes the name of the file, and appends the words of a sub-command", () => {
  expect(toToolName("scripts/extract_text.py")).toBe("extract_text");
  expect(toToolName("scripts/image_gen.py", ["generate-batch"])).toBe("image_gen-generate-batch");
  expect(toToolName("scripts/Get-Thing.ps1")).toBe("Get-Thing");
  expect(toToolName("scripts/tool")).toBe("tool");
});

test("toToolName() makes a name of whatever a file is called", () => {
  const files = ["a b.py", "文件.py", "-x.py", "..py", "a".repeat(200), "__init__.py", "a/../b.sh", "x.tar.gz", ""];

  for (const file of files) expect(toToolName(file)).toSatisfy(isName);
  expect(files.map((file) => toToolName(file)).slice(0, 3)).toEqual(["a-b", "script", "x"]);
});

test("toFreeName() appends the ending, then numbers, and stays within the length", () => {
  const taken = new Set(["extract", "extract-sh", "extract-2", "a".repeat(64)]);

  expect(toFreeName("free", "scripts/free.py", taken)).toBe("free");
  expect(toFreeName("extract", "scripts/extract.py", taken)).toBe("extract-py");
  expect(toFreeName("extract", "scripts/extract.sh", taken)).toBe("extract-3");
  expect(toFreeName("a".repeat(64), "scripts/a.sh", taken)).toBe(`${"a".repeat(61)}-sh`);
});
