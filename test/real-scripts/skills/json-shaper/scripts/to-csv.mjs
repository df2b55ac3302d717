#!/usr/bin/env node
// Makes CSV of the JSON list on standard input.
import process from "node:process";

let text = "";
for await (const piece of process.stdin) text += piece;
const rows = JSON.parse(text);
const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
const cell = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? ""));
console.log(columns.join(","));
for (const row of rows) console.log(columns.map((column) => cell(row[column])).join(","));
