import { isAboutNextLine, toDescription } from "../describe.ts";
import { asOpen } from "../derived-interface.ts";
import type { ArgvFacts, StdinFact } from "../arguments/argv-facts.ts";
import { deriveManualInterface } from "../arguments/derive-manual.ts";
import type { Reading, SourceScript } from "../reading.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { Parse } from "../syntax/parse.ts";
import { parseShell, unquote, type ShellNode, type ShellScript, type ShellWord } from "./parse-shell.ts";
import { readShell } from "./read-shell.ts";
import { commandsOf } from "./shell-flags.ts";
import { assignmentsOf } from "./shell-words.ts";

/** Reads a shell script. */
export function deriveShell(source: SourceScript, parse: Parse, maxNodes?: number): Reading {
  const script = parseShell(source.text, parse, maxNodes);
  const facts = withComments(
    withoutUndefined<ArgvFacts>({ ...readShell(script.nodes), stdin: readStdin(source.text, script) }),
    source.text,
  );
  const texts = textsOf(script);
  const description = describe(script, source);
  const other = classify(source, script, facts);
  const programs = programsOf(script);
  const { redirected } = script;
  if (other !== undefined) return { ...other, description, programs, redirected };
  const words = wordsOf(script.nodes);
  const derived = deriveManualInterface({ fileName: source.fileName, facts, texts, isWord: (text) => words.has(text) });
  return {
    kind: "tool",
    reason: "it runs commands",
    description,
    interface: script.hasErrors ? asOpen(derived) : derived,
    programs,
    redirected,
    ...(script.hasErrors && { isPartial: true }),
  };
}

