import type { Code } from "../code/code.ts";
import { findClosing, isAnyToken, isToken, type Token } from "../code/token.ts";
import type { FlagFact } from "./argv-facts.ts";

/**
 * Finds the flags of a loop that takes any flag: `if (arg.startsWith("--")) options[arg.slice(2)] = …`. Which there are is then
 * told by the properties that the rest of the code reads.
 */
export function findOpenFlags({ tokens }: Code, known: readonly FlagFact[]): readonly FlagFact[] {
  const stores = findStores(tokens);
  if (stores.size === 0) return [];
  const taken = new Set(known.flatMap((fact) => fact.flags));
  const uses = new Map<string, boolean>();
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== "word" || !stores.has(token.text)) continue;
    const read = propertyAt(tokens, index);
    if (read === undefined || taken.has(`--${read.name}`) || /^(?:_|help|h|length|hasOwnProperty)$/u.test(read.name))
      continue;
    uses.set(read.name, (uses.get(read.name) ?? true) && read.isSwitch);
  }
  return [...uses].slice(0, 60).map(([name, isSwitch]) => ({ flags: [`--${name}`], takesValue: !isSwitch }));
}

const prefixers = new Set(["startsWith", "startswith", "start_with?", "str_starts_with"]);

/** The variables that a loop puts flags into, by their name without dashes. */
function findStores(tokens: readonly Token[]): ReadonlySet<string> {
  const stores = new Set<string>();
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== "string" || !/^--?$/u.test(token.text) || !isAnyToken(tokens[index - 2], prefixers)) continue;
    for (let at = index; at < Math.min(index + 80, tokens.length); at++) {
      const name = storedInto(tokens, at);
      if (name !== undefined) stores.add(name);
    }
  }
  for (const [index, token] of tokens.entries()) if (isAnyToken(token, cutters)) addCut(stores, tokens, index);
  return stores;
}

const cutters = new Set(["replace", "slice", "substring", "substr"]);

/** `options[argv[i].replace(/^--/, "")] = argv[i + 1]`, `options[argv[i].slice(2)] = argv[i + 1]` */
function addCut(stores: Set<string>, tokens: readonly Token[], index: number): void {
  const isReplaced = tokens[index + 4]?.kind === "string" && tokens[index + 4]?.text === "";
  if (!isReplaced && tokens[index + 2]?.text !== "2") return;
  for (let at = index - 1; at > Math.max(0, index - 12); at--) {
    const name = tokens[at - 1];
    if (!isToken(tokens[at], "[") || name?.kind !== "word") continue;
    const close = findClosing(tokens, at);
    if (close > index && isToken(tokens[close + 1], "=")) stores.add(name.text);
  }
}

/** `options[key] = …` */
function storedInto(tokens: readonly Token[], at: number): string | undefined {
  const isStore = isToken(tokens[at + 1], "[") && isToken(tokens[at + 3], "]") && isToken(tokens[at + 4], "=");
  const name = tokens[at];
  return isStore && name?.kind === "word" && tokens[at + 2]?.kind === "word" ? name.text : undefined;
}

const switchContexts = new Set(["!", "if", "&&", "||", "while"]);
const switchEnds = new Set([")", "&&", "?"]);
const dots = new Set([".", "?."]);

function propertyAt(tokens: readonly Token[], index: number): { name: string; isSwitch: boolean } | undefined {
  const property = namedAfter(tokens, index);
  if (property === undefined) return undefined;
  const before = tokens[index - 1];
  const asker = isToken(before, "(") ? tokens[index - 2] : before;
  const isSwitch = isAnyToken(asker, switchContexts) && isAnyToken(tokens[property.end], switchEnds);
  return { name: property.name, isSwitch };
}

/** The property that is read of the name at `index`: `.out`, `["out"]`, `.get("out")`. */
function namedAfter(tokens: readonly Token[], index: number): { name: string; end: number } | undefined {
  const second = tokens[index + 2];
  if (isToken(tokens[index + 1], "["))
    return second?.kind === "string" ? { name: second.text, end: index + 4 } : undefined;
  if (!isAnyToken(tokens[index + 1], dots) || second?.kind !== "word") return undefined;
  const key = tokens[index + 4];
  if (second.text === "get" && key?.kind === "string") return { name: key.text, end: index + 6 };
  // A method of the store itself is not a flag.
  return isToken(tokens[index + 3], "(") ? undefined : { name: second.text, end: index + 3 };
}
