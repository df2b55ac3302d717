import { writeSync } from "node:fs";

import { KitbagError } from "../core/errors.ts";
import type { Answer } from "./cli-command.ts";
import { commands } from "./commands.ts";
import { renderJson, renderJsonLine } from "./printable.ts";
import { toFailedAnswer } from "./report-error.ts";
import { runCli } from "./run-cli.ts";
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
    // A tool that was cut off at its limit may still hold timers and sockets; the answer is there, so nobody waits for them.
    process.exit(answer.exitCode ?? 0);
  };

  endQuietlyWhenNobodyReads(() => (isRead = false));
  keepStdoutClean();
  process.on("exit", onEarlyExit);
  process.on("uncaughtException", (cause) => void finish(toFailedAnswer(cause)));
  await finish(await runCli(argv, { terminal, env, cwd: process.cwd() }).catch(toFailedAnswer));
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

function printAnswer({ document, text, failure }: Answer, render: RenderJson | undefined, terminal: Terminal): void {
  if (render) terminal.print(document === undefined ? "" : `${render(document, failure !== undefined)}\n`);
  else if (text !== undefined && text !== "") terminal.print(text.endsWith("\n") ? text : `${text}\n`);
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
