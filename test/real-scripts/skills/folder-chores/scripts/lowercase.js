#!/usr/bin/env node
// Gives the files of a folder lower-case names.
const fs = require("fs");
const path = require("path");

const dir = process.argv[2];
if (!dir) {
  console.error("Usage: lowercase.js <dir>");
  process.exit(2);
}
let count = 0;
for (const name of fs.readdirSync(dir).sort()) {
  const lower = name.toLowerCase();
  if (lower === name) continue;
  fs.renameSync(path.join(dir, name), path.join(dir, lower));
  count += 1;
}
console.log(`${count} renamed`);
