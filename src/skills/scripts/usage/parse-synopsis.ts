import type { Synopsis, UsageFlag, UsageItem, UsagePositional, UsageValue } from "./synopsis.ts";

/** What the code of a script already says about its flags. */
export type TakesValue = (flag: string) => boolean | undefined;

/** Reads what follows the program's name in a usage line, in the manner of docopt, but forgiving. */
export function parseSynopsis(text: string, takesValue: TakesValue = () => undefined): Synopsis {
  const { line, description } = splitDescription(text);
  const parser = new SynopsisParser(takesValue);
  for (const token of lexSynopsis(line).slice(0, mostTokens)) parser.take(token);
  return {
    items: joinRepeats(parser.items),
    separator: parser.separator,
    ...(description !== undefined && { description }),
  };
}

/** `PATH [PATH ...]` is one list. */
function joinRepeats(items: readonly UsageItem[]): readonly UsageItem[] {
  const isRepeat = (item: UsageItem | undefined, before: UsageItem | undefined): boolean =>
    item?.kind === "positional" && before?.kind === "positional" && item.many && item.label === before.label;
  return items
    .filter((item, index) => !isRepeat(item, items[index - 1]))
    .map((item) => (isRepeat(items[items.indexOf(item) + 1], item) ? { ...item, many: true } : item));
}

/** A longer line is not a usage line. */
const mostTokens = 200;

