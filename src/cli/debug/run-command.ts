import { usageError } from "../cli-command.ts";
import { describeCause } from "../../core/errors.ts";
import type { Breakpoint, DebugSession, Variable } from "../../runtimes/debug/debug-session.ts";
import { toPrintable, toPrintableLine } from "../printable.ts";
import type { Terminal } from "../terminal.ts";

/** What a command works with. */
export interface CommandHost {
  readonly session: DebugSession;
  readonly terminal: Terminal;
  /** All breakpoints that were asked for, by file. */
  readonly breaks: Map<string, readonly BreakWords[]>;
}

/** What follows: the script goes on, the person is asked again, or all is over. */
export type Next = "run" | "ask" | "quit";

const help = `  b FILE:LINE [if CONDITION]   stop there (b LINE: in this file)   bd FILE:LINE   do not
  c  continue    n  step over    s  step into    o  step out
  bt  stack      vars  variables    p EXPRESSION  evaluate    l [LINE]  source
  q  end the script             h  this help; an empty line repeats the last command; Ctrl-C pauses a script that runs
`;

/** Runs one command of a person. Never throws for what the script or the person did wrong. */
export async function runCommand(host: CommandHost, words: string): Promise<Next> {
  const [, name = "", rest = ""] = /^\s*(\S*)\s*(.*?)\s*$/su.exec(words) ?? [];
  try {
    return await run(host, name, rest);
  } catch (cause) {
    host.terminal.note(`${toPrintable(describeCause(cause))}\n`);
    return host.session.hasEnded ? "quit" : "ask";
  }
}

async function run(host: CommandHost, name: string, rest: string): Promise<Next> {
  const { session, terminal } = host;
  switch (name) {
    case "c":
      await session.continue();
      return "run";
    case "n":
      await session.stepOver();
      return "run";
    case "s":
      await session.stepInto();
      return "run";
    case "o":
      await session.stepOut();
      return "run";
    case "q":
      session.terminate();
      return "quit";
    default:
      terminal.note(await answer(host, name, rest));
      return "ask";
  }
}

async function answer(host: CommandHost, name: string, rest: string): Promise<string> {
  switch (name) {
    case "b":
    case "bd":
      return changeBreak(host, name, rest);
    case "bt":
      return renderStack(host.session);
    case "vars":
      return renderVariables(host.session);
    case "p":
      return evaluate(host.session, rest);
    case "l":
      return renderSource(host, 5, /^\d+$/u.test(rest) ? Number(rest) : undefined);
    case "h":
      return help;
    default:
      return `There is no command ${toPrintableLine(name)}; h lists them\n`;
  }
}

async function changeBreak(host: CommandHost, name: string, rest: string): Promise<string> {
  const words = parseBreak(rest);
  const file = words?.file ?? host.session.stopped?.file ?? host.session.script;
  if (words === undefined) return `Expected ${name} FILE:LINE${name === "b" ? " [if CONDITION]" : ""}\n`;
  const others = (host.breaks.get(file) ?? []).filter(({ line }) => line !== words.line);
  if (name === "bd") {
    host.breaks.set(file, others);
    await host.session.setBreakpoints(file, others);
    return `No breakpoint at ${toPrintableLine(file)}:${words.line} any more\n`;
  }
  return setBreak(host, { ...words, file });
}

/** Adds a breakpoint, and says where it is. */
export async function setBreak({ session, breaks }: CommandHost, words: BreakWords): Promise<string> {
  const file = words.file ?? session.script;
  const all = [...(breaks.get(file) ?? []).filter(({ line }) => line !== words.line), words];
  breaks.set(file, all);
  const set = await session.setBreakpoints(file, all);
  return set.slice(-1).map(renderBreakpoint).join("");
}

/** Says where a breakpoint is, and whether it was moved. */
export function renderBreakpoint({ file, line, requestedLine, condition, verified, message }: Breakpoint): string {
  const place = toPrintableLine(`${file}:${line}${condition === undefined ? "" : ` if ${condition}`}`);
  if (!verified) return `No breakpoint at ${place} yet: ${toPrintableLine(message ?? "")}\n`;
  return `Breakpoint at ${place}${line === requestedLine ? "" : ` (moved from line ${requestedLine}, which has no code)`}\n`;
}

async function renderStack(session: DebugSession): Promise<string> {
  const frames = await session.stack();
  const last = frames.findLastIndex(({ isOwn }) => isOwn);
  return frames
    .slice(0, Math.max(last, 0) + 1)
    .map(({ name, file, line }, index) => `${toPrintableLine(`#${index}  ${name}  ${file}:${line}`)}\n`)
    .join("");
}

/** Deeper parts are shown by evaluating them. */
async function renderVariables(session: DebugSession): Promise<string> {
  const [frame] = await session.stack();
  const scopes = await session.scopes(frame?.id ?? 0);
  const texts = await Promise.all(
    scopes.map(async ({ name, reference }) => {
      const variables = await session.variables(reference);
      return `${toPrintableLine(name)}:\n${variables.map(renderVariable).join("")}`;
    }),
  );
  return texts.join("");
}

function renderVariable({ name, value }: Variable): string {
  return `  ${toPrintableLine(`${name} = ${value}`)}\n`;
}

async function evaluate(session: DebugSession, expression: string): Promise<string> {
  if (expression === "") return "Expected p EXPRESSION\n";
  const result = await session.evaluate(expression);
  return `${toPrintable(result.ok ? result.value : result.message)}\n`;
}

/** The lines around the place where the script is stopped, with an arrow. */
export function renderSource({ session, terminal }: CommandHost, around: number, middle?: number): string {
  const { stopped } = session;
  if (stopped === undefined) return "";
  const lines = session.loadSource(stopped.file)?.split(/\r?\n/u) ?? [];
  const line = middle ?? stopped.line;
  const first = Math.max(line - around, 1);
  return lines
    .slice(first - 1, line + around)
    .map((text, index) => {
      const number = first + index;
      const shown = `${String(number).padStart(5)}  ${toPrintable(text)}`;
      return number === stopped.line ? terminal.style("cyan", `→${shown}\n`) : ` ${shown}\n`;
    })
    .join("");
}

/** Where a script shall stop, as a person writes it. */
export interface BreakWords {
  /** Missing: the file where it is stopped. */
  readonly file?: string;
  readonly line: number;
  readonly condition?: string;
}

/** Reads `scripts/a.py:12`, `12` or `12 if count > 3`; nothing for any other text. */
function parseBreak(text: string): BreakWords | undefined {
  const [, file, digits, condition] = /^(?:(\S.*?):)?(\d{1,7})(?:\s+if\s+(\S.*))?$/u.exec(text.trim()) ?? [];
  const line = Number(digits ?? 0);
  if (line === 0) return undefined;
  return { line, ...(file !== undefined && { file }), ...(condition !== undefined && { condition }) };
}

/** Reads the values of `--break`. @throws {KitbagError} `usage-invalid` for one that is no place. */
export function parseBreaks(values: readonly string[]): readonly BreakWords[] {
  return values.map((value) => {
    const found = parseBreak(value);
    if (found !== undefined) return found;
    throw usageError(
      `Cannot use --break ${value}: expected a file and a line, as in scripts/a.py:12, or "scripts/a.py:12 if n > 3"`,
    );
  });
}
