import type { JsonValue } from "../../../core/json.ts";
import { toLiteral } from "../usage/tables.ts";
import { unquote } from "./parse-shell.ts";

/** A mention of an argument in a word: `$1`, `${2:-20}`, `${1:?message}`. */
export interface Mention {
  /** Counts from 1, as the shell does. */
  readonly place: number;
  /** `-` gives a default, `?` demands it, `+` asks whether it is there. */
  readonly operator?: "-" | "?" | "+";
  readonly text?: string;
}

const mention = /\$(?:([1-9])|\{([1-9]\d?)(?::?([-?+=])((?:[^{}]|\{[^{}]*\})*))?[^{}]*\})/gu;

/** The arguments that a word mentions. */
export function mentionsOf(word: string): readonly Mention[] {
  if (!word.includes("$")) return [];
  return Array.from(withoutSingleQuotes(word).matchAll(mention), ([, plain, braced, operator, text]) => {
    const place = Number(plain ?? braced);
    if (operator === undefined) return { place };
    return { place, operator: operator === "=" ? "-" : (operator as "-" | "?" | "+"), text: text ?? "" };
  });
}

/** A word without what stands in single quotes: the `$1` in `awk '{ print $1 }'` is awk's. */
function withoutSingleQuotes(word: string): string {
  if (!word.includes("'")) return word;
  let kept = "";
  // Whether double quotes are open, for the word itself and for each `$(…)` that is open.
  const quoted = [false];
  for (let index = 0; index < word.length; index++) {
    const character = word.charAt(index);
    const inner = quoted.length - 1;
    if (character === "'" && quoted[inner] === false) {
      const close = word.indexOf("'", index + 1);
      index = close === -1 ? word.length : close;
      continue;
    }
    if (character === '"') quoted[inner] = quoted[inner] === false;
    if (character === "(" && word.charAt(index - 1) === "$") quoted.push(false);
    if (character === ")" && quoted.length > 1) quoted.pop();
    kept += character;
    if (character === "\\") kept += word.charAt(++index);
  }
  return kept;
}

/** An assignment: `NAME=value`, `NAME+=(value)`. */
export interface Assignment {
  readonly name: string;
  readonly adds: boolean;
  readonly value: string;
}

const declarations = new Set(["local", "declare", "readonly", "export", "typeset"]);

/** The assignments of a command, with or without `local` and its like before them. */
export function assignmentsOf(words: readonly string[]): readonly Assignment[] {
  const from = declarations.has(words[0] ?? "") ? 1 : 0;
  const found: Assignment[] = [];
  for (const word of words.slice(from)) {
    const [, name, plus, value] = /^([A-Za-z_]\w*)(\+?)=(.*)$/su.exec(word) ?? [];
    if (name !== undefined) found.push({ name, adds: plus === "+", value: value ?? "" });
    else if (from === 0) break;
  }
  return found;
}

/** The value of a word that has no expansions in it; nothing if it has, or is empty. */
export function literalOf(word: string): JsonValue | undefined {
  if (/[$`(]/u.test(word)) return undefined;
  const text = unquote(word);
  return text === "" ? undefined : toLiteral(text);
}

/** The name of the variable that a word is nothing but an expansion of: `"$OUT"`, `${OUT:-}`. */
export function variableOf(word: string): string | undefined {
  return /^"?\$\{?([A-Za-z_]\w*)(?::?-[^}]*)?\}?"?$/u.exec(word)?.[1];
}

/** How a word passes all arguments on; `from` counts those that are left out. */
export function allArguments(word: string): { readonly from: number } | undefined {
  if (/^"?\$(?:[@*]|\{[@*]\})"?$/u.test(word)) return { from: 0 };
  const from = /^"?\$\{[@*]:(\d+)\}"?$/u.exec(word)?.[1];
  return from === undefined ? undefined : { from: Math.max(0, Number(from) - 1) };
}
