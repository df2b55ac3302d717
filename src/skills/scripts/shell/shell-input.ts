import { childOf, type SyntaxNode } from "../syntax/parse.ts";

/**
 * Tells whether a shell script hands its own standard input on to a program that reads it: `sort | uniq -c`, `text=$(cat)`,
 * `grep ERROR`, `awk '…' "${1:-/dev/stdin}"`. A program reads it if nothing else is fed to it and it is given no file.
 */
export function readsInput(source: string, root: SyntaxNode): boolean {
  const reader = new InputReader(source);
  return reader.reads(root);
}

/** How a program that filters text is called. */
interface Filter {
  /** How many words come before its files. @default 0 */
  readonly words?: number;
  /** Flags with which those words are given, so that only files follow. */
  readonly instead?: RegExp;
  /** Flags whose value is the next word. */
  readonly valued?: RegExp;
  /** Flags with which it reads nothing. */
  readonly silent?: RegExp;
  /** It takes no files at all. */
  readonly always?: true;
}

const grep: Filter = {
  words: 1,
  instead: /^(?:-e|-f|--regexp|--file)/u,
  valued: /^-(?:[efmABC]|-regexp|-file|-max-count)$/u,
  silent: /^-\w*[rR]|^--recursive/u,
};
const awk: Filter = { words: 1, instead: /^-f/u, valued: /^-[vFf]$/u };
const sum: Filter = { silent: /^(?:-c|--check)$/u };
const lines: Filter = { always: true, silent: /^-u/u };
const plain: Filter = {};

/** Programs that read standard input if they are given no file. */
const filters: Readonly<Record<string, Filter>> = {
  ...{ cat: plain, rev: plain, tac: plain, wc: plain, expand: plain, unexpand: plain, column: { valued: /^-[sco]$/u } },
  ...{ sort: { valued: /^-(?:[ktoST]|-key|-field-separator|-output)$/u }, uniq: { valued: /^-[fsw]$/u } },
  ...{ fold: { valued: /^-w$/u }, fmt: { valued: /^-[wgp]$/u }, nl: { valued: /^-[bdfhilnsvw]$/u } },
  ...{ head: { valued: /^-[nc]$/u }, tail: { valued: /^-[nc]$/u }, cut: { valued: /^-[dfbc]$/u } },
  ...{ grep, egrep: grep, fgrep: grep, awk, gawk: awk, mawk: awk },
  sed: { words: 1, instead: /^(?:-e|-f|--expression|--file)/u, valued: /^-[ef]$/u },
  jq: {
    words: 1,
    instead: /^(?:-f|--from-file)/u,
    valued: /^(?:-f|--from-file|--indent)$/u,
    silent: /^(?:-\w*n\w*|--null-input)$/u,
  },
  ...{ tr: { always: true }, tee: { always: true }, xargs: { always: true } },
  ...{ base64: { valued: /^-w$/u }, md5sum: sum, sha1sum: sum, sha256sum: sum, shasum: { ...sum, valued: /^-a$/u } },
  ...{ xxd: plain, od: { valued: /^-[AtNj]$/u }, iconv: { valued: /^-[ft]$/u }, pandoc: { valued: /^-[ftows]$/u } },
  // What is asked with a prompt is a question to a person.
  ...{ read: { always: true, silent: /^-\w*[pu]/u }, mapfile: lines, readarray: lines },
};

/** Options of `jq` that take two words. */
const pairs = /^--(?:arg|argjson|slurpfile|rawfile)$/u;

