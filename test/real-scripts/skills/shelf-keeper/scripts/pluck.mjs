#!/usr/bin/env node
// Print one value of a JSON document: pluck.mjs <path.to.value>
import { text } from "node:stream/consumers";

const [path] = process.argv.slice(2);
if (!path) {
  console.error("Usage: pluck.mjs <path.to.value>");
  process.exit(1);
}
let value = JSON.parse(await text(process.stdin));
for (const key of path.split(".")) value = value?.[key];
console.log(typeof value === "string" ? value : JSON.stringify(value));
