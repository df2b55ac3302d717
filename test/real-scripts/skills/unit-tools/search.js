#!/usr/bin/env node
// Search the table of units.
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const args = process.argv.slice(2);
const at = args.indexOf("-n");
let limit = 5;
if (at !== -1 && args[at + 1]) {
  limit = parseInt(args[at + 1], 10);
  args.splice(at, 2);
}
const query = args.join(" ");
if (!query) {
  console.log("Usage: search.js <query> [-n <num>]");
  process.exit(1);
}
const units = JSON.parse(readFileSync(join(__dirname, "units.json"), "utf8"));
for (const unit of units.filter(({ name }) => name.includes(query)).slice(0, limit)) {
  console.log(`${unit.name} (${unit.symbol})`);
}
