import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";

import { expect, test, vi } from "vitest";

import { createProject, program, type Project, runKitbag } from "../../../test/run-kitbag.ts";
import { needProgram } from "../../../test/support/need-program.ts";

vi.setConfig({ testTimeout: 60_000 });

test.for([
  ["as the script takes it", ["--", "-"], "one two", "2\n"],
  ["as the value of the file", ["--file", "-"], "one two", "2\n"],
  ["as the value of the parameter", ["--stdin", "-"], "one two three", "3\n"],
  ["not where a file is named", ["notes.txt"], "one two three", "1\n"],
  ["not where it is the place of the output", ["notes.txt", "--out", "-"], "one two three", "1\n"],
  ["not where a text is given", ["--stdin", "one"], "one two three", "1\n"],
] as const)("kitbag call hands on what is piped in: %s", async ([, words, stdin, expected], context) => {
  needProgram(context, "python3");
  const project = createCounter();

  const run = await runKitbag(["call", "--skills", "skills", "words/count", ...words], { project, stdin });

  expect(run, run.stderr).toMatchObject({ code: 0, stdout: expected });
});

test.for([
  ["printf 'one two' | KITBAG", "2\n"],
  ["KITBAG < notes.txt", "1\n"],
  ["KITBAG < /dev/null", "0\n"],
] as const)("kitbag call without arguments hands on what a shell redirects: %s", async ([line, expected], context) => {
  for (const needed of ["python3", "sh"]) needProgram(context, needed);
  const project = createCounter();

  expect(await runInShell(project, line)).toBe(expected);
});

test("kitbag call hands on JSON to a script that takes a list of it, and says what is no JSON", async (context) => {
  needProgram(context, "python3");
  const project = createCounter();

  const run = await runKitbag(["call", "--skills", "skills", "words/total", "--stdin", "-"], {
    project,
    stdin: "[1, 2]",
  });
  const broken = await runKitbag(["call", "--skills", "skills", "words/total", "--stdin", "-"], {
    project,
    stdin: "[1,",
  });

  expect(run, run.stderr).toMatchObject({ code: 0, stdout: "3\n" });
  expect(broken).toMatchObject({ code: 2 });
  expect(broken.stderr).toContain("Cannot use standard input: expected JSON");
});

function createCounter(): Project {
  return createProject({
    "notes.txt": "one",
    "skills/words/SKILL.md": "---\nname: words\ndescription: Counts words\n---\nCount.\n",
    "skills/words/scripts/count.py": `import argparse, sys
parser = argparse.ArgumentParser()
parser.add_argument("file", nargs="?", default="-", help="file, or - for stdin")
parser.add_argument("--out", default="-", help="output file, or - for stdout")
args = parser.parse_args()
text = sys.stdin.read() if args.file == "-" else open(args.file).read()
print(len(text.split()))
`,
    "skills/words/scripts/total.py": `import json, sys
numbers = json.load(sys.stdin)
print(sum(number for number in numbers))
`,
  });
}

async function runInShell({ folder, home }: Project, line: string): Promise<string> {
  const kitbag = [...program, "call", "--skills", "skills", "words/count"].map((word) => `'${word}'`).join(" ");
  const env = { PATH: process.env["PATH"], HOME: dirname(folder), KITBAG_HOME: home };
  const { stdout } = await promisify(execFile)("sh", ["-c", line.replace("KITBAG", kitbag)], { cwd: folder, env });
  return stdout;
}
