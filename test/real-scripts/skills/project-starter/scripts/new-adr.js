#!/usr/bin/env node
// Write the next decision record.
const fs = require("fs");
const path = require("path");

const options = { dir: "docs/adr", status: "proposed", json: false };
const args = process.argv.slice(2);
for (let i = 0; i < args.length; i++) {
  const a = args[i];
  if (a === "--title") options.title = args[++i];
  else if (a === "--status") options.status = args[++i];
  else if (a === "--dir") options.dir = args[++i];
  else if (a === "--json") options.json = true;
  else {
    console.error(`Usage: new-adr.js --title <title> [--status <status>] [--dir <dir>] [--json]`);
    process.exit(2);
  }
}
if (!options.title) {
  console.error("--title is needed");
  process.exit(2);
}
fs.mkdirSync(options.dir, { recursive: true });
const number = String(fs.readdirSync(options.dir).length + 1).padStart(4, "0");
const slug = options.title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
const file = path.join(options.dir, `${number}-${slug}.md`);
fs.writeFileSync(file, `# ${number}. ${options.title}\n\nStatus: ${options.status}\n`);
console.log(options.json ? JSON.stringify({ file }) : `Created ${file}`);
