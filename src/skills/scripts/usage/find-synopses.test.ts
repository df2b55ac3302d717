import { expect, test } from "vitest";

import { cpuMsSince } from "../../../../test/support/cpu-time.ts";
import { findSynopses } from "./read-usage.ts";

const table: readonly { name: string; text: string; usage: readonly string[]; calls?: readonly string[] }[] = [
  { name: "a line with the name of the script", text: "Usage: fill.py <a> [b]", usage: ["<a> [b]"] },
  { name: "an interpreter and a folder before the name", text: "usage: python3 scripts/fill.py <a>", usage: ["<a>"] },
  { name: "uv, npx and options before the name", text: "Usage: uv run --with x scripts/fill.py <a>", usage: ["<a>"] },
  {
    name: "the shell's name for the script",
    text: 'Usage: $0 <a>\nUsage: $(basename "$0") <b>\nUsage: ${0##*/} <c>',
    usage: ["<a>", "<b>", "<c>"],
  },
  {
    name: "the names of other languages for it",
    text: "Usage: {sys.argv[0]} <a>\nusage: %(prog)s <b>\nUsage: ${path.basename(process.argv[1])} <c>\nUsage: #{$0} <d>\nUsage: %s <e>",
    usage: ["<a>", "<b>", "<c>", "<d>", "<e>"],
  },
  { name: "some other name for it", text: "Usage: mytool <a>", usage: ["<a>"] },
  { name: "no name at all", text: "Usage: <a> [b]", usage: ["<a> [b]"] },
  {
    name: "lines below the mark",
    text: "Usage:\n    python fill.py in.pdf out.pdf\n    python fill.py --list in.pdf\n\nExamples:\n    fill.py x",
    usage: ["in.pdf out.pdf", "--list in.pdf"],
    calls: ["x"],
  },
  { name: "a heading", text: "## Usage\n\n```bash\nfill.py <a>\n```\n", usage: ["<a>"] },
  {
    name: "a line that goes on below",
    text: "Usage: fill.py <a>\n       [--b B]\n       [--c]",
    usage: ["<a> [--b B] [--c]"],
  },
  { name: "a line that a backslash continues", text: "Usage: fill.py <a> \\\n  --b B", usage: ["<a> --b B"] },
  { name: "a table of options after it", text: "Usage: fill.py <a>\n  -o, --out FILE   Where to", usage: ["<a>"] },
  { name: "Chinese", text: "用法：python fill.py <文件>", usage: ["<文件>"] },
  {
    name: "Japanese, Korean, German, Spanish",
    text: "使い方: fill.py <a>\n사용법: fill.py <b>\nAufruf: fill.py <c>\nUso: fill.py <d>",
    usage: ["<a>", "<b>", "<c>", "<d>"],
  },
  { name: "JSON around it", text: '{"error": "Usage: fill.py <dir>"}', usage: ['<dir>"}'] },
  {
    name: "a call without a mark as an example",
    text: "First run python scripts/fill.py a b\n  python scripts/fill.py a b",
    usage: [],
    calls: ["a b"],
  },
  { name: "an example after a pipe", text: "echo '{}' | python fill.py --x", usage: [], calls: ["--x"] },
  { name: "usage examples as examples", text: "Usage examples:\n  fill.py a", usage: [], calls: ["a"] },
  { name: "a usage line without arguments", text: "Usage: ./fill.py", usage: [""] },
  { name: "prose about usage as nothing", text: "The usage of memory is high.", usage: [] },
];

test.for(table)("findSynopses() finds $name", ({ text, usage, calls }) => {
  const found = findSynopses(text, "fill.py");

  expect(found.usage).toEqual(usage);
  if (calls !== undefined) expect(found.calls).toEqual(calls);
});

test("findSynopses() takes bounded time for hostile texts", () => {
  const started = process.cpuUsage();

  for (const piece of ["Usage:", "\n", "Usage: \\\n", "${name", "python ", "$(basename ", "|", "{".repeat(50)]) {
    findSynopses(piece.repeat(Math.floor(400_000 / piece.length)), "fill.py");
  }

  expect(cpuMsSince(started)).toBeLessThan(4000);
});
