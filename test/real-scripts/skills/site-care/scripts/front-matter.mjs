#!/usr/bin/env node
// Changes a value in the front matter of a page.
import fs from "node:fs";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({ options: { set: { type: "string", multiple: true } }, allowPositionals: true });
const [page] = positionals;
if (!page) {
  console.error("Usage: front-matter.mjs <page> --set key=value");
  process.exit(1);
}
let text = fs.readFileSync(page, "utf8");
for (const pair of values.set ?? []) {
  const [key, value] = pair.split("=");
  text = text.replace(new RegExp(`^${key}: .*$`, "m"), `${key}: ${value}`);
}
fs.writeFileSync(page, text);
console.log(text.split("---")[1].trim());
