import { expect, test } from "vitest";

import { deriveScripts } from "../derive-scripts.ts";

/** Whether a shell script gets a parameter for standard input. */
async function takesInput(lines: string): Promise<boolean> {
  const { scripts } = await deriveScripts([{ path: "scripts/a.sh", content: `#!/bin/bash\n${lines}\n` }]);
  const { properties = {} } = scripts[0]?.tools[0]?.inputSchema ?? {};
  return Object.hasOwn(properties as object, "stdin");
}

test.for([
  ["a filter", "sort | uniq -c"],
  ["a filter with flags that have values", 'fold -s -w "$1"'],
  ["a filter with a pattern", "grep -E 'ERROR|FATAL' | tail -n 3"],
  ["a filter whose pattern is a flag", "grep -e a -e b"],
  ["awk that begins with something", "awk 'BEGIN { n = 1 } { print n, $0 }'"],
  ["a program in its own words", "awk -F, -v n=1 '{ print $n }'"],
  ["arguments of its own before the filter", "jq -r --arg key \"$1\" '.[$key]'"],
  ["cat in a text", 'text="$(cat)"; echo "$text"'],
  ["a file or standard input", 'awk 1 "${1:-/dev/stdin}"'],
  ["a file that may be a dash", 'sort "${1:--}"'],
  ["all arguments", 'sed s/a/b/ "$@"'],
  ["a loop", 'while IFS= read -r line; do echo "$line"; done'],
  ["a list of lines", "mapfile -t lines; echo ${#lines[@]}"],
  ["Python in a line", "python3 -c 'import sys; print(len(sys.stdin.read()))'"],
  ["Perl in a line", "perl -pe 's/a/b/'"],
  ["Node in a line", "node -e 'process.stdin.pipe(process.stdout)'"],
  ["a variable in front", "LC_ALL=C sort -u"],
  ["a condition", "if grep -q x; then echo yes; fi"],
  ["a function", "count() { wc -l; }\ncount"],
  ["a usage line that says so", '# Usage: a.sh <file>   (- reads standard input)\ncat "$1"'],
] as const)("a shell script with %s takes standard input", async ([, lines]) => {
  expect(await takesInput(lines)).toBe(true);
});

test.for([
  ["files", 'sort "$1" | uniq -c; grep a "$1"; sed -n 1p "$1"; awk 1 "$1"; head -n 2 "$1"; cut -d, -f1 "$1"'],
  ["what is fed to it", 'sort < "$1"; wc -l <<< "$1"; cat <<EOF\n$1\nEOF'],
  ["a calculation", `awk -v k="$1" 'BEGIN { printf "%d\\n", (k/1024) + 0.5 }'`],
  ["a pipe", 'echo "$1" | sort | uniq'],
  [
    "a loop that is fed",
    'while read -r a; do echo "$a"; done < "$1"\nfind . | while IFS= read -r b; do cat "$b"; done',
  ],
  ["a search in folders", 'grep -rn TODO "$1"; grep -r x'],
  ["a program that needs no input", "jq -n '{a: 1}'; date; ls"],
  ["checks of sums", "sha256sum -c sums.txt"],
  ["a program in a line that reads none", "python3 -c 'print(1)'; node -e '1'"],
  ["a question to a person", 'read -r -p "Sure? " answer; [ "$1" = a ]'],
  ["a function that is fed", 'count() { wc -l; }\necho "$1" | count'],
  ["a function that nothing calls", 'count() { wc -l; }\necho "$1"'],
  ["a dash that is none", "cd -; echo - a"],
] as const)("a shell script with %s takes no standard input", async ([, lines]) => {
  expect(await takesInput(lines)).toBe(false);
});

test("the programs of a shell script are also found in texts and in functions", async () => {
  const content = `#!/bin/bash\nmain() {\n  out="$(jq -r .a "$1")"\n  echo "\${out:-$(python3 -c 1)}" | ffmpeg -i -\n}\nmain "$1"\n`;
  const { scripts } = await deriveScripts([{ path: "scripts/a.sh", content }]);

  expect(scripts[0]?.access.programs.toSorted()).toEqual(["ffmpeg", "jq", "python3"]);
});
