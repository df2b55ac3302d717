#!/usr/bin/env -S npx tsx
/**
 * Check that every entry of a JSON list has the fields it needs.
 *
 * Usage: validate.ts --input <file> --required <a,b,c> [--report <file>]
 */
import { readFileSync, writeFileSync } from "node:fs";

interface Options {
  input?: string;
  required: string[];
  report?: string;
}

function readOptions(argv: string[]): Options {
  const options: Options = { required: [] };
  for (let index = 0; index < argv.length; index++) {
    const arg = argv[index];
    if (arg === "--input") options.input = argv[++index];
    else if (arg === "--required") options.required = (argv[++index] ?? "").split(",");
    else if (arg === "--report") options.report = argv[++index];
    else throw new Error(`Unknown option ${arg}`);
  }
  return options;
}

const options = readOptions(process.argv.slice(2));
if (options.input === undefined) throw new Error("--input is missing");
const entries = JSON.parse(readFileSync(options.input, "utf8")) as Record<string, unknown>[];
const problems = entries.flatMap((entry, index) =>
  options.required.filter((field) => !(field in entry)).map((field) => ({ index, field })),
);
const report = { entries: entries.length, problems };
if (options.report !== undefined) writeFileSync(options.report, `${JSON.stringify(report, null, 2)}\n`);
console.log(JSON.stringify(report));
