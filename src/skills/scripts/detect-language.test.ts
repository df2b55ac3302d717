import { expect, test } from "vitest";

import { classifyByName, detectLanguage } from "./detect-language.ts";

const table: readonly (readonly [file: string, text: string, language: string, interpreter: string])[] = [
  ["a.py", "", "python", "python3"],
  ["a.py", "#!/usr/bin/env python3\n", "python", "python3"],
  ["a.py", "#!/usr/bin/python\n", "python", "python3"],
  ["a.py", "#!/usr/bin/env -S uv run --script\n", "python", "uv run --script"],
  ["a.py", "\n#!/usr/bin/env python3\n", "python", "python3"],
  ["a.sh", "#!/bin/sh -e\n", "shell", "sh -e"],
  ["a.sh", "", "shell", "bash"],
  ["a.js", "#!/usr/bin/env node\n", "javascript", "node"],
  ["a.ts", "#!/usr/bin/env bun\n", "typescript", "bun"],
  ["a.ts", "#!/usr/bin/env -S npx tsx\n", "typescript", "npx tsx"],
  ["a.ts", "#!/usr/bin/env -S deno run --allow-net\n", "typescript", "deno run --allow-net"],
  ["a.mts", "", "typescript", "node"],
  ["a.tsx", "", "typescript", "tsx"],
  ["a.R", "", "r", "Rscript"],
  ["a.PS1", "", "powershell", "pwsh -NoProfile -File"],
  ["tool", "#!/usr/bin/env ruby\n", "ruby", "ruby"],
  ["tool", "#!/opt/x/awk -f\n", "other", "awk -f"],
  ["a.swift", "#!/usr/bin/env swift\n", "other", "swift"],
  ["a.py", "#!/bin/bash\necho 1\n", "shell", "bash"],
  ["a.sh", "#!/usr/bin/env python3\nimport sys\n", "python", "python3"],
  ["a.py", '#!/bin/sh\n":" "exec" "python3" "$0"\n', "python", "python3"],
  ["a.sh", "#!/usr/bin/env LANG=C bash\n", "shell", "bash"],
];

test.for(table)("detectLanguage() knows %s with %j as %s", ([file, text, language, interpreter]) => {
  expect(detectLanguage(file, text)).toEqual({ language, interpreter: interpreter.split(" ") });
});

test("detectLanguage() tells code it cannot run from files that are no code", () => {
  expect(["a.swift", "a.bat", "a.go"].map((file) => detectLanguage(file, ""))).toEqual([
    "unsupported",
    "unsupported",
    "unsupported",
  ]);
  expect(
    ["a.txt", "a.md", "README", "a.json", "constructor", "a.constructor", "#!", ""].map((file) =>
      detectLanguage(file, ""),
    ),
  ).toEqual(Array.from({ length: 8 }));
});

test("classifyByName() tells tests and configuration, and nothing else, by their names", () => {
  const kinds = [
    "a.test.ts",
    "a.spec.mjs",
    "b_spec.rb",
    "vite.config.ts",
    "setup.py",
    "test_api.py",
    "run_tests.sh",
    "config.js",
  ].map((file) => classifyByName(file)?.kind);

  expect(kinds).toEqual(["test", "test", "test", "config", "config", undefined, undefined, undefined]);
});
