#!/usr/bin/env node
// Sign a text.
// Usage: sign.mjs <text>
import { createHmac } from "node:crypto";

const token = process.env.REPORT_TOKEN;
if (!token) {
  console.error("REPORT_TOKEN is not set");
  process.exit(1);
}
const text = process.argv[2];
if (text === undefined) {
  console.error("Usage: sign.mjs <text>");
  process.exit(1);
}
console.log(createHmac("sha256", token).update(text).digest("hex").slice(0, 12));
