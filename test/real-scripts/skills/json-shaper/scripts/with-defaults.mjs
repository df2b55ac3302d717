#!/usr/bin/env node
// Fills in the settings that a configuration leaves out.
// Usage: with-defaults.mjs <config> <output>
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const [config, output] = process.argv.slice(2);
if (!config || !output) {
  console.error("Usage: with-defaults.mjs <config> <output>");
  process.exit(1);
}
const merge = (base, over) => {
  if (typeof base !== "object" || typeof over !== "object") return over ?? base;
  const keys = new Set([...Object.keys(base), ...Object.keys(over)]);
  return Object.fromEntries([...keys].map((key) => [key, merge(base[key] ?? over[key], over[key] ?? base[key])]));
};
const defaults = JSON.parse(await readFile(path.join(here, "../assets/defaults.json"), "utf8"));
const merged = merge(defaults, JSON.parse(await readFile(config, "utf8")));
await writeFile(output, `${JSON.stringify(merged, null, 2)}\n`);
console.log(`Saved ${path.resolve(output)}`);
