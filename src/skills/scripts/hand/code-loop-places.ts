import { isAnyToken, isToken, type Token } from "../code/token.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { ArgvFacts, PositionFact } from "./argv-facts.ts";

/** What a loop over the arguments does with those that are no flags. */
export interface LoopPlaces {
  readonly positions: ReadonlyMap<number, PositionFact>;
  readonly rest?: ArgvFacts["rest"];
}

const flagText = /^--?[A-Za-z][\w-]*=?$/u;
const comparers = new Set(["===", "==", "eq"]);
const adders = new Set(["push", "append"]);
const declarers = new Set(["const", "let", "var", "my", "local"]);
/** How far from the flags of a loop its other branches may be. */
const reach = 150;

/**
 * Finds the variables that get what is no flag: `else options.file = arg`, `default: files.push(arg)`. The argument is the
 * variable that the same loop compares with flags.
 */
export function findLoopPlaces(tokens: readonly Token[]): LoopPlaces {
  const loop = findLoop(tokens);
  const names: string[] = [];
  let list: string | undefined;
  for (let index = loop.from; index < loop.to; index++) {
    if (!isAnyToken(tokens[index], loop.variables) || isToken(tokens[index - 1], ".")) continue;
    const name = assignedTo(tokens, index);
    if (name !== undefined && !names.includes(name)) names.push(name);
    list ??= addedTo(tokens, index);
  }
  const positions = new Map(names.map((name, place) => [place, { name }] as const));
  return withoutUndefined<LoopPlaces>({
    positions,
    rest: list === undefined ? undefined : { from: names.length, name: list },
  });
}

interface Loop {
  readonly variables: ReadonlySet<string>;
  readonly from: number;
  readonly to: number;
}

function findLoop(tokens: readonly Token[]): Loop {
  const variables = new Set<string>();
  let from = tokens.length;
  let to = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== "string" || !flagText.test(token.text)) continue;
    const compared = isAnyToken(tokens[index - 1], comparers) ? tokens[index - 2] : switchedAt(tokens, index);
    if (compared?.kind !== "word") continue;
    variables.add(compared.text);
    from = Math.min(from, Math.max(0, index - reach));
    to = Math.max(to, Math.min(tokens.length, index + reach));
  }
  return { variables, from, to };
}

/** The variable of the `switch` that the `case` before `index` belongs to. */
function switchedAt(tokens: readonly Token[], index: number): Token | undefined {
  if (!isToken(tokens[index - 1], "case")) return undefined;
  for (let at = index; at > Math.max(0, index - 600); at--) {
    if (isToken(tokens[at], "switch") && isToken(tokens[at + 1], "(") && isToken(tokens[at + 3], ")"))
      return tokens[at + 2];
  }
  return undefined;
}

/** `file = arg` at the end of a statement, but not a declaration. */
function assignedTo(tokens: readonly Token[], index: number): string | undefined {
  const name = tokens[index - 2];
  if (!isToken(tokens[index - 1], "=") || name?.kind !== "word" || !endsAt(tokens, index + 1)) return undefined;
  const isDeclared = isAnyToken(tokens[index - 3], declarers);
  return isDeclared || /^(?:key|flag|name|current|last|prev|previous|opt|option)$/iu.test(name.text)
    ? undefined
    : name.text;
}

function endsAt(tokens: readonly Token[], index: number): boolean {
  const next = tokens[index];
  return (
    next === undefined || isToken(next, ";") || isToken(next, "}") || next.line > (tokens[index - 1]?.line ?? next.line)
  );
}

/** `files.push(arg)` */
function addedTo(tokens: readonly Token[], index: number): string | undefined {
  const isAdded =
    isToken(tokens[index - 1], "(") &&
    isToken(tokens[index + 1], ")") &&
    isAnyToken(tokens[index - 2], adders) &&
    isToken(tokens[index - 3], ".");
  const name = tokens[index - 4];
  return isAdded && name?.kind === "word" ? name.text : undefined;
}
