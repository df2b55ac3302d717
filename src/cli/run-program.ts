import { writeSync } from "node:fs";

import type { Command, CommanderError } from "commander";

import { KitbagError, quote } from "../core/errors.ts";
import { type Answer, type CliCommand, type CliContext, type Invocation, usageError, suggest } from "./cli-command.ts";
import { type CommandEntry, commands, createParser } from "./commands.ts";
import { readLogLevel } from "./options.ts";
import { renderJson, renderJsonLine } from "./printable.ts";
import { toFailedAnswer } from "./report-error.ts";
import { createTerminal, type Terminal } from "./terminal.ts";
import { interrupt } from "./until-interrupted.ts";

/** Runs the command line as the whole of this process: prints one answer and ends with its exit code. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  const { stdin, stdout, stderr, env } = process;
  const terminal = createTerminal({ stdin, stdout, stderr, env });
  const render = hasJsonFlag(argv) ? chooseJson(argv) : undefined;
  const onEarlyExit = (): void => reportEarlyExit(render);
  let isFinished = false;
  let isRead = true;

  const finish = async (answer: Answer): Promise<void> => {
    if (isFinished) return;
    isFinished = true;
    process.off("exit", onEarlyExit);
    if (!isRead) process.exit();
    printAnswer(answer, render, terminal);
    await terminal.flush();
    // A tool that was cut off at its limit may still hold timers and sockets; the answer is there, so they are not waited for.
    process.exit(answer.exitCode ?? 0);
  };

  endQuietlyWhenNobodyReads(() => (isRead = false));
  keepStdoutClean();
  process.on("exit", onEarlyExit);
  process.on("uncaughtException", (cause) => void finish(toFailedAnswer(cause)));
  if (commands.some(({ name, onlyReads }) => name === argv[0] && onlyReads === true)) await useLittleMemory();
  await finish(await runCli(argv, { terminal, env, cwd: process.cwd() }).catch(toFailedAnswer));
}

/**
 * For commands that only read: what they make is soon garbage, and V8 lets it grow to several times of what is needed. Optimising the
 * parsers of scripts takes 500 MB for a moment, and more time than it saves.
 */
async function useLittleMemory(): Promise<void> {
  const { setFlagsFromString } = await import("node:v8");
  const flags = ["--liftoff-only", "--no-wasm-dynamic-tiering", "--no-wasm-tier-up", "--heap-growing-percent=60"];
  for (const flag of flags) setFlagsFromString(flag);
}

/** `--json` counts for failures too, even if the rest of the line cannot be read; behind `--` it belongs to a tool. */
function hasJsonFlag(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end === -1 ? undefined : end).includes("--json");
}

/** Makes JSON of an answer. */
type RenderJson = (document: unknown, isFailure: boolean) => string;

/** Who reads one event a line must be able to read a failure the same way. */
function chooseJson([name]: readonly string[]): RenderJson {
  const printsLines = commands.find((entry) => entry.name === name)?.printsLines === true;
  return (document, isFailure) => (printsLines && isFailure ? renderJsonLine(document) : renderJson(document));
}

function printAnswer(
  { document, text, note, failure }: Answer,
  render: RenderJson | undefined,
  terminal: Terminal,
): void {
  if (render) terminal.print(document === undefined ? "" : `${render(document, failure !== undefined)}\n`);
  else if (text !== undefined && text !== "") terminal.print(text.endsWith("\n") ? text : `${text}\n`);
  if (note !== undefined && render === undefined) terminal.note(`${note}\n`);
  if (failure !== undefined) terminal.note(`${failure}\n`);
}

/** `kitbag list | head -1` is not a failure. What goes on ends in order first: a run is given back. */
function endQuietlyWhenNobodyReads(onUnread: () => void): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (cause: NodeJS.ErrnoException) => {
      // The terminal was closed: the program hears of that otherwise, and ends in order.
      if (cause.code === "EIO") return;
      if (cause.code !== "EPIPE") throw cause;
      onUnread();
      if (interrupt()) return;
      process.removeAllListeners("exit");
      process.exit();
    });
  }
}

/** What tools and configurations print goes to standard error: standard output belongs to the answer. */
function keepStdoutClean(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr);
}

