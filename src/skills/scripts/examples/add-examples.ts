import type { Diagnostic } from "../../../core/diagnostics.ts";
import { nearestNames } from "../../../core/nearest.ts";
import type { ReadArgv } from "../../../core/script-code.ts";
import type { ToolExample } from "../../../core/tool.ts";
import { quote } from "../../../core/errors.ts";
import { fromArgv } from "../from-argv.ts";
import type { ScriptInterface, ScriptTool } from "../script-interface.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { fitsTool, learnFromCalls } from "./learn-from-calls.ts";

/** Instructions whose calls are examples for the scripts. */
export interface Instructions {
  readonly text: string;
  /** @default "SKILL.md" */
  readonly file?: string;
  /** The number of the first line of `text` in the file. @default 1 */
  readonly line?: number;
}

/** Scripts with the examples that their instructions have, and what is wrong with those. */
export interface ExampleResult {
  readonly scripts: readonly ScriptInterface[];
  readonly diagnostics: readonly Diagnostic[];
}

const mostExamples = 3;

/** What examples are added with. */
export interface ExampleSources {
  readonly instructions: Instructions;
  /** Tools that have their examples from elsewhere, each as its path and its words. */
  readonly settled?: ReadonlySet<string>;
  /** The texts of the scripts, by their paths. */
  readonly texts?: ReadonlyMap<string, string>;
}

/** A call that the instructions show, and the tool that it calls. */
interface FoundCall {
  readonly invocation: Invocation;
  readonly script: ScriptInterface;
  readonly tool: ScriptTool;
}

/**
 * Takes the calls in the instructions as examples, and checks them against what was read from the scripts. What a call shows and the
 * script has corrects the tool; what does not fit is no example.
 */
export function addExamples(
  scripts: readonly ScriptInterface[],
  { instructions: { text, file = "SKILL.md", line = 1 }, settled = new Set(), texts = new Map() }: ExampleSources,
): ExampleResult {
  const diagnostics: Diagnostic[] = [];
  const calls = Map.groupBy(findCalls(scripts, text), ({ tool }) => tool);
  const withCalls = (script: ScriptInterface, own: ScriptTool): ScriptTool => {
    const found = calls.get(own) ?? [];
    const isSettled = settled.has(`${script.path} ${wordsOf(own).join(" ")}`);
    const read = (tool: ScriptTool, { invocation }: FoundCall): ReadArgv =>
      fromArgv(tool.mapping, tool.inputSchema, invocation.words);
    const shown = found.map((call) => ({ words: call.invocation.words, read: read(own, call) }));
    const tool = learnFromCalls(own, shown, texts.get(script.path) ?? "");
    const examples: ToolExample[] = [];
    for (const call of found) {
      const again = read(tool, call);
      const place = { file, line: call.invocation.line + line - 1 };
      diagnostics.push(...checkFlags(script, tool, { read: again, place }));
      if (
        !isSettled &&
        examples.length < mostExamples &&
        isExample(tool, call.invocation, again) &&
        !has(examples, again)
      )
        examples.push({ input: again.input });
    }
    return examples.length === 0 ? tool : { ...tool, examples: [...tool.examples, ...examples] };
  };
  const changed = scripts.map((script) => {
    const tools = script.tools.map((tool) => (calls.has(tool) ? withCalls(script, tool) : tool));
    return script.tools.some((tool) => calls.has(tool)) ? { ...script, tools } : script;
  });
  return { scripts: changed, diagnostics };
}

function findCalls(scripts: readonly ScriptInterface[], text: string): readonly FoundCall[] {
  const byName = Map.groupBy(
    scripts.filter(({ kind }) => kind === "tool"),
    (script) => script.path.split("/").at(-1) ?? "",
  );
  return findInvocations(text, [...byName.keys()]).flatMap((invocation) => {
    const script = pickScript(byName.get(invocation.fileName) ?? [], invocation.path);
    const tool = script === undefined ? undefined : pickTool(script.tools, invocation.words);
    return script === undefined || tool === undefined ? [] : [{ invocation, script, tool }];
  });
}

function wordsOf(tool: ScriptTool): readonly string[] {
  return tool.mapping.parts.flatMap((part) => (part.kind === "word" ? [part.word] : []));
}

/** The script that a call names: of several with one file name the one whose path it ends with. */
function pickScript(scripts: readonly ScriptInterface[], called: string): ScriptInterface | undefined {
  return scripts.find(({ path }) => `/${called}`.endsWith(`/${path}`)) ?? scripts.at(-1);
}

