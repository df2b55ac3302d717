import { quote } from "../../core/errors.ts";
import type { Reporter } from "./reporter.ts";
import { maxFrontMatterBytes } from "./skill-document.ts";

/** A file, cut into its two parts. */
export interface SplitText {
  /** The YAML between the dashes; none when the file has no front matter. */
  readonly block?: string;
  /** Where in the file the block begins. */
  readonly blockOffset: number;
  /** The line of the file on which the block begins. */
  readonly blockLine: number;
  readonly body: string;
  /** The line of the file on which the body begins. */
  readonly bodyLine: number;
}

/** Where a block begins, behind the dashes. */
interface Start {
  readonly offset: number;
  readonly line: number;
}

/**
 * Cuts `text` into front matter and body, by hand, and reports what is odd about the dashes. Nothing in the block is looked at:
 * whatever language stands behind the dashes, none is ever run. Answers nothing, after an `error`, when the block cannot be used.
 */
export function splitFrontMatter(text: string, reporter: Reporter): SplitText | undefined {
  const start = findStart(text, reporter);
  if (start === "refused") return undefined;
  if (start === undefined) {
    const message =
      "There is no front matter; the name is that of the directory, and the description comes from the text";
    reporter.report("front-matter-missing", message, firstPlace, cureMissing);
    return { blockOffset: 0, blockLine: 1, body: text, bodyLine: 1 };
  }
  const end = findEnd(text, start.offset) ?? findKeysEnd(text, start, reporter);
  const block = end === undefined ? undefined : text.slice(start.offset, end.offset);
  if (end === undefined || block === undefined || !isYaml(block)) {
    const message = "The file starts with --- but no keys follow, so there is no front matter";
    reporter.report("front-matter-missing", message, firstPlace, cureMissing);
    return { blockOffset: 0, blockLine: 1, body: text, bodyLine: 1 };
  }
  const size = Buffer.byteLength(block);
  if (size > maxFrontMatterBytes) {
    const message = `The front matter has ${size} bytes; at most ${maxFrontMatterBytes} are parsed`;
    reporter.report("front-matter-too-large", message, firstPlace, "Move the text below the closing ---");
    return undefined;
  }
  return toSplit(text, start, end);
}

/**
 * Cuts `text` again when what was taken for the block is not YAML: the closing dashes are missing, and a rule further down was
 * taken for them. Answers nothing when that is not so.
 */
