#!/usr/bin/env node
// Prints one value of a JSON file.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    file: { type: "string", short: "f" },
    path: { type: "string", short: "p" },
    raw: { type: "boolean", default: false },
  },
});
if (!values.file || !values.path) {
  console.error("Usage: pick.mjs --file <file> --path <a.b.0> [--raw]");
  process.exit(2);
}
let value = JSON.parse(readFileSync(values.file, "utf8"));
for (const key of values.path.split(".")) value = value?.[key];
if (value === undefined) {
  console.error(`nothing at ${values.path}`);
  process.exit(1);
}
console.log(values.raw && typeof value === "string" ? value : JSON.stringify(value));
