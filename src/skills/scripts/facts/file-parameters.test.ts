import { expect, test } from "vitest";

import { needProgram } from "../../../../test/support/need-program.ts";
import { deriveScripts } from "../derive-scripts.ts";

/** Finds which parameters of a script name files. */
async function filesOf(path: string, text: string): Promise<unknown> {
  const { scripts } = await deriveScripts([{ path: `scripts/${path}`, content: text }]);
  return scripts[0]?.tools[0]?.files;
}

const argparse = (...lines: readonly string[]): string =>
  ["import argparse, pathlib", "p = argparse.ArgumentParser()", ...lines, "args = p.parse_args()", "print(args)"].join(
    "\n",
  );

test.for<[what: string, lines: readonly string[], files: unknown]>([
  [
    "FileType",
    ['p.add_argument("a", type=argparse.FileType("r"))', 'p.add_argument("b", type=argparse.FileType("w"))'],
    { a: "read", b: "write" },
  ],
  ["FileType without a mode", ['p.add_argument("a", type=argparse.FileType())'], { a: "read" }],
  ["pathlib.Path", ['p.add_argument("--where", type=pathlib.Path)'], { where: "read" }],
  ["lists of paths", ['p.add_argument("files", nargs="+")'], { files: "read" }],
  ["a metavar", ['p.add_argument("--rules", metavar="FILE")'], { rules: "read" }],
  [
    "names",
    [
      'p.add_argument("--input-file")',
      'p.add_argument("-o", "--output")',
      'p.add_argument("--save-to")',
      'p.add_argument("--report")',
      'p.add_argument("--config")',
      'p.add_argument("--cache-dir")',
    ],
    { input_file: "read", output: "write", save_to: "write", report: "write", config: "read", cache_dir: "write" },
  ],
  [
    "help",
    [
      'p.add_argument("--peaks", help="Peaks BED file")',
      'p.add_argument("--theme", help="Path to a theme")',
      'p.add_argument("--plot", help="Where to save: path of the plot")',
    ],
    { peaks: "read", theme: "read", plot: "write" },
  ],
  ["a default that is a path", ['p.add_argument("--data", default="./data.csv")'], { data: "read" }],
  [
    "code that reads",
    ['p.add_argument("--words")', "def main(args): return open(args.words).read()"],
    { words: "read" },
  ],
  [
    "code that writes",
    ['p.add_argument("--words")', 'def main(args):\n  with open(args.words, "w") as f: f.write("x")'],
    { words: "write" },
  ],
  [
    "code that reads and writes",
    [
      'p.add_argument("file")',
      "def main(args):\n  text = Path(args.file).read_text()\n  Path(args.file).write_text(text)",
    ],
    { file: "write" },
  ],
  [
    "another name in code",
    ['p.add_argument("--words")', 'def main(args):\n  target = Path(args.words)\n  target.write_text("x")'],
    { words: "write" },
  ],
])("a parameter of argparse names a file by $0", async ([, lines, files], context) => {
  needProgram(context, "python3");

  expect(await filesOf("tool.py", argparse(...lines))).toEqual(files);
});

test.for<[what: string, line: string]>([
  ["an address", 'p.add_argument("--input", help="URL of the page")'],
  ["a format", 'p.add_argument("--output", help="Output format")'],
  ["choices", 'p.add_argument("--output", choices=["json", "text"])'],
  ["a number", 'p.add_argument("--file", type=int)'],
  ["a switch", 'p.add_argument("--files", action="store_true")'],
  ["a table", 'p.add_argument("--source", help="Name of the table")'],
  ["a key in a document", 'p.add_argument("--json-path")'],
  ["a path of an address", 'p.add_argument("--path", help="The API path")'],
  ["an id", 'p.add_argument("--file-id")'],
  ["a type of file", 'p.add_argument("--file-type")'],
  ["a language", 'p.add_argument("--target", help="Target language")'],
  ["a repository", 'p.add_argument("--repo", default="someone/something")'],
  ["file extensions", 'p.add_argument("--kinds", help="File extensions to convert")'],
  ["a pattern", 'p.add_argument("--output", help="Pattern of the names")'],
  ["a text", 'p.add_argument("--text", help="What to say")'],
  [
    "a name that other code opens",
    'p.add_argument("--name")\ndef other(name): return open(name)\ndef main(args): print(args.name)',
  ],
])("a parameter of argparse that is $0 names no file", async ([, line], context) => {
  needProgram(context, "python3");

  expect(await filesOf("tool.py", argparse(line))).toBeUndefined();
});

