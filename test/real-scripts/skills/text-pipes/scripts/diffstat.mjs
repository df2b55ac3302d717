#!/usr/bin/env node
// Sums up the output of `git diff --stat`.
import { createInterface } from "node:readline";

let plus = 0;
let minus = 0;
const lines = createInterface({ input: process.stdin });
for await (const line of lines) {
  plus += (line.match(/\+/g) ?? []).length;
  minus += (line.match(/-(?=[-+]*$)/g) ?? []).length;
}
console.log(JSON.stringify({ plus, minus }));