/** A tool or a configuration ended the process, or left nothing to wait for: say so, instead of ending as if all were well. */
function reportEarlyExit(render: RenderJson | undefined): void {
  const reason = "a tool or the configuration ended the process, or waits for something that never comes";
  const { document, failure } = toFailedAnswer(new KitbagError("program-failed", { reason }));
  if (render) writeSync(1, `${render(document, true)}\n`);
  writeSync(2, `${failure ?? ""}\n`);
  process.exitCode = 1;
}

/**
 * Finds the command in `argv`, reads its arguments and runs it.
 *
 * @throws {KitbagError} `usage-invalid` for words that no command has, and whatever the command throws.
 */
async function runCli(argv: readonly string[], context: CliContext): Promise<Answer> {
  const words = argv[0] === "help" ? [...argv.slice(1, 2), "--help"] : moveLog(argv);
  const [name, ...rest] = words;
  if (name === undefined || name === "--help" || name === "-h") return { document: overview(), text: renderOverview() };
  const entry = findCommand(name);
  const command = await entry.load();
  const parser = await createParser(entry, command);
  const wish = parseWords(parser, rest);
  const options = parser.opts();
  const invocation: Invocation = { ...context, args: parser.args, options, json: options["json"] === true };
  if (wish === "help") {
    const help = (await command.help?.(invocation)) ?? `${parser.helpInformation()}\n${renderExamples(command)}`;
    return { document: { help }, text: help };
  }
  readLogLevel({ options, env: context.env });
  return command.run(invocation);
}

/** `kitbag --log debug call …` means what `kitbag call --log debug …` means. */
function moveLog(argv: readonly string[]): readonly string[] {
  const [first = "", second = "", ...rest] = argv;
  if (first.startsWith("--log=")) return [second, first, ...rest].filter((word) => word !== "");
  return first === "--log" && rest.length > 0 ? [...rest.slice(0, 1), first, second, ...rest.slice(1)] : argv;
}

function findCommand(name: string): CommandEntry {
  const entry = commands.find((candidate) => candidate.name === name);
  if (entry !== undefined) return entry;
  const known = [...commands.map((candidate) => candidate.name), "--help", "--version"];
  const cure = suggest(name, known, "see kitbag --help");
  throw usageError(`Cannot run ${quote(name)}: there is no such command; ${cure}`);
}

/** Reads the words into `parser`; answers whether they ask to run the command or for its help. */
function parseWords(parser: Command, words: readonly string[]): "run" | "help" {
  try {
    parser.parse(words, { from: "user" });
    return "run";
  } catch (cause) {
    if (!isCommanderError(cause)) throw cause;
    if (cause.code === "commander.helpDisplayed") return "help";
    throw usageError(`${toReason(cause.message)}; see ${parser.name()} --help`);
  }
}

function renderExamples({ examples }: CliCommand): string {
  const lines = examples.map(([line, meaning]) => `  # ${meaning}\n  $ ${line}`);
  return `Examples:\n${lines.join("\n")}`;
}

function isCommanderError(cause: unknown): cause is CommanderError {
  return cause instanceof Error && "code" in cause && String(cause.code).startsWith("commander.");
}

/** `error: unknown option '--x'\n(Did you mean --y?)` in our words. */
function toReason(message: string): string {
  const [problem = "", hint] = message
    .replace(/^error: /u, "")
    .replace(/\.$/u, "")
    .split("\n");
  return `Cannot read the command: ${problem}${hint === undefined ? "" : ` ${hint}`}`;
}

function overview(): unknown {
  return { commands: commands.map(({ name, summary }) => ({ name, summary })) };
}

function renderOverview(): string {
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(11)}${summary}`);
  return `Usage: kitbag <command> [options]

Typed, permissioned tools for AI agents, from the command line.

Commands:
${lines.join("\n")}

Options:
  -V, --version  print the version
  --log <level>  log calls on standard error: debug, info, warn, error
  -h, --help     show this help; "kitbag <command> --help" has the options of a command, and examples

Examples:
  $ kitbag chat                                  talk with an agent; no key needed
  $ kitbag tour                                  what this is about, in two minutes
  $ kitbag list                                  the tools of this project (kitbag.config.ts)
  $ kitbag call add --a 2 --b 3                  call one
  $ kitbag call add --module tools.ts --a 2 --b 3  without a project

Exit codes: 0 done, 1 failed, 2 wrong usage.`;
}