export function splitBehindKeys(text: string, split: SplitText, reporter: Reporter): SplitText | undefined {
  const { block } = split;
  if (block === undefined || !/^[ \t]*\n#{1,6} \S/mu.test(block)) return undefined;
  const start = { offset: split.blockOffset, line: split.blockLine };
  const end = findKeysEnd(text, start, reporter);
  return end === undefined ? undefined : toSplit(text, start, end);
}

function toSplit(text: string, start: Start, end: End): SplitText {
  return {
    block: text.slice(start.offset, end.offset),
    blockOffset: start.offset,
    blockLine: start.line,
    body: text.slice(end.bodyOffset),
    bodyLine: start.line + countLines(text, start.offset, end.bodyOffset),
  };
}

const firstPlace = { line: 1, column: 1 };
const cureMissing = 'Start the file with "---", then "name: …" and "description: …", then "---"';

function findStart(text: string, reporter: Reporter): Start | "refused" | undefined {
  if (text.startsWith("---\n")) return { offset: 4, line: 2 };
  if (text.startsWith("---")) return readOpening(text, 0, 1, reporter);
  const language = findOtherLanguage(text);
  if (language !== undefined) return refuse(language, reporter);
  const blank = /^\s*\n/u.exec(text.slice(0, 4096))?.[0].length ?? 0;
  if (text.startsWith("---", blank)) {
    const line = countLines(text, 0, blank) + 1;
    const start = readOpening(text, blank, line, reporter);
    if (start !== undefined && start !== "refused") {
      reporter.report("front-matter-late", "Blank lines stand before the front matter", firstPlace, "Remove them");
    }
    return start;
  }
  return findLateStart(text, reporter);
}

function readOpening(text: string, offset: number, line: number, reporter: Reporter): Start | "refused" | undefined {
  const next = text.indexOf("\n", offset);
  const label = text.slice(offset + 3, next === -1 ? undefined : next);
  const start = next === -1 ? undefined : { offset: next + 1, line: line + 1 };
  if (label.trim() === "") return start;
  // More than three dashes are a rule of Markdown.
  if (/^-+\s*$/u.test(label)) return undefined;
  if (!/^\s*(?:ya?ml\b|#)/iu.test(label)) return refuse(label.trim(), reporter);
  const where = { line, column: 4 };
  reporter.report(
    "front-matter-label",
    `Found ${quote(label.trim())} behind the opening dashes`,
    where,
    'Write "---" alone',
  );
  return start;
}

function findOtherLanguage(text: string): string | undefined {
  if (/^\+\+\+\s*\n/u.test(text)) return "TOML";
  return /^;;;\s*\n/u.test(text) ? "JSON" : undefined;
}

function refuse(language: string, reporter: Reporter): "refused" {
  const message = `The front matter is marked as ${quote(language)}; only YAML is read, and nothing in it is ever run`;
  reporter.report("front-matter-language", message, firstPlace, 'Write YAML between two lines of "---"');
  return "refused";
}

/** How far down a block is looked for that does not stand at the top. */
const longestPreamble = 4096;

function findLateStart(text: string, reporter: Reporter): Start | undefined {
  const found = /\n---[ \t]*\n(?=(?:#.*\n|[ \t]*\n){0,20}(?:name|description)[ \t]*:)/u.exec(
    text.slice(0, longestPreamble),
  );
  if (found === null) return undefined;
  const offset = found.index + found[0].length;
  // Two rules of Markdown around a line with a colon are no front matter: the block must also end.
  if (findEnd(text, offset) === undefined) return undefined;
  const line = countLines(text, 0, offset) + 1;
  const message = `The front matter begins on line ${line - 1}; the text before it is not part of the instructions`;
  reporter.report("front-matter-late", message, firstPlace, "Move the front matter to the first line");
  return { offset, line };
}

interface End {
  /** Behind the last character of the block. */
  readonly offset: number;
  readonly bodyOffset: number;
}

function findEnd(text: string, from: number): End | undefined {
  for (let at = text.indexOf("\n---", from - 1); at !== -1; at = text.indexOf("\n---", at + 1)) {
    const next = text.indexOf("\n", at + 1);
    const line = text.slice(at + 1, next === -1 ? undefined : next);
    if (line.trimEnd() !== "---") continue;
    // Three dots end a YAML document too.
    const dots = text.slice(from - 1, at + 1).indexOf("\n...\n");
    if (dots !== -1) return { offset: from + dots, bodyOffset: from + dots + 4 };
    return { offset: at + 1, bodyOffset: next === -1 ? text.length : next + 1 };
  }
  const dots = text.indexOf("\n...\n", from - 1);
  return dots === -1 ? undefined : { offset: dots + 1, bodyOffset: dots + 5 };
}

const key = String.raw`["']?[\p{L}_][\p{L}\p{N}_ .-]{0,63}["']?[ \t]*`;
const keyLine = new RegExp(`^${key}:(?:\\s|$)`, "u");
const anyKey = new RegExp(`^${key}[:：]`, "mu");

/** Tells whether a block is YAML at all, and not prose between two rules of Markdown. */
function isYaml(block: string): boolean {
  return block.trim() === "" || anyKey.test(block) || /^\s*(?:[[{%&*!|>@<]|- )/u.test(block);
}

/** Without closing dashes the block is the keys at the top, up to the first line that cannot belong to one. */
function findKeysEnd(text: string, start: Start, reporter: Reporter): End | undefined {
  let offset = start.offset;
  let line = start.line;
  let keys = 0;
  while (offset < text.length) {
    const next = text.indexOf("\n", offset);
    const content = text.slice(offset, next === -1 ? undefined : next);
    const isKey = keyLine.test(content.slice(0, 80));
    if (!isKey && (keys === 0 || !/^(?:[ \t]+\S|- )/u.test(content.slice(0, 200)))) break;
    if (isKey) keys++;
    line++;
    offset = next === -1 ? text.length : next + 1;
  }
  if (keys === 0) return undefined;
  const message = `The front matter is not closed; it is taken to end before line ${line}`;
  reporter.report("front-matter-unclosed", message, { line, column: 1 }, `Write "---" before line ${line}`);
  return { offset, bodyOffset: offset };
}

/** The number of line ends between two places. */
function countLines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
