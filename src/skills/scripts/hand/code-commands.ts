import type { Code } from "../code/code.ts";
import { findValueEnd, readLiteral } from "../code/literals.ts";
import { findClosing, isAnyToken, isToken, type Token } from "../code/token.ts";

/** A place where the code turns to a sub-command. */
export interface CommandMark {
  /** The name, then other names for the same. */
  readonly names: string[];
  readonly index: number;
}

const equals = new Set(["===", "==", "eq"]);
const notWords = /^(?:help|version|string|number|object|function|undefined|boolean|utf-?8)$/u;
const commandText = /^[A-Za-z][\w:-]{0,40}$/u;

/** Finds the words that code compares its first argument with. `isFirst` tells whether a token is that argument. */
export function findCommands(code: Code, isFirst: (index: number) => boolean): readonly CommandMark[] {
  const { tokens } = code;
  const tables = new Set<string>();
  const marks: CommandMark[] = [];
  for (let index = 0; index < tokens.length; index++) {
    if (!isFirst(index)) continue;
    const after = endOfFirst(tokens, index);
    addComparison(marks, tokens, index, after);
    addSwitch(marks, tokens, index, after);
    const table = tableName(tokens, index, after);
    if (table !== undefined) tables.add(table);
  }
  for (const table of tables) addTable(marks, code, table);
  return joinNear(marks.toSorted((left, right) => left.index - right.index));
}

/** `cmd`, `args[0]`, and either with `.toLowerCase()` after it. */
function endOfFirst(tokens: readonly Token[], index: number): number {
  let end = index + 1;
  if (isToken(tokens[end], ".") || isToken(tokens[end], "?.")) {
    if (isToken(tokens[end + 2], "(")) end = findClosing(tokens, end + 2) + 1;
  }
  return end;
}

function add(marks: CommandMark[], token: Token | undefined, index: number): void {
  if (token?.kind !== "string" || !commandText.test(token.text) || notWords.test(token.text)) return;
  marks.push({ names: [token.text], index });
}

function addComparison(marks: CommandMark[], tokens: readonly Token[], index: number, after: number): void {
  if (isAnyToken(tokens[after], equals)) add(marks, tokens[after + 1], after + 1);
  if (isAnyToken(tokens[index - 1], equals)) add(marks, tokens[index - 2], index - 2);
  const isIn = isToken(tokens[after], "in") && (isToken(tokens[after + 1], "(") || isToken(tokens[after + 1], "["));
  if (!isIn) return;
  const close = findClosing(tokens, after + 1);
  for (let at = after + 2; at < close; at++) add(marks, tokens[at], at);
}

/** `switch (cmd) { case "x": }`, `match cmd: case "x":`, `case cmd when "x"`. */
function addSwitch(marks: CommandMark[], tokens: readonly Token[], index: number, after: number): void {
  const isBraced = isToken(tokens[index - 1], "(") && isToken(tokens[index - 2], "switch");
  if (isBraced) return addCases(marks, tokens, after, findClosing(tokens, after + 1));
  const isPlain =
    isToken(tokens[index - 1], "match") || (isToken(tokens[index - 1], "case") && !isToken(tokens[after], ":"));
  if (isPlain) addCases(marks, tokens, after, Math.min(tokens.length, after + 3000));
}

const caseWords = new Set(["case", "when"]);
const caseJoints = new Set([",", "|"]);

function addCases(marks: CommandMark[], tokens: readonly Token[], from: number, to: number): void {
  for (let at = from; at < to; at++) {
    if (isToken(tokens[at], "switch")) at = skipSwitch(tokens, at);
    if (!isAnyToken(tokens[at], caseWords)) continue;
    for (let word = at + 1; word < at + 16; word += 2) {
      add(marks, tokens[word], word);
      if (!isAnyToken(tokens[word + 1], caseJoints)) break;
    }
  }
}

/** An inner switch has cases of its own. */
function skipSwitch(tokens: readonly Token[], at: number): number {
  const brace = isToken(tokens[at + 1], "(") ? findClosing(tokens, at + 1) + 1 : at;
  return isToken(tokens[brace], "{") ? findClosing(tokens, brace) : at;
}

/** The keys of a table of functions are the commands. */
function addTable(marks: CommandMark[], { tokens, constants }: Code, name: string): void {
  const at = constants.get(name);
  if (at === undefined || !isToken(tokens[at], "{")) return;
  const table = readLiteral(tokens, [at, findValueEnd(tokens, at)]);
  if (table.kind !== "object") return;
  const known = new Set(marks.flatMap(({ names }) => names));
  for (const [key] of table.entries) {
    if (!commandText.test(key) || notWords.test(key) || known.has(key)) continue;
    marks.push({ names: [key], index: Number.MAX_SAFE_INTEGER });
  }
}

const getters = new Set(["get", "has"]);

/** `handlers[cmd]`, `cmd in handlers`, `handlers.get(cmd)` */
function tableName(tokens: readonly Token[], index: number, after: number): string | undefined {
  const name = tableToken(tokens, index, after);
  return name?.kind === "word" ? name.text : undefined;
}

function tableToken(tokens: readonly Token[], index: number, after: number): Token | undefined {
  if (isToken(tokens[index - 1], "[") && isToken(tokens[after], "]")) return tokens[index - 2];
  if (isToken(tokens[after], "in")) return tokens[after + 1];
  const isGet = isToken(tokens[index - 1], "(") && isAnyToken(tokens[index - 2], getters);
  return isGet && isToken(tokens[index - 3], ".") ? tokens[index - 4] : undefined;
}

/** Names that stand in one condition, or in cases without code between them, are one command. */
function joinNear(marks: readonly CommandMark[]): readonly CommandMark[] {
  const joined: CommandMark[] = [];
  const seen = new Set<string>();
  let lastIndex = -10;
  for (const mark of marks) {
    if (mark.names.every((name) => seen.has(name))) continue;
    for (const name of mark.names) seen.add(name);
    const last = joined.at(-1);
    const isNear = mark.index !== Number.MAX_SAFE_INTEGER && mark.index - lastIndex <= 4;
    if (last !== undefined && isNear) last.names.push(...mark.names);
    else joined.push(mark);
    lastIndex = mark.index;
  }
  return joined;
}
