import { expect, test } from "vitest";

import { renderWrittenFiles } from "./call-files.ts";

test("renderWrittenFiles() says of each file where it is, and quotes names that are no plain paths", () => {
  const shown = renderWrittenFiles([
    { path: "a.txt", bytes: 1, savedTo: "/p/a.txt" },
    { path: "b.txt", bytes: 2, savedTo: "/p/b.txt", backup: "/p/b.txt.bak" },
    { path: "c d\n.txt", bytes: 3, handle: "output:1" },
    { path: "e.bin", bytes: 4 },
  ]);

  expect(shown.split("\n")).toEqual([
    "Files that the tool wrote:",
    "- a.txt, 1 bytes: saved",
    "- b.txt, 2 bytes: saved; what was there is now /p/b.txt.bak",
    expect.stringMatching(/^- "c d.*\.txt", 3 bytes: kept as output:1, /u),
    "- e.bin, 4 bytes: not kept, it is too large",
  ]);
});

test("renderWrittenFiles() lists at most 50 files, and nothing for none", () => {
  const files = Array.from({ length: 52 }, (_, index) => ({ path: `f${index}`, bytes: 1, handle: "output:1" }));

  expect(renderWrittenFiles(files).split("\n").at(-1)).toBe("- and 2 more");
  expect(renderWrittenFiles([])).toBe("");
  expect(renderWrittenFiles()).toBe("");
});
