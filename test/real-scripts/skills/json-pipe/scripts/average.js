#!/usr/bin/env node
// Average of the JSON list of numbers on standard input.
const fs = require("fs");
const values = JSON.parse(fs.readFileSync(process.stdin.fd, "utf8"));
const sum = values.reduce((total, value) => total + value, 0);
console.log((sum / values.length).toFixed(2));
