import { afterAll, beforeAll, expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { openTestSandbox, runScript, type TestScript } from "../../../test/support/run-script.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox();
});
afterAll(() => sandbox.close());

interface Language {
  readonly name: string;
  /** The program it needs, if it is not part of every machine. */
  readonly program?: string;
  /** Prints its arguments in brackets, then standard input, then ends with the exit code that is the first argument. */
  readonly files: TestScript["files"];
  readonly interpreter?: readonly string[];
}

const languages: readonly Language[] = [
  {
    name: "Python",
    program: "/usr/bin/python3",
    files: {
      "a.py": `import sys
print("".join(f"[{a}]" for a in sys.argv[1:]) + sys.stdin.read(), end="")
sys.exit(int(sys.argv[1]))`,
    },
  },
  {
    name: "JavaScript as CommonJS",
    files: {
      "a.cjs": `const argv = process.argv.slice(2);
process.stdout.write(argv.map((a) => "[" + a + "]").join("") + require("node:fs").readFileSync(0, "utf8"));
process.exitCode = Number(argv[0]);`,
    },
  },
  {
    name: "JavaScript as a module",
    files: {
      "a.mjs": `import { readFileSync } from "node:fs";
const argv = process.argv.slice(2);
process.stdout.write(argv.map((a) => "[" + a + "]").join("") + readFileSync("/dev/stdin", "utf8"));
process.exitCode = Number(argv[0]);`,
    },
  },
  {
    name: "TypeScript",
    files: {
      "a.ts": `import { readFileSync } from "node:fs";
const argv: readonly string[] = process.argv.slice(2);
process.stdout.write(argv.map((a: string) => "[" + a + "]").join("") + readFileSync(0, "utf8"));
process.exitCode = Number(argv[0]);`,
    },
  },
  {
    name: "Bash",
    files: { "a.sh": `for a in "$@"; do printf '[%s]' "$a"; done; cat; exit "$1"` },
  },
  {
    name: "sh by its first line",
    files: { tool: `#!/bin/sh\nfor a in "$@"; do printf '[%s]' "$a"; done; cat; exit "$1"` },
  },
  {
    name: "Ruby",
    program: "ruby",
    files: { "a.rb": `print ARGV.map { |a| "[#{a}]" }.join, $stdin.read\nexit ARGV[0].to_i` },
  },
  {
    name: "Perl",
    program: "perl",
    files: { "a.pl": `print "[$_]" for @ARGV; local $/; print <STDIN> // ""; exit $ARGV[0];` },
  },
  {
    name: "PHP",
    program: "php",
    files: {
      "a.php": `<?php foreach (array_slice($argv, 1) as $a) echo "[$a]"; echo stream_get_contents(STDIN); exit((int)$argv[1]);`,
    },
  },
  {
    name: "Lua",
    program: "lua",
    files: {
      "a.lua": `for i = 1, #arg do io.write("[" .. arg[i] .. "]") end io.write(io.read("a")) os.exit(tonumber(arg[1]))`,
    },
  },
  {
    name: "R",
    program: "Rscript",
    files: {
      "a.R": `args <- commandArgs(trailingOnly = TRUE)
cat(paste0("[", args, "]"), sep = "")
cat(paste(readLines(file("stdin"), warn = FALSE), collapse = "\\n"))
quit(status = as.integer(args[1]))`,
    },
  },
  {
    name: "an interpreter of the manifest",
    files: {
      "a.awk": `BEGIN { for (i = 1; i < ARGC; i++) printf "[%s]", ARGV[i]; while ((getline line < "-") > 0) printf "%s", line; exit ARGV[1] }`,
    },
    interpreter: ["awk -f"],
  },
];

test.for(languages)("scriptRuntime() runs $name with arguments and standard input", async (language, context) => {
  if (language.program !== undefined) needProgram(context, language.program);
  const { files, interpreter = [] } = language;
  // R and awk take words that look like flags for their own.
  const words = ["R", "an interpreter of the manifest"].includes(language.name) ? ["0", "a b", "$(id)"] : odd;

  const { outcome } = await runScript(sandbox, { files, interpreter, command: { argv: words, stdin: "in" } });

  expect(outcome).toEqual({ status: "ok", output: `${words.map((word) => `[${word}]`).join("")}in` });
});

test.for(languages)("scriptRuntime() tells the exit code of $name, and what it printed", async (language, context) => {
  if (language.program !== undefined) needProgram(context, language.program);
  const { files, interpreter = [] } = language;

  const { outcome } = await runScript(sandbox, { files, interpreter, command: { argv: ["3"] } });

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "script-failed", details: { code: 3, stderr: "", stdout: "[3]" } },
  });
});

test("scriptRuntime() runs a program of the skill's own", async (context) => {
  needProgram(context, "/usr/bin/true");
  const { readFileSync } = await import("node:fs");

  const { outcome } = await runScript(sandbox, {
    files: { echo: readFileSync("/usr/bin/echo") },
    command: { argv: ["own", "program"] },
  });

  expect(outcome).toEqual({ status: "ok", output: "own program" });
});

/** Words that a shell, an option parser or a careless join would change. */
const odd = [
  "0",
  "--flag",
  "-x",
  "",
  "a b",
  "$(id)",
  "`id`",
  "line\nbreak",
  `"quo'tes"`,
  "üñí 🎒",
  "*",
  "\\",
  "--",
  "é\u0301",
];
