#!/usr/bin/env node
// Find values in a JSON file by path.
//
// Usage: query.mjs <file> [--path <path>] [--limit <n>] [--format json|lines]
//
//   <file>           the JSON or JSON Lines file; - reads standard input
//   --path <path>    where the values are, such as users[*].email; see references/paths.md
//   --limit <n>      how many matches to show
//   --format <name>  json: with paths; lines: one value a line
import { parseArgs } from "node:util";

import { fail, print, readJson } from "./json-file.mjs";
import { findValues, parsePath } from "./json-path.mjs";

const { values, positionals } = parseArgs({
  options: {
    path: { type: "string", short: "p", default: "$" },
    limit: { type: "string", short: "n", default: "100" },
    format: { type: "string", default: "json" },
  },
  allowPositionals: true,
});
const [file, ...others] = positionals;
const limit = Number(values.limit);
if (file === undefined || others.length > 0) fail("query: name one file, or - for standard input");
if (!Number.isInteger(limit) || limit < 1) fail(`query: --limit ${values.limit} is not a whole number above 0`);
if (!["json", "lines"].includes(values.format)) fail(`query: --format ${values.format} is neither json nor lines`);

const steps = parsePath(values.path);
const matches = [];
let count = 0;
for (const match of findValues(readJson(file), steps)) {
  count += 1;
  if (matches.length < limit) matches.push(match);
}
if (values.format === "json") print({ count, matches });
else print(matches.map(({ value }) => (typeof value === "string" ? value : JSON.stringify(value))).join("\n"));
