#!/usr/bin/env node
// Make the table of contents of a Markdown file: print it, write it into the file, or check the one that is there.
//
// Usage: toc.mjs <file> [--min-level <n>] [--max-level <n>] [--write] [--check] [--exit-code]
//
//   <file>           the Markdown file
//   --min-level <n>  the largest headings to list, 1 to 6; 2 leaves the title out
//   --max-level <n>  the smallest headings to list, 1 to 6
//   --write          put the table into the file
//   --check          only tell whether the table in the file is up to date
//   --exit-code      with --check: end with exit code 3 if it is not
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { fail, findHeadings, readMarkdown } from "./markdown.mjs";

const start = "<!-- toc -->";
const end = "<!-- /toc -->";

const { values, positionals } = parseArgs({
  options: {
    "min-level": { type: "string", default: "2" },
    "max-level": { type: "string", default: "3" },
    write: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    "exit-code": { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const [file, ...others] = positionals;
const levels = [Number(values["min-level"]), Number(values["max-level"])];
if (file === undefined || others.length > 0) fail("toc: name one file");
if (levels.some((level) => ![1, 2, 3, 4, 5, 6].includes(level)) || levels[0] > levels[1]) {
  fail("toc: levels go from 1 to 6, and --min-level is not above --max-level");
}
if (values.write && values.check) fail("toc: use --write or --check, not both");

const text = readMarkdown(file);
const table = renderTable(findHeadings(text));
const updated = insertTable(text, table);
if (values.write) {
  if (updated !== text) writeFileSync(file, updated);
  print({ file, changed: updated !== text, entries: countEntries() });
} else if (values.check) {
  print({ file, current: updated === text, entries: countEntries() });
  if (values["exit-code"] && updated !== text) process.exitCode = 3;
} else process.stdout.write(`${table}\n`);

function renderTable(headings) {
  const shown = headings.filter(({ level }) => level >= levels[0] && level <= levels[1]);
  const lines = shown.map(({ level, text: title, anchor }) => {
    const escaped = title.replaceAll(/[[\]]/gu, String.raw`\$&`);
    return `${"  ".repeat(level - levels[0])}- [${escaped}](#${encodeURIComponent(anchor)})`;
  });
  return lines.join("\n");
}

function countEntries() {
  return table === "" ? 0 : table.split("\n").length;
}

/** Puts the table between its marks; without marks, behind the first heading. */
function insertTable(content, lines) {
  const from = content.indexOf(start);
  const to = content.indexOf(end, from);
  const block = `${start}\n\n${lines}\n\n${end}`;
  if (from !== -1 && to !== -1) return content.slice(0, from) + block + content.slice(to + end.length);
  const [title] = findHeadings(content);
  const rows = content.split("\n");
  rows.splice(title?.line ?? 0, 0, ...(title === undefined ? [block, ""] : ["", block]));
  return rows.join("\n");
}

function print(answer) {
  process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
}