const click = [
  "import click",
  "@click.command()",
  '@click.argument("source", type=click.Path(exists=True))',
  '@click.argument("sheet", type=click.File("w"))',
  '@click.option("--place", type=click.Path(writable=True))',
  '@click.option("--label")',
  "def main(source, sheet, place, label): pass",
  "main()",
].join("\n");
const typer = [
  "import typer",
  "from pathlib import Path",
  "from typing import List",
  'def main(documents: List[Path], label: str, out: Path = typer.Option(Path("x.md"))): pass',
  "typer.run(main)",
].join("\n");
const positions =
  'import sys\nfrom pypdf import PdfReader\nprint(len(PdfReader(sys.argv[1]).pages))\nopen(sys.argv[2], "w")';

test.for<[path: string, text: string, files: unknown]>([
  [
    "store.py",
    'import argparse\nap = argparse.ArgumentParser()\nap.add_argument("csvfile")\nap.add_argument("--words")\na = ap.parse_args()\nprint(open(a.csvfile).read())\nopen(a.words, "w").write(data.csvfile)',
    { csvfile: "read", words: "write" },
  ],
  [
    "store.mjs",
    'import { parseArgs } from "node:util";\nimport fs from "node:fs";\nconst { values: cli } = parseArgs({ options: { page: { type: "string" }, tone: { type: "string" } } });\nfs.writeFileSync(cli.page, cli.tone);',
    { page: "write" },
  ],
  ["click.py", click, { source: "read", sheet: "write", place: "write" }],
  ["typer.py", typer, { documents: "read", out: "write" }],
  ["places.py", positions, { arg1: "read", arg2: "write" }],
  [
    "usage.py",
    '"""Usage: usage.py <form.pdf> <field_values.json> <out.pdf> <title>"""\nimport sys\nprint(sys.argv[1:])',
    { form: "read", field_values: "read", out: "write" },
  ],
  [
    "main.py",
    'def main(input_path: str, rows: int, output_path: str = "x"):\n    """Converts."""\n',
    { input_path: "read", output_path: "write" },
  ],
  [
    "args.mjs",
    'import { parseArgs } from "node:util";\nimport fs from "node:fs";\nconst { values } = parseArgs({ options: { page: { type: "string" }, data: { type: "string" }, all: { type: "boolean" } } });\nfs.writeFileSync(values.page, fs.readFileSync(values.data));',
    { page: "write", data: "read" },
  ],
  [
    "argv.mjs",
    'import { readFileSync } from "node:fs";\nconst [from, title] = process.argv.slice(2);\nif (!from) process.exit(1);\nconsole.log(readFileSync(from, "utf8"), title);',
    { from: "read" },
  ],
  [
    "commander.mjs",
    'import { program } from "commander";\nprogram.option("-r, --rules <file>", "The rules").option("-t, --tone <word>", "Tone").argument("<docs...>", "Markdown files").parse();',
    { rules: "read", docs: "read" },
  ],
  [
    "copy.sh",
    '#!/bin/bash\n# Usage: copy.sh <from> <where> <label>\n[ -f "$1" ] || exit 1\nsort "$1" > "$2"\necho "$3"',
    { from: "read", where: "write" },
  ],
  [
    "flags.sh",
    '#!/bin/bash\nwhile [ $# -gt 0 ]; do case "$1" in\n--words) WORDS="$2"; shift 2;;\n--tone) TONE="$2"; shift 2;;\n--page) PAGE="$2"; shift 2;;\nesac; done\ngrep -c a "$WORDS"\nwc -l < "$WORDS"\necho "$TONE" > "$PAGE"',
    { words: "read", page: "write" },
  ],
  [
    "options.rb",
    'require "optparse"\no = {}\nOptionParser.new do |opts|\n  opts.on("--rules FILE", "The rules") { |v| o[:rules] = v }\n  opts.on("--page PAGE", "The page") { |v| o[:page] = v }\n  opts.on("--tone TONE", "Tone") { |v| o[:tone] = v }\nend.parse!\nFile.write(options[:page], "x")',
    { rules: "read", page: "write" },
  ],
  ["argv.rb", "# Usage: argv.rb <words> <tone>\nputs File.read(ARGV[0])\nputs ARGV[1]", { words: "read" }],
])("the parameters of %s that name files are found", async ([path, text, files], context) => {
  if (path.endsWith(".py")) needProgram(context, "python3");

  expect(await filesOf(path, text)).toEqual(files);
});

const folder = (...lines: readonly string[]): string =>
  ["import os, sys, shutil, glob", "from pathlib import Path", "# Usage: a.py <folder>", ...lines].join("\n");

