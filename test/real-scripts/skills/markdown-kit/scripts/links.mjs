#!/usr/bin/env node
// List the links of a folder's Markdown files that lead nowhere.
// Usage: links.mjs <folder>
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const folder = process.argv[2];
if (folder === undefined) {
  console.error("Usage: links.mjs <folder>");
  process.exit(1);
}
const files = readdirSync(folder, { recursive: true }).map(String).filter((name) => name.endsWith(".md")).sort();
const broken = [];
for (const name of files) {
  const text = readFileSync(join(folder, name), "utf8");
  for (const [, target] of text.matchAll(/\]\(([^)#]+)\)/g)) {
    if (!existsSync(resolve(dirname(join(folder, name)), target))) broken.push({ file: name, target });
  }
}
console.log(JSON.stringify({ files: files.length, broken }));