/** `# $1 - log file` */
function withComments(facts: ArgvFacts, text: string): ArgvFacts {
  if (facts.positions.size === 0 || !/^#+\s*\$\{?1/mu.test(text)) return facts;
  const positions = new Map(facts.positions);
  for (const [, digit, words = ""] of text.matchAll(/^#+\s*\$\{?([1-9])\}?\s*[-:=–—]+\s*(\S.{0,200})$/gmu)) {
    const place = Number(digit) - 1;
    const before = positions.get(place);
    const isOptional = /\boptional\b/iu.test(words);
    if (before !== undefined)
      positions.set(place, { ...before, description: words.trim(), ...(isOptional && { required: false }) });
  }
  return { ...facts, positions };
}

const builtins = new Set(
  "[ [[ (( : . alias bg bind break builtin caller cd command compgen complete continue declare dirs disown echo enable eval exec exit export false fc fg for function getopts hash help history if in jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt source suspend test then time times trap true type typeset ulimit umask unalias unset until wait while do done esac fi else elif".split(
    " ",
  ),
);

/** The programs that a script starts by name. */
function programsOf({ nodes, started }: ShellScript): readonly string[] {
  const functions = new Set(nodes.flatMap((node) => (node.kind === "function" ? [node.name] : [])));
  const programs = [...started].map((name) => name.split("/").at(-1) ?? "");
  return [...new Set(programs)].filter(
    (name) => /^[A-Za-z][\w.+-]{0,60}$/u.test(name) && !builtins.has(name) && !functions.has(name),
  );
}

function describe({ comments }: ShellScript, { text: source, fileName }: SourceScript): string {
  for (const text of comments.slice(0, 3)) {
    const description = isAboutNextLine(source, text) ? "" : toDescription(text, fileName);
    if (description !== "") return description;
  }
  return "";
}

const setup = /^(?:set|shopt|source|\.|export|readonly|declare|local|typeset|alias|unset|trap|return|umask|:|true)$/u;

function classify(
  source: SourceScript,
  script: ShellScript,
  facts: ArgvFacts,
): Pick<Reading, "kind" | "reason"> | undefined {
  const { text } = source;
  if (/tool_input|hook_event_name|hookSpecificOutput|stop_hook_active/u.test(text) && facts.stdin !== undefined) {
    return { kind: "hook", reason: "it reads the event of an agent's hook from standard input" };
  }
  const functions = script.nodes.filter((node) => node.kind === "function");
  const actions = script.nodes.filter((node) => node.kind !== "function" && !isSetup(node));
  if (functions.length > 0 && actions.length === 0) {
    return { kind: "library", reason: "it only defines functions for other scripts" };
  }
  if (!facts.readsArgv && /(?:^|[\s;])read\s+(?:-\w+\s+)*-\w*p/mu.test(text)) {
    return { kind: "interactive", reason: "it asks questions at a terminal (read -p)" };
  }
  return undefined;
}

function isSetup(node: ShellNode): boolean {
  if (node.kind !== "command") return false;
  const first = node.words[0]?.text ?? "";
  return node.words.length === 0 || setup.test(first) || assignmentsOf(node.words).length > 0 || /^\[\[?$/u.test(first);
}

/** Whether the script takes standard input, and as what. */
function readStdin(text: string, { readsInput }: ShellScript): StdinFact | undefined {
  if (!readsInput && !text.includes("/dev/stdin")) return undefined;
  return { as: /\bjq\b/u.test(text) ? "json" : "text", fields: [] };
}

/** The words that the script compares with something: what a usage line says literally is among them. */
function wordsOf(nodes: readonly ShellNode[]): ReadonlySet<string> {
  const words = new Set<string>();
  const visit = (list: readonly ShellNode[]): void => {
    for (const node of list) {
      if (node.kind === "case") for (const arm of node.arms) for (const pattern of arm.patterns) words.add(pattern);
      if (node.kind === "case") for (const arm of node.arms) visit(arm.body);
      if (node.kind === "function" || node.kind === "loop") visit(node.body);
    }
  };
  visit(nodes);
  for (const command of allCommands(nodes)) {
    const index = command.findIndex(({ text }) => text === "=" || text === "==");
    if (index !== -1) words.add(unquote(command[index + 1]?.text ?? ""));
  }
  return words;
}

const printers = /^(?:echo|printf|print|die|fail|error|err|warn|log|info|usage|abort|log_\w+|print_\w+)$/u;

/** The texts of a shell script that may say how it is called: comments, here-documents, what it prints, messages of `${1:?…}`. */
function textsOf({ comments, heredocs, nodes }: ShellScript): readonly string[] {
  const printed: string[] = [];
  const messages: string[] = [];
  for (const words of allCommands(nodes)) {
    if (printers.test(words[0]?.text ?? "")) printed.push(toPrinted(words));
    for (const { text } of words) {
      const message = /\$\{\w+:?\?((?:[^{}]|\{[^{}]*\})*)\}/u.exec(text)?.[1];
      if (message !== undefined) messages.push(unquote(message));
    }
  }
  return [...comments, ...heredocs, ...messages, printed.join("\n")];
}

/** Variables that hold colours: `${RED}Usage: $0 <folder>${NC}`. */
const colour =
  /\$\{?\w{0,12}(?:red|green|yellow|blue|cyan|magenta|purple|white|gr[ae]y|bold|dim|reset|normal|nc)\}?(?!\w)/giu;

function toPrinted(words: readonly ShellWord[]): string {
  // `$(echo -H "Authorization: …")` makes an argument of another program.
  if (words[0]?.text === "echo" && /^-(?![neE]+$)/u.test(words[1]?.text ?? "")) return "";
  const text = words
    .slice(1)
    .map((word) => word.text)
    .filter((word) => !/^(?:-[neE]+|>|>>|>&|&?\d|\/dev\/stderr)$/u.test(word))
    .map((word) => unquoteText(word))
    .join(" ");
  return text
    .replaceAll(/\\n/gu, "\n")
    .replaceAll(/\\033\[[\d;]*m|\\e\[[\d;]*m/gu, "")
    .replaceAll(colour, "");
}

/** Takes the outer quotes off and keeps the others: `"Usage: x \"query\""`. */
function unquoteText(word: string): string {
  const [, quote, inner] = /^(["'])(.*)\1$/su.exec(word) ?? [];
  if (quote === undefined || inner === undefined) return unquote(word);
  return inner.replaceAll(/\\(["`$\\])/gu, "$1");
}

/** Every command of a script, with those in functions. */
function* allCommands(nodes: readonly ShellNode[]): Generator<readonly ShellWord[]> {
  for (const node of nodes) {
    if (node.kind === "function") yield* allCommands(node.body);
    else if (node.kind === "case") for (const arm of node.arms) yield* allCommands(arm.body);
    else if (node.kind === "loop") yield* allCommands([...node.head, ...node.body]);
    else yield* commandsOf([node]);
  }
}
