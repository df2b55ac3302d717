import { tokenizeShell, type ShellToken, type ShellTokens } from "./tokenize-shell.ts";

/** A command: its words as written. */
export interface ShellCommand {
  readonly kind: "command";
  readonly words: readonly string[];
}

/** One arm of a `case`. */
export interface ShellArm {
  readonly patterns: readonly string[];
  readonly body: readonly ShellNode[];
}

/** A `case … esac`. */
export interface ShellCase {
  readonly kind: "case";
  readonly subject: string;
  readonly arms: readonly ShellArm[];
}

/** A function. */
export interface ShellFunction {
  readonly kind: "function";
  readonly name: string;
  readonly body: readonly ShellNode[];
}

/** A loop. Conditions and other groups are not kept apart: their commands stand in a row. */
export interface ShellLoop {
  readonly kind: "loop";
  /** `for`, `while` and so on, and what follows up to `do`. */
  readonly head: readonly ShellNode[];
  readonly body: readonly ShellNode[];
  /** It reads from a file or another program: `done < file`. */
  readonly redirected: boolean;
}

/** A piece of a shell script that means something to us. */
export type ShellNode = ShellCommand | ShellCase | ShellFunction | ShellLoop;

/** A shell script, roughly understood. */
export interface ShellScript extends ShellTokens {
  readonly nodes: readonly ShellNode[];
}

/** Reads a shell script. Contract: never throws; what is not understood is a command like any other. */
export function parseShell(source: string): ShellScript {
  const tokens = tokenizeShell(source);
  const parser = new ShellParser(tokens.tokens);
  return { ...tokens, nodes: parser.parseBlock(() => false, 0) };
}

/** Deeper than this, blocks are read as if they were not there. */
const deepest = 60;

const skipped = new Set(["if", "then", "else", "elif", "fi", "{", "}", "!", "time", "do", "done"]);
const loops = new Set(["for", "while", "until", "select"]);
const armEnds = new Set([";;", ";&", ";;&"]);

type IsEnd = (token: ShellToken) => boolean;

class ShellParser {
  readonly #tokens: readonly ShellToken[];
  #at = 0;

  constructor(tokens: readonly ShellToken[]) {
    this.#tokens = tokens;
  }

  #peek(offset = 0): ShellToken | undefined {
    return this.#tokens[this.#at + offset];
  }

  /** Reads up to a token that ends the block; that token stays. */
  parseBlock(isEnd: IsEnd, depth: number): ShellNode[] {
    const nodes: ShellNode[] = [];
    for (let token = this.#peek(); token !== undefined; token = this.#peek()) {
      if (isEnd(token)) return nodes;
      const node = this.#parseNode(token, depth);
      if (node !== undefined) nodes.push(node);
    }
    return nodes;
  }

  #parseNode(token: ShellToken, depth: number): ShellNode | undefined {
    if (token.kind !== "word") {
      this.#at += 1;
      return undefined;
    }
    if (depth < deepest) {
      if (token.text === "case") return this.#parseCase(depth);
      if (loops.has(token.text)) return this.#parseLoop(depth);
      const name = this.#functionName(token);
      if (name !== undefined) return this.#parseFunction(name, depth);
    }
    if (skipped.has(token.text)) {
      this.#at += 1;
      return undefined;
    }
    return this.#parseCommand();
  }

  #parseCommand(): ShellNode {
    const words: string[] = [];
    for (let token = this.#peek(); token !== undefined; token = this.#peek()) {
      if (token.kind === "end" || (token.kind === "operator" && !isRedirection(token.text))) break;
      words.push(token.text);
      this.#at += 1;
    }
    return { kind: "command", words };
  }

  #functionName(token: ShellToken): string | undefined {
    if (token.text === "function") return this.#peek(1)?.kind === "word" ? this.#peek(1)?.text : undefined;
    const isCall = this.#peek(1)?.text === "(" && this.#peek(2)?.text === ")";
    return isCall && /^[\w:.-]+$/u.test(token.text) ? token.text : undefined;
  }

  #parseFunction(name: string, depth: number): ShellNode {
    this.#at += this.#peek()?.text === "function" ? 2 : 1;
    if (this.#peek()?.text === "(" && this.#peek(1)?.text === ")") this.#at += 2;
    this.#skipEnds();
    const open = this.#peek()?.text;
    this.#at += 1;
    const body = this.#parseNested(open === "(" ? ")" : "}", depth + 1);
    return { kind: "function", name, body };
  }

  /** Reads up to the closing brace or parenthesis that belongs to the one before, and steps over it. */
  #parseNested(closer: string, depth: number): ShellNode[] {
    const opener = closer === "}" ? "{" : "(";
    let open = 1;
    const nodes = this.parseBlock((token) => {
      if (token.text === opener) open += 1;
      else if (token.text === closer) open -= 1;
      return open === 0;
    }, depth);
    this.#at += 1;
    return nodes;
  }

  #parseCase(depth: number): ShellNode {
    const subject = this.#peek(1)?.text ?? "";
    this.#at += 2;
    this.#skipEnds();
    if (this.#peek()?.text === "in") this.#at += 1;
    const arms: ShellArm[] = [];
    for (;;) {
      this.#skipEnds();
      const token = this.#peek();
      if (token === undefined || token.text === "esac") break;
      arms.push(this.#parseArm(depth));
    }
    this.#at += 1;
    return { kind: "case", subject, arms };
  }

  #parseArm(depth: number): ShellArm {
    const patterns: string[] = [];
    for (let token = this.#peek(); token !== undefined; token = this.#peek()) {
      this.#at += 1;
      if (token.text === ")" || token.kind === "end") break;
      if (token.kind === "word") patterns.push(unquote(token.text));
    }
    const body = this.parseBlock((token) => armEnds.has(token.text) || token.text === "esac", depth + 1);
    if (armEnds.has(this.#peek()?.text ?? "")) this.#at += 1;
    return { patterns, body };
  }

  #parseLoop(depth: number): ShellNode {
    const head: ShellNode[] = [this.#parseCommand()];
    head.push(...this.parseBlock((token) => token.text === "do", depth + 1));
    this.#at += 1;
    const body = this.parseBlock((token) => token.text === "done", depth + 1);
    this.#at += 1;
    const next = this.#peek()?.text;
    return { kind: "loop", head, body, redirected: next === "<" || next === "<<<" || next === "<<" };
  }

  #skipEnds(): void {
    while (this.#peek()?.kind === "end") this.#at += 1;
  }
}

function isRedirection(operator: string): boolean {
  return /^[<>]|^&>/u.test(operator);
}

/** Takes the quotes off a word. */
export function unquote(word: string): string {
  if (!/["'\\]/u.test(word)) return word;
  return word.replaceAll(/\\(.)|["']/gsu, "$1");
}
