#!/usr/bin/env node
// Compare two JSON files, value by value.
//
// Usage: diff.mjs <before> <after> [--ignore <path>]... [--limit <n>] [--exit-code]
//
//   <before>         the old JSON file
//   <after>          the new JSON file
//   --ignore <path>  a key, or a path without indexes, that does not count; may be given again
//   --limit <n>      how many changes to show
//   --exit-code      end with exit code 3 if they differ
import { isDeepStrictEqual, parseArgs } from "node:util";

import { fail, joinPath, print, readJson } from "./json-file.mjs";

const { values, positionals } = parseArgs({
  options: {
    ignore: { type: "string", short: "i", multiple: true, default: [] },
    limit: { type: "string", short: "n", default: "200" },
    "exit-code": { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const [before, after, ...others] = positionals;
const limit = Number(values.limit);
if (before === undefined || after === undefined || others.length > 0) fail("diff: name two files");
if (!Number.isInteger(limit) || limit < 1) fail(`diff: --limit ${values.limit} is not a whole number above 0`);

const ignored = new Set(values.ignore);
const changes = [...compare(readJson(before), readJson(after), "")];
print({ equal: changes.length === 0, count: changes.length, changes: changes.slice(0, limit) });
if (values["exit-code"] && changes.length > 0) process.exitCode = 3;

function* compare(left, right, path) {
  if (isDeepStrictEqual(left, right)) return;
  if (!isContainer(left) || !isContainer(right) || Array.isArray(left) !== Array.isArray(right)) {
    yield { path: path || "$", kind: "changed", before: left, after: right };
    return;
  }
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const inner = joinPath(path, Array.isArray(left) ? Number(key) : key);
    if (isIgnored(key, inner)) continue;
    if (!Object.hasOwn(right, key)) yield { path: inner, kind: "removed", before: left[key] };
    else if (Object.hasOwn(left, key)) yield* compare(left[key], right[key], inner);
    else yield { path: inner, kind: "added", after: right[key] };
  }
}

function isContainer(value) {
  return typeof value === "object" && value !== null;
}

function isIgnored(key, path) {
  return ignored.has(key) || ignored.has(path) || ignored.has(path.replaceAll(/\[\d+\]/gu, ""));
}