test.for<[what: string, path: string, text: string]>([
  [
    "a loop over Path",
    "a.py",
    folder("f = Path(sys.argv[1])", "for p in sorted(f.iterdir()): p.rename(p.with_name('x'))"),
  ],
  ["a path in it", "a.py", folder("f = Path(sys.argv[1])", 't = f / "titles"', "t.mkdir()")],
  ["a path in a path in it", "a.py", folder("f = Path(sys.argv[1])", 't = f / "t"', '(t / "a.txt").write_text("")')],
  [
    "a file beside one in it",
    "a.py",
    folder("f = Path(sys.argv[1])", "for p in f.glob('*'):", " q = p.with_suffix('.x')", " q.write_text('')"),
  ],
  ["join and open", "a.py", folder('open(os.path.join(sys.argv[1], "a.txt"), "w").write("")')],
  ["os.walk", "a.py", folder("for root, _, names in os.walk(sys.argv[1]):", ' os.remove(os.path.join(root, "a"))')],
  ["glob", "a.py", folder("for p in glob.glob(os.path.join(sys.argv[1], '*.csv')):", ' open(p, "w").write("")')],
  [
    "a move out of it",
    "a.py",
    folder("for name in os.listdir(sys.argv[1]):", ' shutil.move(os.path.join(sys.argv[1], name), "/tmp")'),
  ],
  [
    "a function",
    "a.py",
    folder("def run(folder):", " for p in folder.glob('*'): p.unlink()", "run(Path(sys.argv[1]))"),
  ],
  [
    "readdir",
    "a.js",
    '// Usage: a.js <folder>\nconst fs = require("fs");\nfor (const n of fs.readdirSync(process.argv[2])) fs.renameSync(join(process.argv[2], n), n);',
  ],
  [
    "a destructured argument",
    "a.js",
    '// Usage: a.js <folder>\nfunction main([folder]) { const file = join(folder, "a"); writeFileSync(file, ""); }\nmain(process.argv.slice(2));',
  ],
  [
    "a shell loop",
    "a.sh",
    '#!/bin/sh\n# Usage: a.sh <folder>\nDIR="${1:?}"\nfor f in "$DIR"/*.md; do echo x >> "$f"; done',
  ],
  [
    "a shell loop with sed",
    "a.sh",
    '#!/bin/sh\n# Usage: a.sh <folder>\nfor f in "$1"/*.md; do sed -i "s/a/b/" "$f"; done',
  ],
  ["find", "a.sh", '#!/bin/sh\n# Usage: a.sh <folder>\nfind "$1" -name "*.md" | while read -r f; do rm "$f"; done'],
  [
    "mkdir beside a function",
    "a.sh",
    '#!/bin/bash\n# Usage: a.sh <folder>\nusage() {\n  echo "$1"\n}\ndrop="$1"\nmkdir -p "$drop/new"',
  ],
  [
    "Ruby",
    "a.rb",
    '# Usage: a.rb <folder>\ndir = ARGV[0]\nDir.glob(File.join(dir, "*")).each do |path|\n  File.write(path, "")\nend',
  ],
  ["Perl", "a.pl", "# Usage: a.pl <folder>...\nfor my $f (@ARGV) { open my $out, '>', $f or die; }"],
])("a folder is written by %s", async ([, path, text], context) => {
  if (path.endsWith(".py")) needProgram(context, "python3");

  expect(await filesOf(path, text)).toEqual({ folder: "write" });
});

test.for<[what: string, path: string, text: string]>([
  ["lists it", "a.py", folder("for p in Path(sys.argv[1]).iterdir(): print(p.name.replace('a', 'b'))")],
  [
    "writes elsewhere",
    "a.py",
    folder(
      "f = Path(sys.argv[1])",
      "for p in f.glob('*'):",
      ' t = Path("out") / p.name',
      " t.write_text(p.read_text())",
    ),
  ],
  [
    "writes what it has read",
    "a.py",
    folder("f = Path(sys.argv[1])", "text = f.read_text()", 'open("x", "w").write(text)'),
  ],
  ["reads in a mode", "a.py", folder('open(os.path.join(sys.argv[1], "a.txt"), "rb").read()')],
  [
    "copies from it",
    "a.sh",
    '#!/bin/sh\n# Usage: a.sh <folder>\nfor f in "$1"/*; do cp "$f" /tmp/; cat "$f" > out.txt; done',
  ],
  ["writes beside it", "a.sh", '#!/bin/sh\n# Usage: a.sh <folder>\ntar -cf "${1%/}.tar" "$1"; ls "$1"'],
])("a folder is only read by a script that %s", async ([, path, text], context) => {
  if (path.endsWith(".py")) needProgram(context, "python3");

  expect(await filesOf(path, text)).toEqual({ folder: "read" });
});

test("files are searched for in time that grows with the text", async () => {
  const long = `#!/bin/bash\n# Usage: long.sh <file>\n${"open(".repeat(20_000)}\n${'cat "$'.repeat(20_000)}\n${"a = ".repeat(20_000)}`;

  expect(await filesOf("long.sh", long)).toEqual({ file: "read" });
  expect(await filesOf("long.rb", long)).toEqual({ file: "read" });
});
