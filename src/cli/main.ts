#!/usr/bin/env node
import { existsSync, readFileSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

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
  keepCompiled();
  if (process.pid === 1) (await import("./first-process.ts")).leaveFirstProcess();
  return import("./run-program.ts");
}

/**
 * Keeps compiled code for the next start, which then takes half as long. The cache is in the user's own folder, which no other user can
 * write: Node would keep it in a folder for temporary files. It is not made for this.
 */
function keepCompiled(): void {
  const folder = join(process.env["KITBAG_HOME"] || join(homedir(), ".kitbag"), "cache");
  // Old versions of Node have no such function; they are told that they are old.
  if (existsSync(folder)) module.enableCompileCache?.(join(folder, "compiled"));
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
