import type { Code } from "./code.ts";
import type { Token } from "./token.ts";

/**
 * The texts of a script: its comments, and its strings as they would be printed. Neighbouring lines are one text, so that a help
 * that is printed line by line is whole again.
 */
export function textsOf(code: Code): readonly string[] {
  return [...commentTexts(code.comments), ...stringTexts(code.tokens)];
}

/** Comments, with those on lines that follow each other as one text. */
export function commentTexts(comments: readonly Token[]): readonly string[] {
  const texts: string[] = [];
  let lastLine = -10;
  for (const comment of comments) {
    const text = cleanBlock(comment.text);
    const isNext = comment.line === lastLine + 1 && !comment.text.includes("\n");
    if (isNext && texts.length > 0) texts.push(`${texts.pop() ?? ""}\n${text}`);
    else texts.push(text);
    lastLine = comment.line;
  }
  return texts;
}

/** Takes the stars off the lines of a block comment. */
function cleanBlock(text: string): string {
  return text.includes("\n") ? text.replaceAll(/^[ \t]*\*+(?!\/) ?/gmu, "") : text;
}

/** Lines that are printed within this distance of each other belong together. */
const nearLines = 3;

function stringTexts(tokens: readonly Token[]): readonly string[] {
  const texts: string[] = [];
  let current = "";
  let lastLine = -10;
  let lastIndex = -10;
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== "string" || token.text === "") continue;
    if (token.line > lastLine + nearLines) {
      if (current !== "") texts.push(current);
      current = token.text;
    } else {
      current += joint(tokens, lastIndex, index) + token.text;
    }
    lastLine = token.line + countLines(token.text);
    lastIndex = index;
  }
  if (current !== "") texts.push(current);
  return texts;
}

/** What stands between two strings when they are printed: nothing when they are joined, a blank when they are arguments. */
function joint(tokens: readonly Token[], from: number, to: number): string {
  const isSameLine = tokens[from]?.line === tokens[to]?.line;
  const between = tokens.slice(from + 1, Math.min(to, from + 12));
  const isSum = between.length > 0 && between.every(({ text, kind }) => kind !== "symbol" || /^[+.()[\]]$/u.test(text));
  if (between.length === 0) return "";
  if (isSum && between[0]?.text === "+") return between.length === 1 ? "" : "{}";
  if (!isSameLine) return "\n";
  return between.some(({ kind }) => kind === "word") && between[0]?.text === "," ? " {} " : " ";
}

function countLines(text: string): number {
  let count = 0;
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) count += 1;
  return count;
}
