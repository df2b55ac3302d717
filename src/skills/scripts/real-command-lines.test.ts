import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import type { JsonObject } from "../../core/json.ts";
import { deriveScripts } from "./derive-scripts.ts";
import { toArgv } from "./to-argv.ts";

// Derivation runs nothing. These scripts are ours, and are run here to see that their own parsers take the command lines for what
// was meant: each prints what it got as JSON.
const folder = mkdtempSync(join(tmpdir(), "kitbag-argv-"));
afterAll(() => rmSync(folder, { recursive: true }));

const argparse = `
import argparse, json
p = argparse.ArgumentParser()
p.add_argument("--name")
p.add_argument("-n", type=int)
p.add_argument("--tag", action="append")
p.add_argument("--files", nargs="+")
p.add_argument("--no-cache", dest="cache", action="store_false")
p.add_argument("--color", action=argparse.BooleanOptionalAction, default=True)
p.add_argument("-v", "--verbose", action="count", default=0)
p.add_argument("--log", nargs="?", const="run.log")
p.add_argument("--bool", type=bool, default=True)
p.add_argument("input", nargs="?")
p.add_argument("rest", nargs="*")
print(json.dumps(vars(p.parse_args())))
`;

const subcommands = `
import argparse, json
p = argparse.ArgumentParser()
p.add_argument("--profile", default="default")
sub = p.add_subparsers(dest="cmd", required=True)
users = sub.add_parser("users")
users.add_argument("--team")
inner = users.add_subparsers(dest="what", required=True)
add = inner.add_parser("add")
add.add_argument("--role", choices=["admin", "guest"])
add.add_argument("names", nargs="+")
print(json.dumps(vars(p.parse_args())))
`;

const remainder = `
import argparse, json
p = argparse.ArgumentParser()
p.add_argument("--port", type=int)
p.add_argument("command", nargs=argparse.REMAINDER)
args = p.parse_args()
if args.command and args.command[0] == "--":
    args.command = args.command[1:]
print(json.dumps(vars(args)))
`;

const parseArgs = `
import { parseArgs } from "node:util";
const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: { out: { type: "string", short: "o" }, tag: { type: "string", multiple: true }, json: { type: "boolean" } },
});
const [input] = positionals;
console.log(JSON.stringify({ ...values, ...(input !== undefined && { input }) }));
`;

const shellCase = `#!/bin/bash
TAGS=()
while [ $# -gt 0 ]; do
  case "$1" in
    --out=*) OUT="\${1#*=}"; shift ;;
    --out) OUT="$2"; shift 2 ;;
    --tag) TAGS+=("$2"); shift 2 ;;
    --force) FORCE=true; shift ;;
    --) shift; break ;;
    *) INPUT="$1"; shift ;;
  esac
done
[ $# -gt 0 ] && INPUT="$1"
printf '%s|%s|%s|%s' "$OUT" "\${TAGS[*]}" "$FORCE" "$INPUT"
`;

const shellPlaces = `#!/bin/bash
NAME="\${1:?Usage: places.sh <name> [version] [region] [sku]}"
VERSION="\${2:-}"
REGION="\${3:-}"
SKU="\${4:-Standard}"
printf '%s|%s|%s|%s' "$NAME" "$VERSION" "$REGION" "$SKU"
`;

const getopts = `#!/bin/bash
while getopts "o:v" opt; do case $opt in o) OUT="$OPTARG" ;; v) VERBOSE=1 ;; esac; done
shift $((OPTIND-1))
printf '%s|%s|%s' "$OUT" "$VERBOSE" "$1"
`;

const getoptLong = `
use Getopt::Long;
my @tags;
GetOptions('name|n=s' => \\$name, 'count=i' => \\$count, 'verbose!' => \\$verbose, 'tag=s@' => \\@tags);
my $file = $ARGV[0];
print join('|', $name, $count, defined $verbose ? $verbose : '', join(',', @tags), $file);
`;

const uncalledMain = `
def main(path: str, times: int = 2, tags: list[str] = ()):
    """Repeat."""
    return {"path": path, "times": times, "tags": list(tags)}
`;

