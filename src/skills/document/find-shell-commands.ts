import { readMarkdownLines, type MarkdownLine } from "./markdown-lines.ts";

/** A command that the instructions of a skill want to have run before a model reads them. */
export interface ShellCommand {
  /**
   * As written, nothing filled in: arguments must never be pasted into it, because they would be read as a part of it. See
   * {@link parseCommand}.
   */
  readonly command: string;
  /** `line`: `` !`command` ``; `block`: a fence that opens with ```` ```! ````. */
  readonly form: "line" | "block";
  /** Where it stands in the body, with its marks. */
  readonly offset: number;
  readonly end: number;
}

/**
 * Finds the commands in a body. As in other clients, `` !`command` `` counts at the beginning of a line or behind a space;
 * unlike there, it does not inside code blocks and code spans, where it is an example.
 *
 * Contract: runs nothing; takes time in proportion to the text.
 */
export function findShellCommands(body: string): ShellCommand[] {
  const commands: ShellCommand[] = [];
  if (!body.includes("!")) return commands;
  let block: { readonly offset: number; readonly start: number } | undefined;
  for (const line of readMarkdownLines(body)) {
    const end = line.offset + line.text.length;
    if (line.fence === undefined) commands.push(...findInLine(line));
    else if (line.fence === "opens" && line.info === "!") block = { offset: line.offset, start: end + 1 };
    else if (line.fence === "closes" && block !== undefined) {
      const command = body.slice(block.start, line.offset).trimEnd();
      if (command !== "") commands.push({ command, form: "block", offset: block.offset, end });
      block = undefined;
    }
  }
  return commands;
}

function findInLine({ text, offset }: MarkdownLine): ShellCommand[] {
  if (!text.includes("!`")) return [];
  const commands: ShellCommand[] = [];
  const lastOfLength = findLastRuns(text);
  for (let at = text.indexOf("`"); at !== -1;) {
    const length = runLength(text, at);
    const close = (lastOfLength.get(length) ?? -1) > at ? findRun(text, at + length, length) : -1;
    if (close === -1) {
      at = text.indexOf("`", at + length);
      continue;
    }
    const marked = length === 1 && text[at - 1] === "!" && (at === 1 || /\s/u.test(text[at - 2] ?? ""));
    const command = text.slice(at + 1, close).trim();
    if (marked && command !== "")
      commands.push({ command, form: "line", offset: offset + at - 1, end: offset + close + 1 });
    at = text.indexOf("`", close + length);
  }
  return commands;
}

function runLength(text: string, offset: number): number {
  let end = offset;
  while (text[end] === "`") end++;
  return end - offset;
}

/** For each length of a run of backticks, where the last one begins: a run that is the last of its length closes nothing. */
function findLastRuns(text: string): Map<number, number> {
  const last = new Map<number, number>();
  for (const { index, 0: run } of text.matchAll(/`+/gu)) last.set(run.length, index);
  return last;
}

function findRun(text: string, from: number, length: number): number {
  for (let at = text.indexOf("`", from); at !== -1;) {
    const found = runLength(text, at);
    if (found === length) return at;
    at = text.indexOf("`", at + found);
  }
  return -1;
}
