#!/usr/bin/env node
// Show the shape of a JSON file: keys, types, and how many items the lists have.
//
// Usage: shape.mjs <file> [--depth <n>] [--items <n>]
//
//   <file>       the JSON or JSON Lines file; - reads standard input
//   --depth <n>  how many levels to show
//   --items <n>  how many items of each list to look at
import { parseArgs } from "node:util";

import { fail, print, readJson, typeOf } from "./json-file.mjs";

const { values, positionals } = parseArgs({
  options: {
    depth: { type: "string", default: "5" },
    items: { type: "string", default: "1000" },
  },
  allowPositionals: true,
});
const [file, ...others] = positionals;
const depth = Number(values.depth);
const items = Number(values.items);
if (file === undefined || others.length > 0) fail("shape: name one file, or - for standard input");
for (const [name, number] of Object.entries({ depth, items })) {
  if (!Number.isInteger(number) || number < 1) fail(`shape: --${name} is not a whole number above 0`);
}
print(describe([readJson(file)], depth));

/** What some values have in common. */
function describe(samples, levels) {
  const types = [...new Set(samples.map(typeOf))];
  const shape = { type: types.length === 1 ? types[0] : types };
  const lists = samples.filter(Array.isArray);
  const objects = samples.filter((sample) => typeOf(sample) === "object");
  if (lists.length > 0) Object.assign(shape, describeLists(lists, levels));
  if (objects.length > 0) Object.assign(shape, describeObjects(objects, levels));
  const texts = new Set(samples.filter((sample) => typeof sample !== "object").map(String));
  if (texts.size > 0 && texts.size <= 3) shape.examples = [...texts].map((text) => text.slice(0, 60));
  return shape;
}

function describeLists(lists, levels) {
  const lengths = lists.map((list) => list.length);
  const all = lists.flatMap((list) => list.slice(0, items)).slice(0, items);
  return {
    items: lengths.length === 1 ? lengths[0] : { min: lengths.reduce(smaller), max: lengths.reduce(larger) },
    ...(all.length > 0 && levels > 1 && { each: describe(all, levels - 1) }),
  };
}

function describeObjects(objects, levels) {
  const byKey = new Map();
  for (const object of objects) {
    for (const [key, value] of Object.entries(object)) {
      if (!byKey.has(key)) byKey.set(key, []);
      byKey.get(key).push(value);
    }
  }
  if (levels <= 1) return { keys: [...byKey.keys()].slice(0, 50) };
  const keys = {};
  for (const [key, samples] of [...byKey].slice(0, 200)) {
    const optional = samples.length < objects.length ? { optional: true } : {};
    Object.defineProperty(keys, key, { value: { ...describe(samples, levels - 1), ...optional }, enumerable: true });
  }
  return { keys, ...(byKey.size > 200 && { more: byKey.size - 200 }) };
}

function smaller(left, right) {
  return Math.min(left, right);
}

function larger(left, right) {
  return Math.max(left, right);
}
