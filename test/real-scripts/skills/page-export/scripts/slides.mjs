#!/usr/bin/env node
// Makes slides of a text: one for each paragraph. Writes slides.json to the current directory.
// Usage: slides.mjs <text-file>
import fs from "node:fs";

const [, , file] = process.argv;
if (!file) {
  console.error("Usage: slides.mjs <text-file>");
  process.exit(1);
}
const slides = fs.readFileSync(file, "utf8").trim().split(/\n\n+/).map((text, number) => ({ number, text }));
fs.writeFileSync("slides.json", JSON.stringify(slides));
console.log(`${slides.length} slides saved to slides.json`);
