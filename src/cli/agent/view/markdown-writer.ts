import type { Style } from "../../terminal.ts";
import type { AnswerWriter } from "./answer-writer.ts";
import { createWordWrapper, type WordWrapper } from "./wrap-words.ts";

/** How an answer in Markdown is written. */
export interface MarkdownWriterOptions {
  readonly print: (text: string) => void;
  /** Makes text from elsewhere harmless. */
  readonly toShown: (text: string) => string;
  readonly style: (style: Style, text: string) => string;
  readonly columns: number;
}

/**
 * Makes a writer that shows Markdown as it is meant, while it arrives: headings, lists, quotes, code, emphasis and links. A mark without
 * its other half is shown as it is. Text wraps at words; code and tables do not.
 */
export function createMarkdownWriter(options: MarkdownWriterOptions): AnswerWriter {
  const writer = new MarkdownWriter(options);
  return { write: (piece) => writer.write(piece), endLine: () => writer.endLine() };
}

/** A line of one of these kinds is shown whole, and the others word by word. */
type Block = "code" | "fence" | "heading" | "rule" | "table" | "text";

/** What a line may begin with; the rest of a line decides nothing. */
const fence = /^\s{0,3}(?:`{3,}|~{3,})/u;
const heading = /^\s{0,3}#{1,6}\s+(?=\S)/u;
const rule = /^\s{0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/u;
const listMark = /^(\s*)([-*+]|\d{1,9}[.)])\s+(?=\S)/u;
const quoteMark = /^\s{0,3}>\s?/u;
/** The longest beginning that can still become one of these. */
const undecided = /^\s*(?:[-*_+`~#>|]|\d{1,9}[.)]?)?[-*_`~#\s]*$/u;

const deepestQuote = 8;
/** Half a mark waits for its other half, but not longer. */
const longestSpan = 400;

class MarkdownWriter {
  readonly #options: MarkdownWriterOptions;
  readonly #words: WordWrapper;
  /** What of the line was not shown yet. */
  #held = "";
  /** The kind of the line, once it is known. */
  #block: Block | undefined;
  #isInFence = false;
  #blanks = "";

  constructor(options: MarkdownWriterOptions) {
    this.#options = options;
    this.#words = createWordWrapper(options);
  }

  write(piece: string): void {
    this.#held += piece;
    for (;;) {
      const end = this.#held.indexOf("\n");
      if (end === -1) break;
      const line = this.#held.slice(0, end).replace(/\r$/u, "");
      this.#held = this.#held.slice(end + 1);
      this.#show(line, true);
      this.#endBlock();
    }
    if (this.#held !== "") this.#held = this.#show(this.#held, false);
  }

  endLine(): void {
    const line = this.#held.replace(/\r$/u, "");
    this.#held = "";
    if (line === "" && !this.#words.isLineOpen) return;
    this.#show(line, true);
    this.#endBlock();
  }

  #endBlock(): void {
    this.#words.endLine();
    this.#block = undefined;
    this.#blanks = "";
  }

  /** Shows what can be shown of a line, or of the rest of one; answers with what must wait. */
  #show(text: string, isWhole: boolean): string {
    if (this.#block === undefined) {
      const rest = this.#begin(text, isWhole);
      if (rest === undefined) return text;
      text = rest;
    }
    if (this.#block === "text") return this.#showWords(text, isWhole);
    if (!isWhole) return text;
    this.#showLine(text);
    return "";
  }

  /** Finds the kind of a line, and shows what it begins with; `undefined` if more of it is needed. */
  #begin(line: string, isWhole: boolean): string | undefined {
    if (!isWhole && (line.endsWith("\r") || undecided.test(line))) return undefined;
    if (fence.test(line)) {
      this.#block = "fence";
      return line;
    }
    if (this.#isInFence) this.#block = "code";
    else if (heading.test(line)) this.#block = "heading";
    else if (rule.test(line)) this.#block = "rule";
    else if (/^\s*\|/u.test(line)) this.#block = "table";
    else {
      this.#block = "text";
      return this.#beginText(line);
    }
    return line;
  }

  #beginText(line: string): string {
    const { style } = this.#options;
    let rest = line;
    for (let depth = 0; depth < deepestQuote; depth++) {
      const quote = quoteMark.exec(rest);
      if (quote === null) break;
      this.#words.word("", "│ ", style("dim", "│ "));
      this.#words.indent += style("dim", "│ ");
      rest = rest.slice(quote[0].length);
    }
    const item = listMark.exec(rest);
    if (item === null) return rest;
    const [whole, indent = "", mark = ""] = item;
    const shown = /^\d/u.test(mark) ? mark : "•";
    this.#words.word(toBlanks(indent), `${shown} `, style("dim", `${shown} `));
    this.#words.indent += " ".repeat(indent.length + shown.length + 1);
    return rest.slice(whole.length);
  }

  #showLine(line: string): void {
    const { print, style, toShown, columns } = this.#options;
    if (this.#block === "fence") {
      this.#isInFence = !this.#isInFence;
      return print(style("dim", toShown(line)));
    }
    if (this.#block === "rule") return print(style("dim", "─".repeat(Math.min(columns, 40))));
    if (this.#block === "code") return print(style("cyan", toShown(line)));
    if (this.#block === "table") return print(toShown(line));
    this.#showWords(line.replace(heading, "").replace(/\s+#+\s*$/u, ""), true, "bold");
  }

  /** Shows whole words and whole spans; answers with what may still grow. */
  #showWords(text: string, isWhole: boolean, base?: Style): string {
    let rest = text;
    while (rest !== "") {
      const [blanks] = /^\s*/u.exec(rest) as RegExpExecArray;
      const from = rest.slice(blanks.length);
      if (from === "") {
        this.#blanks += toBlanks(blanks);
        return "";
      }
      const part = takePart(from);
      const isDone = isWhole || part.isDone;
      if (!isDone && from.length < longestSpan) return rest;
      this.#blanks += toBlanks(blanks);
      for (const span of part.spans) this.#showSpan(span, base);
      rest = from.slice(part.length);
    }
    return "";
  }

  #showSpan({ text, style }: Span, base: Style | undefined): void {
    const { toShown } = this.#options;
    const styles = [base, style].filter((each) => each !== undefined).flat();
    for (const [, blanks = "", word = ""] of toShown(text).matchAll(/(\s*)(\S+)/gu)) {
      const styled = styles.length === 0 ? word : this.#options.style(styles, word);
      this.#words.word(this.#blanks + toBlanks(blanks), word, styled);
      this.#blanks = "";
    }
  }
}

/** A piece of text with one style. */
interface Span {
  readonly text: string;
  readonly style?: Style;
}

/** A word, with what is marked in it. */
interface Part {
  readonly spans: readonly Span[];
  readonly length: number;
  /** Nothing that comes later changes it. */
  readonly isDone: boolean;
}

/** The marks that have another half: the mark, what stands between, and how it is shown. */
const spans: readonly (readonly [pattern: RegExp, toSpans: (match: RegExpExecArray) => readonly Span[]])[] = [
  [
    /^(`+)(?!`)(.+?)(?<!`)\1(?!`)/u,
    ([, , code = ""]) => [{ text: code.trim() === "" ? code : code.trim(), style: "cyan" }],
  ],
  [/^(\*\*|__)(?=\S)(.+?)(?<=\S)\1(?!\.?[\p{L}\p{N}])/u, ([, , text = ""]) => [{ text, style: "bold" }]],
  [/^([*_])(?![\s*_])(.+?)(?<![\s*_])\1(?![\p{L}\p{N}])/u, ([, , text = ""]) => [{ text, style: "italic" }]],
  [/^~~(?=\S)(.+?)(?<=\S)~~/u, ([, text = ""]) => [{ text, style: "strikethrough" }]],
  [
    /^!?\[([^\]\n]{1,300})\]\(([^()\s]{1,300})(?:\s+"[^"]*")?\)/u,
    ([, text = "", target = ""]) =>
      text === target
        ? [{ text, style: "underline" }]
        : [
            { text, style: "underline" },
            { text: ` (${target})`, style: "dim" },
          ],
  ],
];

const marks = /[`*_~[!]/u;

function takePart(text: string): Part {
  const found: Span[] = [];
  let at = 0;
  while (at < text.length && !/\s/u.test(text[at] ?? "")) {
    // Only so much is looked at: a mark whose other half is farther away stands for itself.
    const rest = text.slice(at, at + longestSpan);
    const marked = findSpan(rest, text[at - 1]);
    if (marked !== undefined) {
      found.push(...marked.spans);
      at += marked.length;
      continue;
    }
    // A mark may still find its other half.
    if (marks.test(rest[0] ?? "") && isOpening(rest, text[at - 1])) {
      return { spans: [...found, { text: plainWord(rest) }], length: at + plainWord(rest).length, isDone: false };
    }
    const [plain = rest[0] ?? ""] = /^[^\s`*_~[!]+/u.exec(rest) ?? [];
    found.push({ text: plain });
    at += plain.length;
  }
  return { spans: found, length: at, isDone: at < text.length };
}

/** Some blanks move the cursor, or end a line. */
function toBlanks(blanks: string): string {
  return " ".repeat(blanks.length);
}

function plainWord(text: string): string {
  return /^\S+/u.exec(text)?.[0] ?? text;
}

function findSpan(
  text: string,
  before: string | undefined,
): { readonly spans: readonly Span[]; readonly length: number } | undefined {
  // Inside of a word an underscore is one: snake_case_name.
  if (text.startsWith("_") && before !== undefined && /[\p{L}\p{N}]/u.test(before)) return undefined;
  for (const [pattern, toSpans] of spans) {
    const match = pattern.exec(text);
    if (match !== null) return { spans: toSpans(match), length: match[0].length };
  }
  return undefined;
}

function isOpening(text: string, before: string | undefined): boolean {
  if (text.startsWith("_") && before !== undefined && /[\p{L}\p{N}]/u.test(before)) return false;
  return /^(?:`|\*{1,2}(?:\S|$)|_{1,2}(?:\S|$)|~(?:~|$)|!?\[|!$)/u.test(text);
}