/** The tool whose sub-command the words begin with, flags aside. */
function pickTool(tools: readonly ScriptTool[], argv: readonly string[]): ScriptTool | undefined {
  const plain = new Set(argv.filter((word) => !word.startsWith("-")));
  const ranked = tools.map((tool) => ({
    tool,
    words: tool.mapping.parts.filter((part) => part.kind === "word").map((part) => part.word),
  }));
  const fitting = ranked.filter(({ words }) => words.every((word) => plain.has(word)));
  return fitting.toSorted((left, right) => right.words.length - left.words.length)[0]?.tool;
}

interface Check {
  readonly read: ReadArgv;
  readonly place: { readonly file: string; readonly line: number };
}

function checkFlags(script: ScriptInterface, tool: ScriptTool, { read, place }: Check): readonly Diagnostic[] {
  if (tool.confidence === "opaque" || tool.source === "manifest") return [];
  const known = tool.mapping.parts.flatMap((part) =>
    part.kind === "flag" || part.kind === "count"
      ? [part.flag]
      : part.kind === "choice"
        ? Object.values(part.words).flat()
        : [],
  );
  return read.unknownFlags
    .map((word) => word.replace(/=.*$/su, ""))
    .filter((flag) => !/^(?:-h|--help|--version|-V)$/u.test(flag) && /^--?[A-Za-z][\w-]*$/u.test(flag))
    .map((flag): Diagnostic => {
      const [nearest] = nearestNames(flag, known, 1);
      return withoutUndefined<Diagnostic>({
        severity: tool.confidence === "declared" ? "warning" : "info",
        code: "example-flag-unknown",
        message: `The example calls ${script.path} with ${quote(flag)}, which the script does not seem to have`,
        ...place,
        cure:
          nearest === undefined ? `Its flags are: ${known.join(", ") || "none"}` : `Did you mean ${quote(nearest)}?`,
      });
    });
}

/** An example is complete, has nothing to fill in, and says something. */
function isExample(tool: ScriptTool, invocation: Invocation, read: ReadArgv): boolean {
  if (invocation.hasPlaceholders || read.unknownFlags.length > 0 || read.unknownWords.length > 0) return false;
  const required = tool.inputSchema["required"];
  const isComplete = !Array.isArray(required) || required.every((name) => Object.hasOwn(read.input, String(name)));
  return isComplete && Object.keys(read.input).length > 0 && fitsTool(tool, read);
}

function has(list: readonly ToolExample[], read: ReadArgv): boolean {
  const text = JSON.stringify(read.input);
  return list.some((example) => JSON.stringify(example.input) === text);
}

/** A call of a script that stands in the instructions of a skill. */
export interface Invocation extends CommandWords {
  readonly fileName: string;
  /** The same with the folders that stand before it. */
  readonly path: string;
  /** Counts from 1. */
  readonly line: number;
}

