#!/usr/bin/env node
// Find addresses that cannot be right.
// Usage: check-addresses.cjs <people.csv>
const fs = require("fs");
const [file] = process.argv.slice(2);
if (!file) {
  console.error("Usage: check-addresses.cjs <people.csv>");
  process.exit(64);
}
const [header, ...rows] = fs.readFileSync(file, "utf8").trim().split("\n");
const column = header.split(",").indexOf("mail");
const wrong = rows.map((row) => row.split(",")[column]).filter((mail) => !/^[^@\s]+@[^@\s]+\.\w+$/.test(mail));
console.log(wrong.length === 0 ? "all fine" : wrong.join("\n"));
process.exitCode = wrong.length === 0 ? 0 : 1;
