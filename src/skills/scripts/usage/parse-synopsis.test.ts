import { expect, test } from "vitest";

import { cpuMsSince } from "../../../../test/support/cpu-time.ts";
import { parseSynopsis } from "./parse-synopsis.ts";
import type { Synopsis, UsageItem } from "./synopsis.ts";

// Written as: `?` optional, `'` a bare word, `…` repeated, `{a,b}` choices, `=` joined.
const table: readonly (readonly [line: string, read: string])[] = [
  ["<query> [limit]", "query ?limit"],
  ["<id> [profile] [--no-search]  Add a movie", "id ?profile ?--no-search // Add a movie"],
  ['search "query" [max]', "'search query ?max"],
  ["<number|email>", "number|email"],
  ["[--limit N]", "?--limit:N"],
  ["--from DATE --to DATE", "--from:DATE --to:DATE"],
  ["{start|stop|status}", "{start,stop,status}"],
  ["{start,stop}", "{start,stop}"],
  ["start|stop", "'{start,stop}"],
  ["[-o|--output FILE] <input> [more ...]", "?-o/--output:FILE input ?more…"],
  ["[-o, --output FILE]", "?-o/--output:FILE"],
  ["-o/--output FILE", "-o/--output:FILE"],
  ["--format json|csv|yaml <file>", "--format:{json,csv,yaml} file"],
  ["--out=<dir> [--level=N]", "--out=:dir ?--level=:N"],
  ["[--color[=WHEN]]", "?--color:WHEN?"],
  ["[options] <file>...", "file…"],
  ["[OPTIONS] FILE", "FILE"],
  ["-- <command...>", "command… --"],
  ["input.pdf output.pdf", "'input.pdf 'output.pdf"],
  ["[input pdf] [output directory]", "?input pdf ?output directory"],
  ["<file> | --all", "?file ?--all"],
  ["(--id ID | --name NAME)", "?--id:ID ?--name:NAME"],
  ["[--tag TAG]...", "?--tag:TAG…"],
  ["-v input.txt", "-v 'input.txt"],
  ["--verbose <input>", "--verbose:input"],
  ["KEY=VALUE [KEY=VALUE ...]", "KEY=VALUE…"],
  ['--server "npm run dev" --port 3000 -- python test.py', "--server:npm run dev --port:3000 'python 'test.py --"],
  ["<a> <b>   # the rest is a comment", "a b // the rest is a comment"],
  ["<a> < input.json", "a"],
  ["", ""],
  ["[[[[", ""],
  ["]]]] <a>", "a"],
];

test.for(table)("parseSynopsis() reads %s", ([line, read]) => {
  expect(render(parseSynopsis(line))).toBe(read);
});

test("parseSynopsis() believes code about which flags have values", () => {
  const takesValue = (flag: string): boolean => flag === "--quiet";

  expect(render(parseSynopsis("--quiet word --level word", takesValue))).toBe("--quiet:word --level 'word");
});

test("parseSynopsis() takes linear time for hostile lines", () => {
  const started = process.cpuUsage();

  for (const piece of ["[", "<", "--a|", "...", "{a,", '"', "- ", "  A"]) parseSynopsis(piece.repeat(20_000));

  expect(cpuMsSince(started)).toBeLessThan(2000);
});

function render({ items, description, separator }: Synopsis): string {
  return [
    ...items.map(renderItem),
    ...(separator ? ["--"] : []),
    ...(description === undefined ? [] : [`// ${description}`]),
  ].join(" ");
}

function renderItem(item: UsageItem): string {
  const many = item.many ? "…" : "";
  const needed = item.required ? "" : "?";
  if (item.kind === "positional")
    return `${needed}${item.bare ? "'" : ""}${item.choices ? `{${item.choices.join(",")}}` : item.label}${many}`;
  const { value } = item;
  const shown =
    value === undefined
      ? ""
      : `:${value.choices ? `{${value.choices.join(",")}}` : value.label}${value.optional ? "?" : ""}`;
  return `${needed}${item.flags.join("/")}${item.joined ? "=" : ""}${shown}${many}`;
}