/** The end of a usage line and the beginning of words about it: two spaces and prose, a comment, a dash, words in brackets. */
const descriptionStart =
  /\s{2,}(?=\([^|<>[\]]{1,200}\)\s*$)|\s(?=\([^|<>[\]]{0,100}\b(?:stdin|standard input|default|optional|required)\b)|(?<=[>\]])\s(?=[A-Z][a-z]+ [a-z]{2,}\b)|\s{2,}(?=[A-Z#(–—-](?![A-Z_-]*(?:\s|$|\]))|\p{Lo}|[a-z]+ [a-z]+ )|\s+#\s+|\s+[–—→]\s+|\s+-\s+(?=\p{L})/u;

function splitDescription(text: string): { line: string; description?: string } {
  // A line that has nothing but words about itself.
  if (/^\s*(?:[-–—#→]|=>)\s/u.test(text)) return { line: "", description: text.replace(/^[\s#–—→=>-]+/u, "") };
  const found = descriptionStart.exec(text);
  if (found === null || found.index === 0) return { line: text };
  const description = text.slice(found.index + found[0].length).replace(/^[#\s–—-]+/u, "");
  return { line: text.slice(0, found.index), ...(description !== "" && { description }) };
}

/** Flags that hardly ever have a value: the word after one of them is a positional. */
const usualSwitch =
  /^--?(?:v|vv|q|f|y|verbose|quiet|force|json|dry-?run|debug|all|recursive|yes|watch|no-[\w-]+|help|raw|overwrite)$/u;

const kindWords =
  /^(?:file|path|dir|directory|folder|url|uri|id|name|email|num|number|string|str|int|value|key|token|date|day|time|query|user|pattern|glob|n|stdin|regex|sha|ref|branch|tag|slug|title|port|host|ip|domain|\w+[-_ ](?:file|path|dir|id|name|url|number)|\w+\.\w+)$/iu;

type Mutable<Item> = { -readonly [Key in keyof Item]: Item[Key] };

/** The flag that the next word may be the value of, and how deep in brackets it stands. */
interface OpenFlag {
  readonly flag: Mutable<UsageFlag>;
  readonly depth: number;
  readonly joined: boolean;
}

class SynopsisParser {
  readonly items: UsageItem[] = [];
  separator = false;
  readonly #takesValue: TakesValue;
  #depth = 0;
  /** Counts opening brackets, so that words of one pair of them can be told. */
  #bracket = 0;
  #wordBracket = -1;
  #pendingOr = false;
  #open: OpenFlag | undefined;

  constructor(takesValue: TakesValue) {
    this.#takesValue = takesValue;
  }

  take(token: UsageToken): void {
    switch (token.kind) {
      case "open":
        return this.#enter(token);
      case "close":
        return this.#leave(token);
      case "or":
        this.#pendingOr = true;
        return;
      case "dots":
        return this.#repeat();
      case "separator":
        this.separator = true;
        return this.#closeFlag();
      case "flag":
        return this.#takeFlag(token.text);
      case "placeholder":
      case "choice":
      case "quoted":
      case "word":
        return this.#takeWord(token);
    }
  }

  #enter(token: UsageToken): void {
    if (token.text === "[") this.#depth += 1;
    this.#bracket += 1;
    if (!token.glued) this.#closeFlag();
  }

  #leave(token: UsageToken): void {
    if (token.text === "]") this.#depth = Math.max(0, this.#depth - 1);
    if (this.#open !== undefined && this.#depth < this.#open.depth) this.#closeFlag();
  }

  #closeFlag(): void {
    this.#open = undefined;
  }

  #last(): Mutable<UsageItem> | undefined {
    return this.items.at(-1);
  }

  #repeat(): void {
    const last = this.#last();
    if (last !== undefined) last.many = true;
  }

  #takeFlag(text: string): void {
    const joined = text.endsWith("=");
    const name = joined ? text.slice(0, -1) : text;
    const last = this.items.at(-1);
    if (this.#pendingOr && last?.kind === "flag" && last.value === undefined && isOtherSpelling(last.flags, name)) {
      const flag: Mutable<UsageFlag> = { ...last, flags: [...last.flags, name], joined: last.joined || joined };
      this.items[this.items.length - 1] = flag;
      this.#open = { flag, depth: this.#depth, joined };
    } else {
      if (this.#pendingOr) this.#loosenLast();
      const required = this.#depth === 0 && !this.#pendingOr;
      const flag: Mutable<UsageFlag> = { kind: "flag", flags: [name], required, many: false, joined };
      this.items.push(flag);
      this.#open = { flag, depth: this.#depth, joined };
    }
    this.#pendingOr = false;
  }

  /** `<file> | --all`: neither is needed by itself. */
  #loosenLast(): void {
    const last = this.#last();
    if (last !== undefined) last.required = false;
  }

  #takeWord(token: UsageToken): void {
    // `FILE|-`: a file, or standard input.
    if (token.text === "-" && this.#pendingOr) {
      this.#pendingOr = false;
      return;
    }
    if (token.kind === "word" && /^[=,/;:]+$/u.test(token.text)) {
      // `-o, --out` and `-o/--out` are two spellings of one flag.
      if (/[,/]/u.test(token.text) && this.items.at(-1)?.kind === "flag") this.#pendingOr = true;
      return;
    }
    const opened = this.#open;
    if (this.#pendingOr && this.#addChoice(token)) return;
    if (opened !== undefined && this.#isValue(opened, token)) {
      opened.flag.value = this.#toValue(token, opened);
      if (!this.#pendingOr) this.#closeFlag();
      return;
    }
    this.#closeFlag();
    if (this.#pendingOr) this.#loosenLast();
    this.#pushPositional(token);
    this.#pendingOr = false;
  }

  #isValue(opened: OpenFlag, token: UsageToken): boolean {
    if (opened.joined || (token.glued && token.text.startsWith("="))) return true;
    if (opened.flag.value !== undefined || (this.#depth < opened.depth && this.#depth === 0)) return false;
    const known = opened.flag.flags.map(this.#takesValue).find((takes) => takes !== undefined);
    if (known !== undefined) return known;
    if (token.kind !== "word" || isPlaceholderWord(token.text)) return true;
    return !opened.flag.flags.some((flag) => usualSwitch.test(flag));
  }

  #toValue(token: UsageToken, { depth }: OpenFlag): UsageValue {
    const text = token.text.replace(/^=/u, "");
    const choices = toChoices(token.kind, text);
    const optional = this.#depth > depth;
    return { label: toLabel(text), ...(choices && { choices }), ...(optional && { optional: true }) };
  }

  /** `a|b|c`: each further word is one more choice of the last item. */
  #addChoice(token: UsageToken): boolean {
    const last = this.items.at(-1);
    if (last === undefined) return false;
    const before = last.kind === "flag" ? last.value : this.#isChoice(last, token) ? last : undefined;
    if (before === undefined) return false;
    const words = [
      ...(before.choices ?? [before.label]),
      ...(toChoices(token.kind, token.text) ?? [toLabel(token.text)]),
    ];
    const choices = words.every((word) => kindWords.test(word)) ? undefined : words;
    const changed = { ...before, label: choices ? before.label : words.join(" or "), ...(choices && { choices }) };
    this.items[this.items.length - 1] =
      last.kind === "flag" ? { ...last, value: changed } : (changed as UsagePositional);
    this.#pendingOr = false;
    return true;
  }

  /** Whether a word after `|` is one more of what a positional can be; in brackets, `[strict|loose]`, that is plain words only. */
  #isChoice({ label, bare, choices }: UsagePositional, token: UsageToken): boolean {
    if (bare || choices !== undefined) return true;
    const isPlain = (word: string): boolean => plainWord.test(word) && !kindWords.test(word);
    return this.#depth > 0 && token.kind === "word" && isPlain(label) && isPlain(token.text);
  }

  /** `[input pdf]` is one placeholder of two words. */
  #joinWords(token: UsageToken): boolean {
    const last = this.#last();
    const isSame =
      token.kind === "word" && this.#depth > 0 && this.#wordBracket === this.#bracket && bracketWord.test(token.text);
    this.#wordBracket = this.#depth > 0 && token.kind === "word" ? this.#bracket : -1;
    if (!isSame || last?.kind !== "positional" || !/^[a-z\d. ]+$/u.test(last.label)) return false;
    last.label = `${last.label} ${token.text}`;
    return true;
  }

  #pushPositional(token: UsageToken): void {
    const many = /(?:\.{3}|…)$/u.test(token.text);
    const text = token.text.replace(/\s*(?:\.{3}|…)$/u, "");
    if (/^(?:options?|flags?|opts?|参数|选项)$/iu.test(text) && token.kind !== "quoted") return;
    if (this.#joinWords(token)) return;
    const choices = toChoices(token.kind, text);
    const bare = token.kind === "word" && !isPlaceholderWord(text) && this.#depth === 0;
    const required = this.#depth === 0 && !this.#pendingOr;
    this.items.push({ kind: "positional", label: toLabel(text), required, many, bare, ...(choices && { choices }) });
  }
}

/** Words such as `input pdf`, and such as `fields.json` in brackets. */
const plainWord = /^[a-z][a-z]*$/u;
const bracketWord = /^[a-z][a-z\d]*(?:\.[a-z\d]+)?$/u;

function isOtherSpelling(flags: readonly string[], flag: string): boolean {
  // `-o | --out` are two spellings; `--json | --csv` are two flags.
  return flags.every((known) => known.startsWith("--") !== flag.startsWith("--"));
}

/** `FILE`, `N`, `KEY=VALUE`: upper case is a placeholder by custom. */
function isPlaceholderWord(text: string): boolean {
  return /^[A-Z][A-Z0-9_:./=-]*$/u.test(text);
}

function toLabel(text: string): string {
  const name = text.replace(/\s*(?:\||\/|\bor\b)\s*-\s*$/u, "");
  return name.trim().replaceAll(/^[<[{"'$]+|[>\]}"',:]+$/gu, "");
}

/** Literal choices. Alternatives in angle brackets are more often kinds of value (`<path|url>`), so those are not. */
function toChoices(kind: UsageToken["kind"], text: string): readonly string[] | undefined {
  if (kind !== "choice" && kind !== "placeholder") return undefined;
  const words = text
    .replace(/\s*\|\s*-\s*$/u, "")
    .split(kind === "choice" ? /\s*[,|]\s*/u : /\s*[|/]\s*/u)
    .map((word) => word.trim());
  if (words.length < 2 || words.some((word) => !/^[\w.:+-]+$/u.test(word))) return undefined;
  return kind === "placeholder" && words.some((word) => kindWords.test(word)) ? undefined : words;
}

/** A piece of a usage line before it has a meaning. */
export interface UsageToken {
  readonly kind: "open" | "close" | "or" | "dots" | "placeholder" | "choice" | "quoted" | "flag" | "word" | "separator";
  readonly text: string;
  /** No space before it. */
  readonly glued: boolean;
}

const pieces =
  /(?<space>\s+)|(?<open>[[(])|(?<close>[\])])|(?<or>\||｜|\/(?=-))|(?<dots>\.{3}|…)|<(?<placeholder>[^<>\n]{1,80})>|\{(?<choice>[^{}\n]{1,200})\}|"(?<double>[^"\n]{0,200})"|'(?<single>[^'\n]{0,200})'|(?<separator>--(?=[\s\])]|$))|(?<flag>--?[A-Za-z?@][\w.-]*=?)|(?<word>(?:[^\s[\]()|｜{}<>"'.…]|\.(?!\.\.))+)|(?<other>.)/gu;

/** Cuts a usage line, from after the program's name on, into tokens. */
function lexSynopsis(line: string): readonly UsageToken[] {
  const tokens: UsageToken[] = [];
  let glued = false;
  for (const match of line.matchAll(pieces)) {
    const groups = match.groups ?? {};
    if (groups["space"] !== undefined) {
      glued = false;
      continue;
    }
    const token = toToken(groups, glued);
    // A lone "<" or ">" is a redirection, and what follows belongs to the shell.
    if (token === undefined) {
      if (/[<>]/u.test(match[0])) break;
      continue;
    }
    tokens.push(token);
    glued = true;
  }
  return tokens;
}

const plainKinds = ["open", "close", "or", "dots", "placeholder", "choice", "separator", "flag", "word"] as const;

function toToken(groups: Readonly<Record<string, string | undefined>>, glued: boolean): UsageToken | undefined {
  const quoted = groups["double"] ?? groups["single"];
  if (quoted !== undefined) return { kind: "quoted", text: quoted, glued };
  const kind = plainKinds.find((name) => groups[name] !== undefined);
  if (kind === undefined) return undefined;
  return { kind, text: groups[kind] ?? "", glued };
}
