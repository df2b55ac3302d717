#!/usr/bin/env node
/** Merge the JSON files of a folder into one list. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";

const args: string[] = process.argv.slice(2);
const folder = args.find((word) => !word.startsWith("--"));
const flag = args.indexOf("--into");
const into: string = flag >= 0 ? args[flag + 1] : "merged.json";
if (folder === undefined || folder === into) {
  console.error("Usage: merge-json.ts <folder> [--into FILE]");
  process.exit(2);
}
const all: unknown[] = [];
for (const name of (await readdir(folder)).filter((each) => each.endsWith(".json")).sort())
  all.push(JSON.parse(await readFile(path.join(folder, name), "utf8")));
await writeFile(into, JSON.stringify(all));
console.log(`${all.length} merged`);
