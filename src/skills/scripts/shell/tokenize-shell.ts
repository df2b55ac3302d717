import { scanWord } from "./scan-word.ts";

/** A piece of a shell script. */
export interface ShellToken {
  /** `end` is a line end or `;`; `operator` is any other operator. */
  readonly kind: "word" | "operator" | "end";
  /** As written, with its quotes. */
  readonly text: string;
  /** Counts from 1. */
  readonly line: number;
}

/** A shell script in pieces. */
export interface ShellTokens {
  readonly tokens: readonly ShellToken[];
  /** Comments, each block of lines as one text. */
  readonly comments: readonly { readonly text: string; readonly line: number }[];
  readonly heredocs: readonly string[];
}

/** After so many quotes that nothing closes, the text is not a shell script. */
const mostUnclosed = 20;

/** Cuts a shell script into tokens. Contract: never throws, and takes linear time, for any text. */
export function tokenizeShell(source: string): ShellTokens {
  const tokenizer = new ShellTokenizer(source);
  tokenizer.run();
  return { tokens: tokenizer.tokens, comments: tokenizer.comments, heredocs: tokenizer.heredocs };
}

const operators = /;;&|;;|;&|&&|\|\||\|&|<<<|<<-?|>>|>&|<&|&>>?|<>|>\||[()|&<>]/y;
const heredocMark = /[ \t]*(?:'([^'\n]{1,80})'|"([^"\n]{1,80})"|\\?([A-Za-z_][\w-]{0,80}))/y;

class ShellTokenizer {
  readonly tokens: ShellToken[] = [];
  readonly comments: { text: string; line: number }[] = [];
  readonly heredocs: string[] = [];
  readonly #source: string;
  #at = 0;
  #line = 1;
  #lastCommentLine = -1;
  #pendingHeredocs: string[] = [];
  #unclosed = 0;

  constructor(source: string) {
    this.#source = source;
  }

  run(): void {
    while (this.#at < this.#source.length) {
      const character = this.#source.charAt(this.#at);
      if (character === " " || character === "\t" || character === "\r") this.#at += 1;
      else if (character === "\n") this.#readNewline();
      else if (character === "#") this.#readComment();
      else if (this.#source.startsWith("\\\n", this.#at)) {
        this.#at += 2;
        this.#line += 1;
      } else if (character === ";" && !/^;[;&]/u.test(this.#source.slice(this.#at, this.#at + 2))) {
        this.#push("end", ";", this.#at + 1);
      } else if (!this.#readOperator()) this.#readWord();
    }
  }

  #push(kind: ShellToken["kind"], text: string, end: number): void {
    this.tokens.push({ kind, text, line: this.#line });
    this.#at = end;
  }

  #readNewline(): void {
    this.#push("end", "\n", this.#at + 1);
    this.#line += 1;
    for (const mark of this.#pendingHeredocs.splice(0)) this.#readHeredoc(mark);
  }

  #readComment(): void {
    const found = this.#source.indexOf("\n", this.#at);
    const end = found === -1 ? this.#source.length : found;
    const text = this.#source.slice(this.#at + 1, end);
    const last = this.comments.at(-1);
    if (last !== undefined && this.#lastCommentLine === this.#line - 1) last.text += `\n${text}`;
    else if (!text.startsWith("!")) this.comments.push({ text, line: this.#line });
    this.#lastCommentLine = this.#line;
    this.#at = end;
  }

  #readOperator(): boolean {
    operators.lastIndex = this.#at;
    const text = operators.exec(this.#source)?.[0];
    if (text === undefined) return false;
    this.#push("operator", text, this.#at + text.length);
    if (text === "<<" || text === "<<-") {
      heredocMark.lastIndex = this.#at;
      const found = heredocMark.exec(this.#source);
      const mark = found?.[1] ?? found?.[2] ?? found?.[3];
      if (found !== null && mark !== undefined) {
        this.#pendingHeredocs.push(mark);
        this.#at += found[0].length;
      }
    }
    return true;
  }

  #readHeredoc(mark: string): void {
    const lines: string[] = [];
    while (this.#at < this.#source.length) {
      const found = this.#source.indexOf("\n", this.#at);
      const end = found === -1 ? this.#source.length : found;
      const line = this.#source.slice(this.#at, end);
      this.#at = end + 1;
      this.#line += 1;
      if (line.trim() === mark) break;
      lines.push(line);
    }
    this.heredocs.push(lines.join("\n"));
  }

  #readWord(): void {
    const end = this.#findWordEnd();
    const text = this.#source.slice(this.#at, end);
    const line = this.#line;
    for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) this.#line += 1;
    this.tokens.push({ kind: "word", text, line });
    this.#at = end;
  }

  #findWordEnd(): number {
    const scanned = this.#unclosed > mostUnclosed ? { end: 0, closed: false } : scanWord(this.#source, this.#at);
    if (!scanned.closed) return this.#findLineEnd();
    const { end } = scanned;
    // An array is one word with its assignment: `FILES+=("$2")`.
    if (this.#source.charAt(end) === "(" && this.#source.charAt(end - 1) === "=") return this.#findArrayEnd(end);
    return Math.max(end, this.#at + 1);
  }

  /** For a quote that nothing closes: most likely it was not one, so it ends with its line. */
  #findLineEnd(): number {
    this.#unclosed += 1;
    const found = this.#source.indexOf("\n", this.#at);
    return found === -1 ? this.#source.length : Math.max(found, this.#at + 1);
  }

  #findArrayEnd(open: number): number {
    const limit = Math.min(this.#source.length, open + longestArray);
    let quote = "";
    for (let index = open + 1; index < limit; index++) {
      const character = this.#source.charAt(index);
      if (quote !== "") quote = character === quote ? "" : quote;
      else if (character === '"' || character === "'") quote = character;
      else if (character === ")") return index + 1;
    }
    return limit;
  }
}

const longestArray = 4000;
