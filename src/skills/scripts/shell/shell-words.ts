import type { JsonValue } from "../../../core/json.ts";
import { toLiteral } from "../usage/tables.ts";
import { unquote, type ShellWord } from "./parse-shell.ts";

/** An assignment: `NAME=value`, `NAME+=(value)`. */
export interface Assignment {
  readonly name: string;
  readonly adds: boolean;
  readonly value: ShellWord;
}

const declarations = new Set(["local", "declare", "readonly", "export", "typeset"]);

/** The assignments of a command, with or without `local`, `export` or another declaration before them. */
export function assignmentsOf(words: readonly ShellWord[]): readonly Assignment[] {
  const from = declarations.has(words[0]?.text ?? "") ? 1 : 0;
  const found: Assignment[] = [];
  for (const word of words.slice(from)) {
    const [, name, plus, value] = /^([A-Za-z_]\w*)(\+?)=(.*)$/su.exec(word.text) ?? [];
    if (name !== undefined) found.push({ name, adds: plus === "+", value: { ...word, text: value ?? "" } });
    else if (from === 0) break;
  }
  return found;
}

/** The value of a word without expansions; `undefined` if the word has an expansion or is empty. */
export function literalOf(word: string): JsonValue | undefined {
  if (/[$`(]/u.test(word)) return undefined;
  const text = unquote(word);
  return text === "" ? undefined : toLiteral(text);
}

/** The name of the variable if the whole word is its expansion: `"$OUT"`, `${OUT:-}`. */
export function variableOf(word: string): string | undefined {
  return /^"?\$\{?([A-Za-z_]\w*)(?::?-[^}]*)?\}?"?$/u.exec(word)?.[1];
}

/** For a word that stands for all arguments (`"$@"`, `"${@:2}"`): the number of arguments at the beginning that it leaves out. */
export function allArguments(word: string): { readonly from: number } | undefined {
  if (/^"?\$(?:[@*]|\{[@*]\})"?$/u.test(word)) return { from: 0 };
  const from = /^"?\$\{[@*]:(\d+)\}"?$/u.exec(word)?.[1];
  return from === undefined ? undefined : { from: Math.max(0, Number(from) - 1) };
}

/** The default in `NAME="${NAME:-default}"`. */
export function ownDefault(name: string, value: string): JsonValue | undefined {
  const [, own, text] = /^"?\$\{([A-Za-z_]\w*):?-([^{}$]*)\}"?$/u.exec(value) ?? [];
  return own === name && text !== undefined ? literalOf(text) : undefined;
}
