#!/usr/bin/env node
/**
 * Print one line for each leaf of a JSON document.
 *
 * Usage: flatten.js <file>
 */
const fs = require("fs");

const file = process.argv[2];
if (!file) {
  console.error("Usage: flatten.js <file>");
  process.exit(1);
}
const walk = (value, path) => {
  if (value !== null && typeof value === "object") {
    for (const [key, inner] of Object.entries(value)) walk(inner, path ? `${path}.${key}` : key);
  } else {
    console.log(`${path} = ${JSON.stringify(value)}`);
  }
};
walk(JSON.parse(fs.readFileSync(file, "utf-8")), "");
