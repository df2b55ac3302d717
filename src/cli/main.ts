#!/usr/bin/env node
/**
 * The command `kitbag`: the only folder that picks drivers and prints. It may import all others. Start reading at `run-program.ts`, which
 * finds a command in the table of `commands.ts`; `commands/` has a file for each, and `open-project.ts` opens what most of them work on.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import module from "node:module";
import { isAbsolute, join } from "node:path";

/**
 * The first process of a container must reap every process whose parent has ended, which Node does not do: zombies would pile up. So
 * a shell becomes the first process: it reaps them, forwards signals, and ends as this command ends.
 */
const gather = `exec 3<&0
"$@" <&3 3<&- &
child=$!
for signal in TERM INT HUP USR1 USR2; do trap "kill -$signal $child" $signal; done
while :; do
  wait $child; code=$?
  kill -0 $child 2>/dev/null || exit $code
done`;

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
  if (process.pid === 1) leaveFirstProcess();
  return import("./run-program.ts");
}

/**
 * Keeps compiled code for the next start, which then takes half as long. Node would keep it in a folder for temporary files; here it is in
 * the user's own folder, if that is there already and no other user could have written to it.
 */
function keepCompiled(): void {
  const { KITBAG_HOME: own, HOME: home = "" } = process.env;
  const folder = join(own || join(home, ".kitbag"), "cache");
  // A relative path could lead into a project. Old versions of Node have no such function; they are told that they are old.
  if (isAbsolute(folder) && isPrivate(folder)) module.enableCompileCache?.(join(folder, "compiled"));
}

function isPrivate(folder: string): boolean {
  try {
    const { uid, mode } = statSync(folder);
    return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
  } catch {
    return false;
  }
}

/** Puts a shell in the place of this process, which starts the command again below it. Goes on if that cannot be done. */
function leaveFirstProcess(): void {
  const shell = "/bin/sh";
  if (process.execve === undefined || !existsSync(shell)) return;
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(shell, ["sh", "-c", gather, "kitbag", ...again], process.env);
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
