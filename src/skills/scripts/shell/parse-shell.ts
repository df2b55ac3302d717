import { childOf, type Parse, type SyntaxNode } from "../syntax/parse.ts";
import { readsInput } from "./shell-input.ts";

/** A word of a command. */
export interface ShellWord {
  /** As written, with its quotes. */
  readonly text: string;
  /** The arguments that it mentions. */
  readonly mentions: readonly Mention[];
}

/** A mention of an argument: `$1`, `${2:-20}`, `${1:?message}`. */
export interface Mention {
  /** Counts from 1, as the shell does. */
  readonly place: number;
  /** `-` gives a default, `?` demands it, `+` asks whether it is there. */
  readonly operator?: "-" | "?" | "+";
  readonly text?: string;
}

/** A command with its words; assignments and tests are commands, too. */
export interface ShellCommand {
  readonly kind: "command";
  readonly words: readonly ShellWord[];
}

/** One arm of a `case`. */
export interface ShellArm {
  readonly patterns: readonly string[];
  readonly body: readonly ShellNode[];
}

/** A `case … esac`. */
export interface ShellCase {
  readonly kind: "case";
  readonly subject: ShellWord;
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

/** A piece of a shell script that means something for its arguments. */
export type ShellNode = ShellCommand | ShellCase | ShellFunction | ShellLoop;

/** Files of redirections: `< in.txt`, `>> log.txt`. */
export interface RedirectedFiles {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/** A shell script, ready to be searched. */
export interface ShellScript {
  readonly nodes: readonly ShellNode[];
  /** Comments, each block of lines as one text. */
  readonly comments: readonly string[];
  readonly heredocs: readonly string[];
  /** What is started by name, also in texts and in `$( … )`: programs, functions and commands of the shell. */
  readonly started: ReadonlySet<string>;
  /** Files that it redirects to and from, where their names are written out. */
  readonly redirected: RedirectedFiles;
  /** A program that the script starts reads the standard input of the script. */
  readonly readsInput: boolean;
  readonly hasErrors: boolean;
}

/** Reads a shell script. */
export function parseShell(source: string, parse: Parse, maxNodes?: number): ShellScript {
  const { root, hasErrors } = parse(withPlainMessages(source), maxNodes === undefined ? {} : { maxNodes });
  const reader = new TreeReader(source);
  const nodes = reader.all(root.children);
  const started = new Set(startedIn(source, root));
  const redirected = redirectedIn(source, root);
  return { nodes, ...textsIn(source, root), started, redirected, readsInput: readsInput(source, root), hasErrors };
}

/** The grammar takes the apostrophe in `"${1:?Don't}"` for the beginning of a string; the shell does not. */
function withPlainMessages(source: string): string {
  return source.replaceAll(/"\$\{\w{1,60}:?[?+-][^"'{}\n]{0,200}'[^"{}\n]{0,300}\}/gu, (message) =>
    message.replaceAll("'", "_"),
  );
}

const groups = new Set([
  "program",
  "list",
  "pipeline",
  "compound_statement",
  "subshell",
  "do_group",
  "if_statement",
  "elif_clause",
  "else_clause",
  "negated_command",
  "variable_assignments",
  "ERROR",
]);

class TreeReader {
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  all(nodes: readonly SyntaxNode[]): ShellNode[] {
    return nodes.flatMap((node) => this.#read(node));
  }

  #read(node: SyntaxNode): readonly ShellNode[] {
    switch (node.type) {
      case "command":
      case "declaration_command":
      case "unset_command":
      case "variable_assignment":
        return [this.#command(node)];
      case "test_command":
        return [{ kind: "command", words: this.#flatWords(node) }];
      case "redirected_statement":
        return this.#redirected(node);
      case "function_definition":
        return [this.#function(node)];
      case "case_statement":
        return [this.#case(node)];
      case "for_statement":
      case "c_style_for_statement":
      case "while_statement":
        return [this.#loop(node, false)];
      default:
        return this.#group(node);
    }
  }

  #group(node: SyntaxNode): readonly ShellNode[] {
    if (node.children[0]?.type === "((") return [{ kind: "command", words: this.#flatWords(node) }];
    if (node.type === "variable_assignments")
      return [{ kind: "command", words: node.children.map((child) => this.#word(child)) }];
    return groups.has(node.type) ? this.all(node.children) : [];
  }

  #command(node: SyntaxNode): ShellNode {
    if (node.type === "variable_assignment") return { kind: "command", words: [this.#word(node)] };
    const words = node.children.filter(({ type }) => !type.endsWith("redirect")).map((child) => this.#word(child));
    return { kind: "command", words };
  }

  #redirected(node: SyntaxNode): readonly ShellNode[] {
    const body = childOf(node, "body");
    const redirects = node.children.filter(({ field }) => field === "redirect");
    if (body?.type === "while_statement" || body?.type === "for_statement")
      return [
        this.#loop(
          body,
          redirects.some((redirect) => this.#textOf(redirect).startsWith("<")),
        ),
      ];
    // What a here-document is piped into stands below its redirection.
    const below = redirects.flatMap((redirect) => this.all(redirect.children));
    return [...(body === undefined ? [] : this.#read(body)), ...below];
  }

  #function(node: SyntaxNode): ShellFunction {
    const name = childOf(node, "name");
    const body = childOf(node, "body");
    return {
      kind: "function",
      name: name === undefined ? "" : this.#textOf(name),
      body: body === undefined ? [] : this.#read(body),
    };
  }

  #case(node: SyntaxNode): ShellCase {
    const subject = childOf(node, "value");
    const arms = node.children
      .filter(({ type }) => type === "case_item")
      .map((item): ShellArm => {
        const patterns = item.children.filter(({ field, named }) => field === "value" && named);
        return {
          patterns: patterns.map((pattern) => unquote(this.#textOf(pattern))),
          body: this.all(item.children.filter((child) => !patterns.includes(child))),
        };
      });
    return { kind: "case", subject: subject === undefined ? emptyWord : this.#word(subject), arms };
  }

  #loop(node: SyntaxNode, redirected: boolean): ShellLoop {
    const body = childOf(node, "body");
    const head = node.children.filter((child) => child !== body && child.type !== ";");
    const [keyword, ...others] = head;
    const isFor = node.type !== "while_statement";
    return {
      kind: "loop",
      head: isFor
        ? [{ kind: "command", words: head.map((child) => this.#word(child)) }]
        : [{ kind: "command", words: [this.#word(keyword ?? node)] }, ...this.all(others)],
      body: body === undefined ? [] : this.all(body.children),
      redirected,
    };
  }

  #textOf({ start, end }: SyntaxNode): string {
    return this.#source.slice(start, end);
  }

  #word(node: SyntaxNode): ShellWord {
    return { text: this.#textOf(node), mentions: mentionsIn(this.#source, node) };
  }

  /** The words of a test, without the tree of its operators. */
  #flatWords(node: SyntaxNode): readonly ShellWord[] {
    return node.children.flatMap((child) =>
      child.type.endsWith("_expression") ? this.#flatWords(child) : [this.#word(child)],
    );
  }
}

/** A word that is not there. */
export const emptyWord: ShellWord = { text: "", mentions: [] };

/** The arguments that are mentioned in a word, also in the commands in it. What stands in single quotes is only text. */
function mentionsIn(source: string, word: SyntaxNode): readonly Mention[] {
  const found: Mention[] = [];
  const pending = [word];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const child of node.children.toReversed()) pending.push(child);
    if (node.type !== "simple_expansion" && node.type !== "expansion") continue;
    const name = node.children.find(({ type }) => type === "variable_name");
    const place = name === undefined ? Number.NaN : Number(source.slice(name.start, name.end));
    if (Number.isInteger(place) && place > 0 && place < 100) found.push({ place, ...operatorIn(source, node) });
  }
  return found;
}

function operatorIn(source: string, expansion: SyntaxNode): Omit<Mention, "place"> {
  const operator = childOf(expansion, "operator");
  const sign =
    operator === undefined ? undefined : /^:?([-=?+])$/u.exec(source.slice(operator.start, operator.end))?.[1];
  if (operator === undefined || sign === undefined) return {};
  const text = source.slice(operator.end, expansion.end - 1);
  return { operator: sign === "=" ? "-" : (sign as "-" | "?" | "+"), text };
}

function* startedIn(source: string, root: SyntaxNode): Generator<string> {
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const child of node.children) pending.push(child);
    if (node.type === "command_name") yield unquote(source.slice(node.start, node.end));
  }
}

/** `&1`, `/dev/null` and names with variables are no files that can be named here. */
const plainFile = /^(["']?)((?!\/dev\/)[\w./~-]*[A-Za-z][\w./~-]*)\1$/u;

function redirectedIn(source: string, root: SyntaxNode): RedirectedFiles {
  const found = { reads: [] as string[], writes: [] as string[] };
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const child of node.children) pending.push(child);
    const target = node.type === "file_redirect" ? childOf(node, "destination") : undefined;
    const name = target && plainFile.exec(source.slice(target.start, target.end))?.[2];
    if (target === undefined || name === undefined) continue;
    const isWritten = source.slice(node.start, target.start).includes(">");
    (isWritten ? found.writes : found.reads).push(name);
  }
  return found;
}

function textsIn(source: string, root: SyntaxNode): Pick<ShellScript, "comments" | "heredocs"> {
  const comments: string[] = [];
  const heredocs: string[] = [];
  let lastLine = -1;
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const child of node.children.toReversed()) pending.push(child);
    const text = source.slice(node.start, node.end);
    if (node.type === "heredoc_body") heredocs.push(text.replace(/\n[ \t]*$/u, ""));
    if (node.type !== "comment") continue;
    if (lastLine === node.line - 1 && comments.length > 0) comments.push(`${comments.pop() ?? ""}\n${text.slice(1)}`);
    else if (!text.startsWith("#!")) comments.push(text.slice(1));
    lastLine = node.line;
  }
  return { comments, heredocs };
}

/** Takes the quotes off a word. */
export function unquote(word: string): string {
  if (!/["'\\]/u.test(word)) return word;
  return word.replaceAll(/\\(.)|["']/gsu, "$1");
}