const mostLines = 20_000;
const mostInvocations = 500;
const scriptName =
  /(?:^|[\s/"'`=(])(?:[\w.{}$@~-]*\/)*([\w.-]+\.(?:py|[cm]?js|[cm]?tsx?|sh|bash|rb|pl|php|lua|ps1|R))(?=["'`\s]|$)["']?/u;

/** Finds the calls of the scripts `names` in code blocks and in code between backticks. */
function findInvocations(instructions: string, names: readonly string[]): readonly Invocation[] {
  // Most lines name no script; a plain search is much cheaper than to read them.
  const isNamed = (text: string): boolean => names.some((name) => text.includes(name));
  if (!isNamed(instructions)) return [];
  const found: Invocation[] = [];
  for (const { code, line } of codePieces(instructions)) {
    if (isNamed(code)) found.push(...toInvocations(code, line));
    if (found.length >= mostInvocations) break;
  }
  return found;
}

/** Code of a text. */
interface CodePiece {
  readonly code: string;
  /** Counts from 1. */
  readonly line: number;
  /** What stands before it in its line, for code between backticks and the target of a link. */
  readonly before?: string;
}

/** Lines of code blocks, with those that a backslash continues as one, and code between backticks. */
export function* codePieces(text: string): Generator<CodePiece> {
  let inFence = false;
  let pending = "";
  let start = 0;
  for (const [index, line] of text.split("\n", mostLines).entries()) {
    if ((line.includes("```") || line.includes("~~~")) && /^\s*(?:`{3}|~{3})/u.test(line)) {
      inFence = !inFence;
      pending = "";
    } else if (!inFence) {
      for (const piece of inlineCode(line)) yield { ...piece, line: index + 1 };
    } else {
      if (pending === "") start = index + 1;
      const whole = pending + (pending === "" ? line : line.trim());
      const isContinued = line.trimEnd().endsWith("\\") && whole.length < 2000;
      pending = isContinued ? `${whole.trimEnd().slice(0, -1)} ` : "";
      if (!isContinued) yield { code: whole, line: start };
    }
  }
}

function inlineCode(line: string): readonly { code: string; before: string }[] {
  if (!line.includes("`") && !line.includes("](")) return [];
  const found = line.slice(0, 4000).matchAll(/`([^`\n]{1,1000})`|\]\(([^()\s]{1,300})\)/gu);
  return Array.from(found, ({ 1: code, 2: link = "", index }) => ({
    code: code ?? link,
    before: line.slice(0, index),
  }));
}

function toInvocations(code: string, line: number): readonly Invocation[] {
  // A comment in a code block is prose.
  if (/^\s*#/u.test(code)) return [];
  const match = scriptName.exec(code.slice(0, 2000));
  if (match === null || !startsProgram(code.slice(0, match.index))) return [];
  const { words, hasPlaceholders } = splitCommandLine(code.slice(match.index + match[0].length));
  const path = match[0].replaceAll(/^[\s"'`=(]+|["']+$/gu, "");
  return [{ fileName: match[1] ?? "", path, line, words, hasPlaceholders }];
}

/** Before the script stand at most an interpreter, its options, and what feeds it. */
function startsProgram(before: string): boolean {
  const last = before.split(/\||&&|;/u).at(-1) ?? "";
  return last
    .trim()
    .split(/\s+/u)
    .every(
      (word) =>
        word === "" ||
        /^[$>(!]*$|^[A-Z_]+=|^-|^\$\(|^(?:\S*\/)?(?:python[\d.]*|node|bash|sh|zsh|ruby|perl|php|lua|pwsh|Rscript|uv|npx|bun|bunx|deno|tsx|ts-node|sudo|env|time|exec|poetry|pipenv|source|pnpm|yarn)$|^(?:run|x|exec|dlx|tsx|script|\.)$/u.test(
          word,
        ),
    );
}

/** The words of a command line as it stands in a text. */
export interface CommandWords {
  readonly words: readonly string[];
  /** Something in it is to be filled in, or stands for more than itself: `<file>`, `$FILE`, `*.pdf`. */
  readonly hasPlaceholders: boolean;
}

/** A quote that is left is one that nothing closes. */
const placeholder = /<[^>]*>|^["']|\$|\{[^}]*\}|\.\.\.|…|^\[|\]$|YOUR[_-]|path\/to|[*?]/iu;

const longestLine = 2000;
const piece =
  /(?<space>\s+)|(?<angle><[\w .|/-]{1,60}>)|"(?<double>(?:[^"\\]|\\.)*)"|'(?<single>[^']*)'|\\(?<escaped>.)|(?<plain>[\w./:=,@%+-]+|[^])/gsu;

/** Cuts a command line into words, as a shell would, up to a pipe, a redirection, the next command or a comment. */
export function splitCommandLine(line: string): CommandWords {
  const words: string[] = [];
  let current: string | undefined;
  const end = (): void => {
    if (current !== undefined) words.push(current);
    current = undefined;
  };
  for (const match of line.slice(0, longestLine).matchAll(piece)) {
    const { space, angle, double, single, escaped, plain } = match.groups ?? {};
    if (plain !== undefined && endsCommand(line, match.index, current === undefined)) break;
    if (space === undefined)
      current =
        (current ?? "") + (double?.replaceAll(/\\(["\\$`])/gu, "$1") ?? single ?? angle ?? escaped ?? plain ?? "");
    else end();
  }
  end();
  return { words, hasPlaceholders: words.some((word) => placeholder.test(word)) };
}

function endsCommand(line: string, index: number, atStart: boolean): boolean {
  const character = line.charAt(index);
  if (character === "|" || character === ";" || character === "`" || character === "&") return true;
  if (character === "#") return atStart;
  if (character === ">") return true;
  // `<file>` is a placeholder and was read as a whole; `< file` is a redirection.
  return character === "<";
}
