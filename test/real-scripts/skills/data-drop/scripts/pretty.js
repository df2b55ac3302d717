#!/usr/bin/env node
const { readdirSync, readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

/** Format all JSON files of a folder. */
function main([folder]) {
  if (folder === undefined) {
    console.error("usage: pretty.js <folder>");
    return 1;
  }
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".json")).sort()) {
    const file = join(folder, name);
    const value = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify(value, null, 2) + "\n");
    console.log(`formatted ${name}`);
  }
  return 0;
}

process.exitCode = main(process.argv.slice(2));
