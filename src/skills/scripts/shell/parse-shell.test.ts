import { expect, test } from "vitest";

import { cpuMsSince } from "../../../../test/support/cpu-time.ts";
import { loadParser, ParseLimitReached } from "../syntax/parse.ts";
import { parseShell, unquote, type ShellNode } from "./parse-shell.ts";

const loaded = await loadParser("bash");
if ("missing" in loaded) throw new Error(loaded.missing);
const { parse } = loaded;

// Written as: commands with their words, then braces for what they hold.
const table: readonly { name: string; source: string; read: string }[] = [
  { name: "commands and what separates them", source: "a b; c && d | e &\nf", read: "a b; c; d; e; f" },
  {
    name: "quotes of all kinds as one word",
    source: `echo "a 'b' $(c "d e") \${f:-"g h"}" 'i "j"' k\\ l`,
    read: `echo "a 'b' $(c "d e") \${f:-"g h"}" 'i "j"' k\\ l`,
  },
  { name: "an apostrophe in a message", source: `X="\${1:?Don't do it}"; y`, read: `X="\${1:?Don't do it}"; y` },
  { name: "arrays as one word", source: 'FILES+=("$2" b) c', read: 'FILES+=("$2" b) c' },
  { name: "a line that goes on", source: "a \\\n  b", read: "a b" },
  { name: "functions", source: "f() {\n  a\n}\nfunction g { b; }\nh() (c)", read: "f{a}; g{b}; h{c}" },
  { name: "functions with braces inside", source: "f() { if x; then { a; }; fi; b; }\nc", read: "f{x; a; b}; c" },
  {
    name: "cases, and cases in cases",
    source: 'case "$1" in\n a|-b) x ;;\n *) case $y in z) w ;; esac ;;\nesac\nv',
    read: 'case "$1" (a,-b){x} (*){case $y (z){w}}; v',
  },
  {
    name: "loops",
    source: 'while [ $# -gt 0 ]; do a; done\nfor f in "$@"; do b; done < in',
    read: 'loop[while; [ $# -gt 0 ]]{a}; loop[for f in "$@"]{b}',
  },
  { name: "here-documents as no commands", source: "cat <<'EOF'\nnot a command\nEOF\na", read: "cat; a" },
  { name: "comments as no commands, but not those in words", source: "a # b\nc", read: "a; c" },
];

test.for(table)("parseShell() reads $name", ({ source, read }) => {
  expect(render(parseShell(source, parse).nodes)).toBe(read);
});

test.for(['a "b\nc', "f() {\n a", "case $1 in\n a) b", "if x; then"])(
  "parseShell() tells that %j cannot be parsed as a whole",
  (source) => {
    expect(parseShell(source, parse).hasErrors).toBe(true);
  },
);

test("parseShell() collects comments block by block, and here-documents", () => {
  const { comments, heredocs } = parseShell("#!/bin/bash\n# a\n# b\n\n# c\ncat <<-X\n\tUsage\n\tX\n", parse);

  expect(comments).toEqual([" a\n b", " c"]);
  expect(heredocs).toEqual(["Usage"]);
});

test("parseShell() takes bounded time for hostile text, and says so when it gives up", { timeout: 120_000 }, () => {
  const pieces = [
    '"',
    "'",
    "$(",
    "${",
    "`",
    "case a in ",
    "f() {",
    "<<A\n",
    "\\",
    ";;",
    "(",
    ")",
    "if ",
    "do\n",
    "esac ",
    "a=(",
    "\n",
  ];

  for (const piece of pieces) {
    const started = process.cpuUsage();
    try {
      parseShell(piece.repeat(Math.floor(300_000 / piece.length)), parse);
    } catch (cause) {
      expect(cause).toBeInstanceOf(ParseLimitReached);
    }
    expect(cpuMsSince(started)).toBeLessThan(10_000);
  }
});

test("unquote() takes quotes off and keeps what they protect", () => {
  expect([`"a b"`, "'a'b", "a\\ b", '"\\""', "plain"].map(unquote)).toEqual(["a b", "ab", "a b", '"', "plain"]);
});

function render(nodes: readonly ShellNode[]): string {
  return nodes.map(renderNode).join("; ");
}

function renderNode(node: ShellNode): string {
  switch (node.kind) {
    case "command":
      return node.words.map(({ text }) => text).join(" ");
    case "function":
      return `${node.name}{${render(node.body)}}`;
    case "loop":
      return `loop[${render(node.head)}]{${render(node.body)}}`;
    case "case":
      return `case ${node.subject.text} ${node.arms.map(({ patterns, body }) => `(${patterns.join(",")}){${render(body)}}`).join(" ")}`;
  }
}

test("parseShell() finds the files of redirections, and nothing in texts, tests and here-documents", () => {
  const source = `echo "Backing up > now" # > comment.txt
[[ $a > b ]] && sort < in.txt >> "log.txt" 2> err.log
cat > page.html <<EOF
<link rel="icon"> a > b
EOF
while read -r line; do echo "$line" > /dev/null 2>&1; done < 'third.txt'
(( n > 30 )); awk '$1 > 30' data | tee >(cat) > "$out"; f() { date &> all.log; }
`;

  const { reads, writes } = parseShell(source, parse).redirected;

  expect(reads.toSorted()).toEqual(["in.txt", "third.txt"]);
  expect(writes.toSorted()).toEqual(["all.log", "err.log", "log.txt", "page.html"]);
});
