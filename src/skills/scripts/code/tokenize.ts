import { blank, classesFor, commentStart, newline, quoteStart, wordRest, wordStart } from "./character-classes.ts";
import { findExpressionEnd, findStringEnd, fromEscaped } from "./string-end.ts";
import type { StringSyntax, Syntax } from "./syntax.ts";
import type { Token } from "./token.ts";

/**
 * Cuts source text into tokens. Contract: never throws and takes linear time, also for text that is not of the language; what
 * cannot be read is stepped over character by character.
 */
export function tokenize(source: string, syntax: Syntax): Tokens {
  const tokenizer = new Tokenizer(source, syntax);
  tokenizer.run(source.length);
  return { tokens: tokenizer.tokens, comments: tokenizer.comments };
}

/** Source text in pieces. */
export interface Tokens {
  /** All but the comments. */
  readonly tokens: readonly Token[];
  readonly comments: readonly Token[];
}

const number = /(?:0[xXoObB][0-9A-Fa-f_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)n?/y;
const symbols = /===|!==|\.\.\.|=>|==|!=|&&|\|\||\?\?|\?\.|->|<-|\+\+|--|\+=|-=|:=|\/\/|<=|>=/y;

/** After these words a slash opens a regular expression. */
const beforeRegex = new Set([
  "return",
  "typeof",
  "case",
  "in",
  "of",
  "delete",
  "void",
  "throw",
  "else",
  "do",
  "await",
  "if",
  "and",
  "or",
]);

/** A regular expression that is longer is no longer looked for: hostile text must not make every slash cost a line. */
const longestRegex = 500;

/** How deep strings with code in them, in code in strings, are read. */
const deepestStrings = 3;

class Tokenizer {
  readonly tokens: Token[] = [];
  readonly comments: Token[] = [];
  readonly #classes: Uint8Array;
  readonly #source: string;
  readonly #syntax: Syntax;
  readonly #openings: ReadonlyMap<string, readonly StringSyntax[]>;
  #at = 0;
  #line = 1;
  #heredocs: string[] = [];
  #depth = 0;

  constructor(source: string, syntax: Syntax) {
    this.#source = source;
    this.#syntax = syntax;
    this.#openings = Map.groupBy(syntax.strings, (style) => style.open.charAt(0));
    this.#classes = classesFor(syntax);
  }

  /** Reads up to `end`. */
  run(end: number): void {
    while (this.#at < end) {
      const code = this.#source.charCodeAt(this.#at);
      const kind = code < 128 ? (this.#classes[code] ?? 0) : wordStart;
      if (kind === blank) this.#at += 1;
      else if ((kind & commentStart) !== 0 && this.#readComment()) continue;
      else if ((kind & newline) !== 0) this.#readNewline();
      else if ((kind & quoteStart) !== 0 && this.#readString()) continue;
      else if ((kind & wordStart) !== 0 && this.#readWord()) continue;
      else this.#readOther(this.#source.charAt(this.#at));
    }
  }

  #readNewline(): void {
    this.#at += 1;
    this.#line += 1;
    for (const mark of this.#heredocs.splice(0)) this.#readHeredoc(mark);
  }

  #readComment(): boolean {
    const source = this.#source;
    for (const [open, close] of this.#syntax.blockComments) {
      if (!source.startsWith(open, this.#at)) continue;
      const found = source.indexOf(close, this.#at + open.length);
      const end = found === -1 ? source.length : found;
      this.#push("comment", source.slice(this.#at + open.length, end), Math.min(end + close.length, source.length));
      return true;
    }
    for (const mark of this.#syntax.lineComments) {
      if (!source.startsWith(mark, this.#at)) continue;
      const found = source.indexOf("\n", this.#at);
      const end = found === -1 ? source.length : found;
      this.#push("comment", source.slice(this.#at + mark.length, end), end);
      return true;
    }
    return false;
  }

  #readString(): boolean {
    const style = this.#openings
      .get(this.#source.charAt(this.#at))
      ?.find(({ open }) => this.#source.startsWith(open, this.#at));
    if (style === undefined) return false;
    this.#readQuoted(style, this.#at, "");
    return true;
  }

  /** Reads a string whose opening quote is at `#at`; its token starts at `start`, where its prefix is. */
  #readQuoted(style: StringSyntax, start: number, prefix: string): void {
    const from = this.#at + style.open.length;
    const { end, dynamic } = findStringEnd(this.#source, style, from);
    const raw = this.#source.slice(from, end);
    const isRaw = /r/iu.test(prefix);
    const text = style.escape === undefined || isRaw ? raw : fromEscaped(raw, style.escape);
    const isDynamic = dynamic || /[ft]/iu.test(prefix);
    this.#at = start;
    const closes = this.#source.startsWith(style.close, end);
    const line = this.#line;
    this.#push("string", text, closes ? end + style.close.length : end, isDynamic);
    if (isDynamic) this.#readExpressions([from, end], style.interpolation ?? "{", line);
  }

  /** Reads the code inside a string, as if it stood in parentheses after it. */
  #readExpressions([from, to]: readonly [number, number], opener: string, line: number): void {
    if (this.#depth >= deepestStrings) return;
    const [at, lineAfter] = [this.#at, this.#line];
    this.#depth += 1;
    for (let index = this.#source.indexOf(opener, from); index !== -1 && index < to;) {
      const start = index + opener.length;
      // In Python a doubled brace is only a brace.
      const isDoubled = opener === "{" && this.#source.charAt(start) === "{";
      const end = isDoubled ? start + 1 : findExpressionEnd(this.#source, start, to);
      if (!isDoubled) this.#readExpression([start, end], line);
      index = this.#source.indexOf(opener, Math.max(end, start));
    }
    this.#depth -= 1;
    this.#at = at;
    this.#line = lineAfter;
  }

  #readExpression([start, end]: readonly [number, number], line: number): void {
    this.#line = line;
    this.tokens.push({ kind: "symbol", text: "(", line });
    this.#at = start;
    this.run(end);
    this.tokens.push({ kind: "symbol", text: ")", line });
  }

  /** Reads a word; in some languages it may turn out to be the letters before a quote. */
  #readWord(): boolean {
    const { word, prefixes } = this.#syntax;
    const prefix = prefixes === undefined ? undefined : this.#match(prefixes);
    if (prefix !== undefined) {
      this.#readPrefixed(prefix);
      return true;
    }
    if (word instanceof RegExp) {
      const name = this.#match(word);
      if (name === undefined) return false;
      this.#push("word", name, this.#at + name.length);
      return true;
    }
    let end = this.#at + 1;
    while (end < this.#source.length) {
      const code = this.#source.charCodeAt(end);
      if (code < 128 && ((this.#classes[code] ?? 0) & wordRest) === 0) break;
      end += 1;
    }
    this.#push("word", this.#source.slice(this.#at, end), end);
    return true;
  }

  #readOther(character: string): void {
    const { heredoc } = this.#syntax;
    if (heredoc !== undefined && character === "<") {
      heredoc.lastIndex = this.#at;
      const found = heredoc.exec(this.#source);
      if (found?.[1] !== undefined) {
        this.#heredocs.push(found[1]);
        this.#at += found[0].length;
        return;
      }
    }
    const digits = /\d/u.test(character) ? this.#match(number) : undefined;
    if (digits !== undefined) return this.#push("number", digits, this.#at + digits.length);
    if (character === "/" && this.#syntax.regexes && this.#opensRegex()) return this.#skipRegex();
    const symbol = this.#match(symbols) ?? character;
    this.#push("symbol", symbol, this.#at + symbol.length);
  }

  #readPrefixed(prefix: string): void {
    const start = this.#at;
    this.#at += prefix.length;
    const style = this.#openings
      .get(this.#source.charAt(this.#at))
      ?.find(({ open }) => this.#source.startsWith(open, this.#at));
    if (style !== undefined) this.#readQuoted(style, start, prefix);
  }

  #opensRegex(): boolean {
    const last = this.tokens.at(-1);
    if (last === undefined) return true;
    if (last.kind === "word") return beforeRegex.has(last.text);
    return last.kind === "symbol" && last.text !== ")" && last.text !== "]" && last.text !== "}";
  }

  #skipRegex(): void {
    let inClass = false;
    const limit = Math.min(this.#source.length, this.#at + longestRegex);
    for (let index = this.#at + 1; index < limit; index++) {
      const character = this.#source.charAt(index);
      if (character === "\n") break;
      if (character === "\\") index += 1;
      else if (character === "[") inClass = true;
      else if (character === "]") inClass = false;
      else if (character === "/" && !inClass) return this.#push("symbol", "/…/", index + 1);
    }
    this.#push("symbol", "/", this.#at + 1);
  }

  /** Reads the lines up to `mark`; they are a string. */
  #readHeredoc(mark: string): void {
    const start = this.#at;
    let lineStart = start;
    let isClosed = false;
    while (lineStart < this.#source.length && !isClosed) {
      const found = this.#source.indexOf("\n", lineStart);
      const lineEnd = found === -1 ? this.#source.length : found;
      const line = this.#source.slice(lineStart, lineEnd).trim();
      isClosed = line === mark || line === `${mark};` || line === `${mark})`;
      if (!isClosed) lineStart = lineEnd + 1;
    }
    const end = Math.min(lineStart, this.#source.length);
    if (end > start) this.#push("string", this.#source.slice(start, end), end, true);
    if (isClosed) this.#at = this.#source.indexOf(mark, end) + mark.length;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source)?.[0];
    return found === undefined || found === "" ? undefined : found;
  }

  #push(kind: Token["kind"], text: string, end: number, dynamic = false): void {
    const token: Token = dynamic ? { kind, text, line: this.#line, dynamic } : { kind, text, line: this.#line };
    if (kind === "comment") this.comments.push(token);
    else this.tokens.push(token);
    if (kind === "string" || kind === "comment") this.#line += countNewlines(this.#source.slice(this.#at, end));
    this.#at = Math.max(end, this.#at + 1);
  }
}

function countNewlines(text: string): number {
  let count = 0;
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) count += 1;
  return count;
}
