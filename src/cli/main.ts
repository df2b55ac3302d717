#!/usr/bin/env node
import { readFileSync } from "node:fs";

const [first, second] = process.argv.slice(2);

// The version is asked for often and by machines: answer before anything else is loaded.
if (first === "--version" || first === "-V") {
  const version = readVersion();
  console.log(second === "--json" ? JSON.stringify({ version }) : version);
} else {
  // Not awaited: Node would add a warning of its own when a configuration waits for ever.
  void load().then(({ runProgram }) => runProgram(process.argv.slice(2)), refuse);
}

async function load() {
  if (process.pid === 1) (await import("./first-process.ts")).leaveFirstProcess();
  return import("./run-program.ts");
}

/** What is loaded says itself that this Node is too old. */
function refuse(cause: unknown): void {
  console.error(cause instanceof Error ? cause.message : cause);
  process.exitCode = 1;
}

function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