/** What goes in comes out as it was. */
const allOfArgparse = {
  name: "-x",
  n: -5,
  tag: ["a", "--b"],
  files: ["f", "g"],
  cache: false,
  color: false,
  verbose: 2,
  log: "run.log",
  bool: false,
  input: "--in",
  rest: ["-r", "s"],
};

const table: readonly { file: string; source: string; input: JsonObject; output: string | JsonObject }[] = [
  {
    file: "all.py",
    source: argparse,
    input: allOfArgparse,
    output: allOfArgparse,
  },
  {
    file: "list-last.py",
    source: argparse,
    input: { files: ["f", "g"], input: "i" },
    output: {
      name: null,
      n: null,
      tag: null,
      files: ["f", "g"],
      cache: true,
      color: true,
      verbose: 0,
      log: null,
      bool: true,
      input: "i",
      rest: [],
    },
  },
  {
    file: "alone-last.py",
    source: argparse,
    input: { log: "run.log", input: "i" },
    output: {
      name: null,
      n: null,
      tag: null,
      files: null,
      cache: true,
      color: true,
      verbose: 0,
      log: "run.log",
      bool: true,
      input: "i",
      rest: [],
    },
  },
  {
    file: "sub.py",
    source: subcommands,
    input: { profile: "p", team: "-t", role: "guest", names: ["ada", "-bob"] },
    output: { profile: "p", cmd: "users", team: "-t", what: "add", role: "guest", names: ["ada", "-bob"] },
  },
  {
    file: "rest.py",
    source: remainder,
    input: { port: 1, command: ["-c", "--port", "2"] },
    output: { port: 1, command: ["-c", "--port", "2"] },
  },
  {
    file: "parse.mjs",
    source: parseArgs,
    input: { out: "-o", tag: ["a", "-b"], json: false, input: "-i" },
    output: { out: "-o", tag: ["a", "-b"], json: false, input: "-i" },
  },
  {
    file: "case.sh",
    source: shellCase,
    input: { out: "-o", tag: ["a", "-b"], force: true, input: "-i" },
    output: "-o|a -b|true|-i",
  },
  { file: "places.sh", source: shellPlaces, input: { name: "n", region: "eu" }, output: "n||eu|Standard" },
  { file: "getopts.sh", source: getopts, input: { out: "-o", verbose: true, arg1: "-x" }, output: "-o|1|-x" },
  {
    file: "long.pl",
    source: getoptLong,
    input: { name: "-n", count: -2, verbose: false, tag: ["a", "-b"], args: ["-f"] },
    output: "-n|-2|0|a,-b|-f",
  },
  {
    file: "uncalled.py",
    source: uncalledMain,
    input: { path: "-p", tags: ["x"] },
    output: { path: "-p", times: 2, tags: ["x"] },
  },
];

test.for(table)("toArgv() is taken by $file for what was meant", async ({ file, source, input, output }, context) => {
  if (file.endsWith(".py")) needProgram(context, "python3");
  const path = `scripts/${file}`;
  const { scripts } = await deriveScripts([{ path, content: source }]);
  const [script] = scripts;
  const tool = script?.tools[0];
  if (script === undefined || tool === undefined) throw new Error(`${file} is not a tool`);
  const { argv, stdin } = toArgv(tool.mapping, input);

  const printed = run(file, source, { command: [...script.interpreter], argv, stdin });

  expect(typeof output === "string" ? printed : JSON.parse(printed)).toEqual(output);
});

interface Start {
  readonly command: readonly string[];
  readonly argv: readonly string[];
  readonly stdin: string | undefined;
}

function run(file: string, source: string, { command, argv, stdin = "" }: Start): string {
  const path = join(folder, file);
  writeFileSync(path, source);
  const [program = "", ...first] = command;
  // The tests' own Node, not whichever comes first on the path.
  const started = program === "node" ? process.execPath : program;
  const { status, stdout, stderr } = spawnSync(started, [...first, path, ...argv], { encoding: "utf8", input: stdin });
  if (status !== 0) throw new Error(`${file} ended with ${status}: ${stderr}`);
  return stdout;
}
