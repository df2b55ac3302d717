import type { Code } from "../code/code.ts";
import { parametersOf } from "../code/functions.ts";
import { findClosing, isAnyToken, isSequence, isToken, numberOf, type Token } from "../code/token.ts";
import type { Dialect } from "./dialects.ts";

/** A place in the code where the list of arguments is used. */
export interface ListUse {
  /** Of its first token. */
  readonly index: number;
  /** Of the first token after it, and after the part of it that is taken. */
  readonly end: number;
  /** Entry `n` of it is argument `n - skip`. */
  readonly skip: number;
  /** Flags were taken out of it. */
  readonly filtered: boolean;
}

interface Alias {
  readonly skip: number;
  readonly filtered: boolean;
}

/** Finds every use of the list of arguments, also under other names and as the parameter of a function. */
export function findLists(code: Code, dialect: Dialect): readonly ListUse[] {
  const aliases = new Map<string, Alias>();
  // More than once: a name may be used above the line that gives it.
  for (let round = 0; round < 3; round++) {
    const before = aliases.size;
    for (const use of collect(code.tokens, dialect, aliases)) learn(code, use, aliases);
    if (aliases.size === before) break;
  }
  return collect(code.tokens, dialect, aliases);
}

function collect(tokens: readonly Token[], dialect: Dialect, aliases: ReadonlyMap<string, Alias>): ListUse[] {
  const uses: ListUse[] = [];
  for (let index = 0; index < tokens.length; index++) {
    if (tokens[index]?.kind !== "word") continue;
    const use = rootAt(tokens, index, dialect) ?? aliasAt(tokens, index, aliases);
    if (use === undefined) continue;
    const cut = withCuts(tokens, use);
    uses.push(cut);
    index = cut.end - 1;
  }
  return uses;
}

function rootAt(tokens: readonly Token[], index: number, dialect: Dialect): ListUse | undefined {
  const root = dialect.roots.find((candidate) => isSequence(tokens, index, candidate.tokens));
  if (root === undefined) return undefined;
  const end = index + root.tokens.length;
  // `commandArgs(trailingOnly = TRUE)`
  const isCall = root.tokens[0] === "commandArgs" && isToken(tokens[end], "(");
  return { index, end: isCall ? findClosing(tokens, end) + 1 : end, skip: root.skip, filtered: false };
}

function aliasAt(tokens: readonly Token[], index: number, aliases: ReadonlyMap<string, Alias>): ListUse | undefined {
  const alias = aliases.get(tokens[index]?.text ?? "");
  if (alias === undefined || isToken(tokens[index - 1], ".") || isToken(tokens[index - 1], "?.")) return undefined;
  return { index, end: index + 1, ...alias };
}

/** Follows `.slice(2)`, `[1:]`, `.filter(…)` and their like. */
function withCuts(tokens: readonly Token[], use: ListUse): ListUse {
  let cut = use;
  for (let round = 0; round < 4; round++) {
    const next = cutAt(tokens, cut);
    if (next === undefined) break;
    cut = next;
  }
  return cut;
}

function cutAt(tokens: readonly Token[], use: ListUse): ListUse | undefined {
  const { end } = use;
  const isMethod = isToken(tokens[end], ".") && isToken(tokens[end + 2], "(");
  if (isMethod && isToken(tokens[end + 1], "filter")) {
    return { ...use, filtered: true, end: findClosing(tokens, end + 2) + 1 };
  }
  const isSlice = isMethod && isAnyToken(tokens[end + 1], slicers);
  const isRange = isToken(tokens[end], "[") && isToken(tokens[end + 2], ":");
  const from = isSlice ? numberOf(tokens[end + 3]) : isRange ? numberOf(tokens[end + 1]) : undefined;
  if (from === undefined) return undefined;
  return { ...use, skip: use.skip - from, end: findClosing(tokens, isSlice ? end + 2 : end) + 1 };
}

const slicers = new Set(["slice", "drop"]);
const declarations = new Set(["const", "let", "var", "my", "local", "export", "our"]);
const assigners = new Set(["=", "<-", ":="]);
const statementStarts = new Set([";", "{"]);

/** The name that the statement around token `index` assigns to, if it stands on the same line. */
export function assignedName(tokens: readonly Token[], index: number): string | undefined {
  const first = statementStart(tokens, index);
  const name = tokens[first];
  if (name?.kind !== "word" || first >= index) return undefined;
  if (isAnyToken(tokens[first + 1], assigners)) return name.text;
  // Between name and "=" stands at most a type.
  const isTyped =
    isToken(tokens[first + 1], ":") && tokens.slice(first, index).some((token) => isAnyToken(token, assigners));
  return isTyped ? name.text : undefined;
}

/** The first token of the statement, after `const` and its like; at most 60 tokens back. */
function statementStart(tokens: readonly Token[], index: number): number {
  const line = tokens[index]?.line;
  let first = index;
  while (tokens[first - 1]?.line === line && index - first < 60) {
    if (isAnyToken(tokens[first - 1], statementStarts)) break;
    first -= 1;
  }
  while (declarations.has(tokens[first]?.text ?? "")) first += 1;
  return first;
}

const beforeWhole = new Set(["=", "<-", "or", "??", "else", "||", "return"]);
const afterPart = new Set(["[", ".", "?."]);

/** Remembers under which further names the arguments are known. */
function learn(code: Code, use: ListUse, aliases: Map<string, Alias>): void {
  const { tokens } = code;
  if (isAnyToken(tokens[use.end], afterPart)) return;
  const name = isAnyToken(tokens[use.index - 1], beforeWhole)
    ? assignedName(tokens, use.index)
    : parameterFor(code, use);
  if (name !== undefined && !aliases.has(name)) aliases.set(name, { skip: use.skip, filtered: use.filtered });
}

/** `parse(process.argv.slice(2))` makes the first parameter of `parse` another name for the list. */
function parameterFor({ tokens, functions }: Code, { index, end }: ListUse): string | undefined {
  if (!isToken(tokens[end], ")") && !isToken(tokens[end], ",")) return undefined;
  let open = index - 1;
  let place = 0;
  for (; open > 0 && index - open < 20 && !isToken(tokens[open], "("); open--)
    if (isToken(tokens[open], ",")) place += 1;
  const called = tokens[open - 1];
  if (!isToken(tokens[open], "(") || called?.kind !== "word") return undefined;
  return parametersOf(tokens, functions, called.text)[place]?.name;
}
