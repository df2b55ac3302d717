import { splitCommandLine, type CommandWords } from "./shell-words.ts";

/** A call of a script that stands in the instructions of a skill. */
export interface Invocation extends CommandWords {
  readonly fileName: string;
  /** Counts from 1. */
  readonly line: number;
}

const mostLines = 20_000;
const mostInvocations = 500;
const scriptName =
  /(?:^|[\s/"'`=(])(?:[\w.{}$@~-]*\/)*([\w.-]+\.(?:py|[cm]?js|[cm]?tsx?|sh|bash|rb|pl|php|lua|ps1|R))(?=["'`\s]|$)["']?/u;

/** Finds the calls of the scripts `names` in code blocks and in code between backticks. */
export function findInvocations(instructions: string, names: readonly string[]): readonly Invocation[] {
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

/** Lines of code blocks, with those that a backslash continues as one, and code between backticks. */
function* codePieces(text: string): Generator<{ code: string; line: number }> {
  let inFence = false;
  let pending = "";
  let start = 0;
  for (const [index, line] of text.split("\n", mostLines).entries()) {
    if ((line.includes("```") || line.includes("~~~")) && /^\s*(?:`{3}|~{3})/u.test(line)) {
      inFence = !inFence;
      pending = "";
    } else if (!inFence) {
      for (const code of inlineCode(line)) yield { code, line: index + 1 };
    } else {
      if (pending === "") start = index + 1;
      const whole = pending + (pending === "" ? line : line.trim());
      const isContinued = line.trimEnd().endsWith("\\") && whole.length < 2000;
      pending = isContinued ? `${whole.trimEnd().slice(0, -1)} ` : "";
      if (!isContinued) yield { code: whole, line: start };
    }
  }
}

function inlineCode(line: string): readonly string[] {
  return line.includes("`")
    ? Array.from(line.slice(0, 4000).matchAll(/`([^`\n]{1,1000})`/gu), ([, code = ""]) => code)
    : [];
}

function toInvocations(code: string, line: number): readonly Invocation[] {
  // A comment in a code block is prose.
  if (/^\s*#/u.test(code)) return [];
  const match = scriptName.exec(code.slice(0, 2000));
  if (match === null || !startsProgram(code.slice(0, match.index))) return [];
  const { words, hasPlaceholders } = splitCommandLine(code.slice(match.index + match[0].length));
  return [{ fileName: match[1] ?? "", line, words, hasPlaceholders }];
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
