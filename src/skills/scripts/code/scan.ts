import type { JsonValue } from "../../../core/json.ts";
import type { Literal } from "./literals.ts";
import type { Piece } from "./pieces.ts";

/** How comments and strings are written in a language. */
export interface ScanSyntax {
  readonly lineComments: readonly string[];
  readonly blockComments?: readonly (readonly [open: string, close: string])[];
  /** Longer openings first. The escape is a backslash unless another is named. */
  readonly strings: readonly { readonly open: string; readonly close: string; readonly escape?: string }[];
  /** What opens a here-document; the group is its end mark. Sticky. */
  readonly heredoc?: RegExp;
}

const quotes = [
  { open: "'", close: "'" },
  { open: '"', close: '"' },
] as const;
const triple = [
  { open: '"""', close: '"""' },
  { open: "'''", close: "'''" },
] as const;

/** How Python writes comments and strings. */
export const pythonSyntax: ScanSyntax = { lineComments: ["#"], strings: [...triple, ...quotes] };
/** How Ruby writes comments and strings. */
export const rubySyntax: ScanSyntax = {
  lineComments: ["#"],
  blockComments: [["\n=begin", "\n=end"]],
  strings: quotes,
  heredoc: /<<[~-]?["']?([A-Z_][A-Z0-9_]*)["']?/y,
};
/** How Perl writes comments and strings. */
export const perlSyntax: ScanSyntax = {
  lineComments: ["#"],
  blockComments: [
    ["\n=pod", "\n=cut"],
    ["\n=head1", "\n=cut"],
  ],
  strings: quotes,
  heredoc: /<<~?["']?([A-Z_][A-Z0-9_]*)["']?/y,
};
/** How PHP writes comments and strings. */
export const phpSyntax: ScanSyntax = {
  lineComments: ["//", "#"],
  blockComments: [["/*", "*/"]],
  strings: quotes,
  heredoc: /<<<\s*["']?([A-Za-z_][A-Za-z0-9_]*)["']?/y,
};
/** How Lua writes comments and strings. */
export const luaSyntax: ScanSyntax = {
  lineComments: ["--"],
  blockComments: [["--[[", "]]"]],
  strings: [{ open: "[[", close: "]]" }, ...quotes],
};
/** How R writes comments and strings. */
export const rSyntax: ScanSyntax = { lineComments: ["#"], strings: quotes };
/** How PowerShell writes comments and strings. */
export const powershellSyntax: ScanSyntax = {
  lineComments: ["#"],
  blockComments: [["<#", "#>"]],
  strings: [
    { open: '@"', close: '\n"@' },
    { open: "@'", close: "\n'@" },
    { open: '"', close: '"', escape: "`" },
    { open: "'", close: "'", escape: "" },
  ],
};
/** For a language that is not known, comments and strings are those of most. */
export const plainSyntax: ScanSyntax = { lineComments: ["//"], blockComments: [["/*", "*/"]], strings: quotes };

/** A range of text: where it begins, and where what follows it begins. */
export type Range = readonly [from: number, to: number];

/** Source text whose comments and strings are known. Nothing else of it is parsed. */
export interface Scanned {
  readonly text: string;
  /** The text with blanks for comments and for what stands in strings: what is found in it is code. */
  readonly code: string;
  readonly pieces: readonly Piece[];
}

/** Finds the comments and strings of a text. Contract: never throws and takes linear time, for any text. */
export function scan(text: string, syntax: ScanSyntax): Scanned {
  const scanner = new Scanner(text, syntax);
  scanner.run();
  return { text, code: scanner.code(), pieces: scanner.pieces };
}

class Scanner {
  readonly pieces: Piece[] = [];
  readonly #text: string;
  readonly #syntax: ScanSyntax;
  readonly #code: string[] = [];
  readonly #starts: RegExp;
  #heredocs: string[] = [];
  #at = 0;
  #line = 1;
  #unclosed = 0;

  constructor(text: string, syntax: ScanSyntax) {
    this.#text = text;
    this.#syntax = syntax;
    const openings = [
      ...syntax.lineComments,
      ...(syntax.blockComments ?? []).map(([open]) => open),
      ...syntax.strings.map(({ open }) => open),
      ...(syntax.heredoc === undefined ? [] : ["<<"]),
      "\n",
    ];
    this.#starts = new RegExp(
      openings.map((open) => open.replaceAll(/[[\]()*+?.^$|\\/]/gu, String.raw`\$&`)).join("|"),
      "gu",
    );
  }

  code(): string {
    return this.#code.join("");
  }

  run(): void {
    const text = this.#text;
    while (this.#at < text.length) {
      this.#starts.lastIndex = this.#at;
      const start = this.#starts.exec(text)?.index ?? text.length;
      this.#code.push(text.slice(this.#at, start));
      this.#at = start;
      if (start < text.length && !this.#readComment() && !this.#readString() && !this.#readHeredocMark()) this.#step();
    }
  }

  #step(): void {
    const character = this.#text.charAt(this.#at);
    this.#code.push(character);
    this.#at += 1;
    if (character !== "\n") return;
    this.#line += 1;
    for (const mark of this.#heredocs.splice(0)) this.#readHeredoc(mark);
  }

  #readComment(): boolean {
    for (const [open, close] of this.#syntax.blockComments ?? []) {
      if (!this.#text.startsWith(open, this.#at)) continue;
      const found = this.#text.indexOf(close, this.#at + open.length);
      const end = found === -1 ? this.#text.length : found;
      this.#push(
        "comment",
        this.#text.slice(this.#at + open.length, end),
        Math.min(end + close.length, this.#text.length),
      );
      return true;
    }
    const mark = this.#syntax.lineComments.find((one) => this.#text.startsWith(one, this.#at));
    if (mark === undefined) return false;
    const end = this.#lineEnd();
    this.#push("comment", this.#text.slice(this.#at + mark.length, end), end);
    return true;
  }

  #lineEnd(): number {
    const found = this.#text.indexOf("\n", this.#at);
    return found === -1 ? this.#text.length : found;
  }

  #readString(): boolean {
    const style = this.#syntax.strings.find(({ open }) => this.#text.startsWith(open, this.#at));
    if (style === undefined) return false;
    const from = this.#at + style.open.length;
    const escape = style.escape ?? "\\";
    const closed = this.#unclosed > mostUnclosed ? -1 : this.#findClose(from, style.close, escape);
    if (closed === -1) this.#unclosed += 1;
    // A quote that nothing closes ends with its line: most likely it was not one.
    const end = closed === -1 ? this.#lineEnd() : closed;
    const raw = this.#text.slice(from, end);
    this.#push("string", unescape(raw, escape), Math.max(closed === -1 ? end : end + style.close.length, from));
    return true;
  }

  #findClose(from: number, close: string, escape: string): number {
    for (let index = from; index < this.#text.length; index++) {
      if (escape !== "" && this.#text.charAt(index) === escape) index += 1;
      else if (this.#text.startsWith(close, index)) return index;
    }
    return -1;
  }

  #readHeredocMark(): boolean {
    const { heredoc } = this.#syntax;
    if (heredoc === undefined) return false;
    heredoc.lastIndex = this.#at;
    const found = heredoc.exec(this.#text);
    if (found?.[1] === undefined) return false;
    this.#heredocs.push(found[1]);
    this.#code.push(" ".repeat(found[0].length));
    this.#at += found[0].length;
    return true;
  }

  #readHeredoc(mark: string): void {
    const start = this.#at;
    const closing = new RegExp(`^[ \\t]*${mark}[;)]?[ \\t]*$`, "gmu");
    closing.lastIndex = start;
    const found = closing.exec(this.#text);
    const end = found?.index ?? this.#text.length;
    if (end > start) this.#push("string", this.#text.slice(start, end), end);
    if (found !== null) {
      this.#code.push(" ".repeat(found[0].length));
      this.#at = end + found[0].length;
    }
  }

  #push(kind: Piece["kind"], text: string, end: number): void {
    const raw = this.#text.slice(this.#at, end);
    this.pieces.push({ kind, text, start: this.#at, end, line: this.#line });
    const blank = raw.replaceAll(/[^\n]/gu, " ");
    this.#code.push(kind === "string" && raw.length > 1 ? `"${blank.slice(1, -1)}"` : blank);
    this.#line += raw.split("\n").length - 1;
    this.#at = end;
  }
}

/** After so many quotes that nothing closes, looking for the end of each would cost too much. */
const mostUnclosed = 20;

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "", "\n": "", "0": "" };

function unescape(raw: string, escape: string): string {
  if (escape === "" || !raw.includes(escape)) return raw;
  const pattern = escape === "\\" ? /\\([\s\S])/gu : /`([\s\S])/gu;
  return raw.replaceAll(pattern, (_, next: string) => escapes[next] ?? next);
}

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** How far a bracket is looked for: many that nothing closes must not make the search slow. */
const farthest = 20_000;

/** The place of the bracket that closes the one at `open`; without one, the farthest place that was read. */
export function findClosing({ code }: Scanned, open: number): number {
  const stack: string[] = [];
  const limit = Math.min(code.length, open + farthest);
  for (let index = open; index < limit; index++) {
    const character = code.charAt(index);
    const closer = closers[character];
    if (closer !== undefined) stack.push(closer);
    else if (character === stack.at(-1)) stack.pop();
    if (stack.length === 0) return index;
  }
  return limit;
}

/** The parts of a range that commas separate; commas in brackets do not count. */
export function splitRange(scanned: Scanned, [from, to]: Range): readonly Range[] {
  const ranges: Range[] = [];
  let start = from;
  for (let index = from; index <= to; index++) {
    const character = scanned.code.charAt(index);
    if (index === to || character === ",") {
      const range = trim(scanned, [start, index]);
      if (range[0] < range[1]) ranges.push(range);
      start = index + 1;
    } else if (closers[character] !== undefined) index = Math.min(findClosing(scanned, index), to - 1);
  }
  return ranges;
}

/** A range without the blanks and comments around it. */
function trim({ code }: Scanned, [from, to]: Range): Range {
  const inside = code.slice(from, to);
  const start = from + inside.length - inside.trimStart().length;
  return [start, Math.max(start, from + inside.trimEnd().length)];
}

/** The arguments of the calls of a function, found by the pattern for what stands before the parenthesis. */
export function findCalls(
  scanned: Scanned,
  before: RegExp,
): readonly { readonly start: number; readonly end: number; readonly args: readonly Range[] }[] {
  return Array.from(scanned.code.matchAll(before), ({ index, 0: found }) => {
    const open = index + found.length - 1;
    const end = findClosing(scanned, open);
    return { start: index, end, args: splitRange(scanned, [open + 1, end]) };
  });
}

const words: Readonly<Record<string, JsonValue>> = {
  true: true,
  false: false,
  TRUE: true,
  FALSE: false,
  True: true,
  False: false,
  $true: true,
  $false: false,
  null: null,
  NULL: null,
  $null: null,
  nil: null,
  None: null,
};

/** The value of a range: a text, a number, a word, or a list of them as `[…]`, `{…}`, `c(…)`, `@(…)`, `array(…)`. */
export function readRange(scanned: Scanned, range: Range): Literal {
  const [from, to] = trim(scanned, range);
  const code = scanned.code.slice(from, to);
  const piece = scanned.pieces.find(({ kind, start }) => kind === "string" && start === from);
  if (piece !== undefined) return piece.end === to ? { kind: "value", value: piece.text } : { kind: "unknown" };
  if (/^-?\d[\d_]*(?:\.\d+)?L?$/u.test(code)) return { kind: "value", value: Number(code.replaceAll(/[_L]/gu, "")) };
  if (Object.hasOwn(words, code)) return { kind: "value", value: words[code] ?? null };
  const list = /^(?:c|list|array|@)?[([{]/u.exec(code)?.[0];
  if (list !== undefined && findClosing(scanned, from + list.length - 1) === to - 1) {
    const items = splitRange(scanned, [from + list.length, to - 1]);
    return { kind: "list", items: items.map((item) => readRange(scanned, item)) };
  }
  return /^[\w:.$@]+$/u.test(code) ? { kind: "name", name: code } : { kind: "unknown" };
}