/** One-line programs that read standard input. */
const inlineReads: readonly (readonly [program: RegExp, flag: RegExp, code: RegExp])[] = [
  [/^python[\d.]*$/u, /^-\w*c$/u, /\bstdin\b|\bopen\(0\b|(?<![.\w])input\(\)/u],
  [/^node$/u, /^(?:-e|-p|-pe|--eval|--print)$/u, /\bstdin\b|readFileSync\(\s*(?:0|["']\/dev\/stdin)/u],
  [/^ruby$/u, /^-\w*e$/u, /\b(?:STDIN|ARGF|gets)\b|\$stdin/u],
  [/^perl$/u, /^-\w*e$/u, /STDIN|<>/u],
];
/** `perl -ne`, `ruby -pe`: they read each line. */
const eachLine = /^-(?=\w*[np])\w*e$/u;

/** Words in front of a program that start it. */
const starters = /^(?:command|exec|time|nice|nohup|stdbuf|env|builtin)$/u;

class InputReader {
  readonly #source: string;
  /** The bodies of functions, which read what their caller feeds them. */
  readonly #functions = new Map<string, SyntaxNode>();
  readonly #entered = new Set<string>();

  constructor(source: string) {
    this.#source = source;
  }

  reads(root: SyntaxNode): boolean {
    const pending = [root];
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      for (const child of node.children) pending.push(child);
      const [name, body] = [childOf(node, "name"), childOf(node, "body")];
      if (node.type === "function_definition" && name !== undefined && body !== undefined)
        this.#functions.set(this.#textOf(name), body);
    }
    return this.#visit(root);
  }

  /** Whether something below a node reads what the node is fed. */
  #visit(node: SyntaxNode): boolean {
    switch (node.type) {
      case "function_definition":
      case "heredoc_body":
      case "comment":
        return false;
      case "pipeline":
        return this.#visitFirst(node);
      case "redirected_statement":
        return this.#visitRedirected(node);
      case "command":
        return this.#readsAt(node);
      default:
        return node.children.some((child) => this.#visit(child));
    }
  }

  /** What follows in a pipeline is fed by what is before it. */
  #visitFirst(node: SyntaxNode): boolean {
    const first = node.children.find(({ named }) => named);
    return first !== undefined && this.#visit(first);
  }

  #visitRedirected(node: SyntaxNode): boolean {
    const body = childOf(node, "body");
    if (body === undefined) return false;
    // `a | b < file` feeds the last one.
    return (body.type === "pipeline" || !this.#isFed(node)) && this.#visit(body);
  }

  #isFed(node: SyntaxNode): boolean {
    return node.children.some(
      ({ type, start }) =>
        type === "heredoc_redirect" ||
        type === "herestring_redirect" ||
        (type === "file_redirect" && /^0?<(?!&)/u.test(this.#source.slice(start, start + 3))),
    );
  }

  #readsAt(command: SyntaxNode): boolean {
    if (this.#isFed(command)) return false;
    if (command.children.some(({ children }) => children.some((child) => this.#visitSubstitution(child)))) return true;
    if (command.children.some((child) => this.#visitSubstitution(child))) return true;
    const words = command.children
      .filter(({ type }) => type !== "variable_assignment" && !type.endsWith("redirect"))
      .map((child) => this.#textOf(child));
    while (starters.test(words[0] ?? "")) words.shift();
    const [name = "", ...argv] = words;
    return this.#entersFunction(name) || readsWith(unquoteWord(name).replace(/^.*\//u, ""), argv);
  }

  /** `$(cat)` reads what the command around it would read. */
  #visitSubstitution(node: SyntaxNode): boolean {
    if (node.type === "command_substitution") return node.children.some((child) => this.#visit(child));
    return node.type === "string" && node.children.some((child) => this.#visitSubstitution(child));
  }

  #entersFunction(name: string): boolean {
    const body = this.#functions.get(name);
    if (body === undefined || this.#entered.has(name)) return false;
    this.#entered.add(name);
    return this.#visit(body);
  }

  #textOf({ start, end }: SyntaxNode): string {
    return this.#source.slice(start, end);
  }
}

function unquoteWord(word: string): string {
  return word.replaceAll(/^["']|["']$/gu, "");
}

/** Programs that are given files by other flags, of which `-` is standard input. */
const takesDash = /^(?:diff|paste|join|comm|kubectl|yq|xmllint|openssl)$/u;

/** Whether a program that nothing is fed to reads standard input with these arguments. */
function readsWith(program: string, argv: readonly string[]): boolean {
  if (readsInline(program, argv)) return true;
  const filter = Object.hasOwn(filters, program) ? filters[program] : undefined;
  if (filter === undefined) return takesDash.test(program) && argv.some((word) => isInputName(word));
  const { silent, always } = filter;
  if (argv.some((word) => silent?.test(word) === true)) return false;
  const files = filesOf(filter, argv);
  if (filter === awk && argv.some(isOnlyBegin)) return false;
  return always === true || files.length === 0 || files.some((file) => isInputName(file) || allArguments.test(file));
}

/** `BEGIN { … }` and nothing else: such a program of awk ends before it reads a line. */
function isOnlyBegin(word: string): boolean {
  const code = unquoteWord(word).trim();
  if (!/^BEGIN\s*\{/u.test(code)) return false;
  let depth = 0;
  for (const { 0: brace, index } of code.matchAll(/[{}]/gu)) {
    depth += brace === "{" ? 1 : -1;
    if (depth === 0) return index === code.length - 1;
  }
  return false;
}

/** `"$@"`: maybe no file at all. */
const allArguments = /^["']?\$(?:[@*]|\{@\})["']?$/u;

/** The words that are its files. */
function filesOf({ words = 0, instead, valued }: Filter, argv: readonly string[]): readonly string[] {
  let before = argv.some((word) => instead?.test(word) === true) ? 0 : words;
  const files: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? "";
    if (pairs.test(word)) index += 2;
    else if (valued?.test(word) === true) index += 1;
    else if (/^-./u.test(word) && !isInputName(word)) continue;
    else if (before > 0) before -= 1;
    else files.push(word);
  }
  return files;
}

/** `-`, `/dev/stdin`, and an argument that is one of them if it is not given: `"${1:--}"`. */
function isInputName(word: string): boolean {
  return /^["']?(?:-|\/dev\/stdin|\/proc\/self\/fd\/0|\$\{\w+:?-(?:-|\/dev\/stdin)\})["']?$/u.test(word);
}

function readsInline(program: string, argv: readonly string[]): boolean {
  const place = argv.findIndex((word) => /^-\w*[cep]$|^--(?:eval|print)$/u.test(word));
  const flag = argv[place] ?? "";
  const code = argv[place + 1] ?? "";
  const isLineByLine = /^(?:perl|ruby)$/u.test(program) && argv.some((word) => eachLine.test(word));
  if (isLineByLine) return argv.slice(place + 2).every((word) => isInputName(word));
  return inlineReads.some(([name, flags, reads]) => name.test(program) && flags.test(flag) && reads.test(code));
}
