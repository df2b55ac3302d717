#!/usr/bin/env node
import { readFileSync } from "node:fs";

const [first, second] = process.argv.slice(2);

// The version is asked for often and by machines: answer before anything else is loaded.
if (first === "--version" || first === "-V") {
  const version = readVersion();
  console.log(second === "--json" ? JSON.stringify({ version }) : version);
} else if (!isNodeSupported()) {
  console.error(
    `Cannot run on Node ${process.versions.node}: Kitbag needs Node 22.19 or newer; install it and run the command again`,
  );
  process.exitCode = 1;
} else {
  // Not awaited: Node would add a warning of its own when a configuration waits for ever.
  void import("./run-program.ts").then(({ runProgram }) => runProgram(process.argv.slice(2)));
}

function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** An older Node would only say that some name is missing. */
function isNodeSupported(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 19);
}
