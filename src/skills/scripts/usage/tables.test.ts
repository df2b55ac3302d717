import { expect, test } from "vitest";

import { readDescription, readTables } from "./tables.ts";

test("readTables() reads options with one and with two spellings, with and without values", () => {
  const { options } = readTables(
    [
      "Options:",
      "  -o, --out FILE        Where to write",
      "  -n NAME, --name NAME  Name",
      "  --limit n   How many",
      "  --format <json|csv>: the format",
      "  --level {low,high} - how loud",
      "  * `--quiet`  Say nothing",
      "  --verbose",
      "      Say more",
      "  -h, --help            This help",
    ].join("\n"),
  );

  expect(options).toEqual([
    { flags: ["-o", "--out"], value: { label: "FILE" }, description: "Where to write" },
    { flags: ["-n", "--name"], value: { label: "NAME" }, description: "Name" },
    { flags: ["--limit"], value: { label: "n" }, description: "How many" },
    { flags: ["--format"], value: { label: "json|csv", choices: ["json", "csv"] }, description: "the format" },
    { flags: ["--level"], value: { label: "low,high", choices: ["low", "high"] }, description: "how loud" },
    { flags: ["--quiet"], description: "Say nothing" },
    { flags: ["--verbose"], description: "Say more" },
    { flags: ["-h", "--help"], description: "This help" },
  ]);
});

test("readTables() takes no sentence for an option", () => {
  expect(readTables("  --force is dangerous and should not be used at all").options).toEqual([]);
});

test("readTables() reads arguments and commands under their headings, up to where the table ends", () => {
  const { arguments: rows, commands } = readTables(
    [
      "Arguments:",
      "  input    The file",
      "  output - Where to",
      "Commands:",
      "  add <id>   Add one",
      "             and say so",
      "  list       All",
      "",
      "Other text",
    ].join("\n"),
  );

  expect(rows).toEqual([
    { head: "input", description: "The file" },
    { head: "output", description: "Where to" },
  ]);
  expect(commands).toEqual([
    { head: "add <id>", description: "Add one" },
    { head: "list", description: "All" },
  ]);
});

const descriptions: readonly (readonly [text: string, read: object])[] = [
  ["Where to (default: out.json)", { required: false, default: "out.json" }],
  ["Port, defaults to 8080.", { required: false, default: 8080 }],
  ["Ratio [default 0.5]", { required: false, default: 0.5 }],
  ['Mode (default: "fast mode")', { required: false, default: "fast mode" }],
  ["Cache (default: true)", { required: false, default: true }],
  ["Branch (default: current branch)", { required: false }],
  ["The key (required)", { required: true }],
  ["Required.", { required: true }],
  ["Not required", { required: false }],
  ["Required when --all is not given", { required: false }],
  ["One of: a|b|c", { required: false, choices: ["a", "b", "c"] }],
  ["Format ('json', 'csv' or 'xml')", { required: false, choices: ["json", "csv", "xml"] }],
  ["输出目录（默认：out）", { required: false, default: "out" }],
  ["", { required: false }],
];

test.for(descriptions)("readDescription() understands %s", ([text, read]) => {
  expect(readDescription(text)).toEqual(read);
});
