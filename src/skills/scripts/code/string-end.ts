import type { StringSyntax } from "./syntax.ts";

/** Finds where a string ends whose text starts at `from`, and whether there is code in it. One that is never closed ends with the text. */
export function findStringEnd(source: string, style: StringSyntax, from: number): { end: number; dynamic: boolean } {
  let dynamic = false;
  for (let index = from; index < source.length; index++) {
    const character = source.charAt(index);
    if (character === style.escape) index += 1;
    else if (character === style.close.charAt(0) && source.startsWith(style.close, index))
      return { end: index, dynamic };
    else if (character === "\n" && !style.multiline) return { end: index, dynamic };
    else if (style.interpolation !== undefined && source.startsWith(style.interpolation, index)) {
      dynamic = true;
      index = findExpressionEnd(source, index + style.interpolation.length, source.length);
    }
  }
  return { end: source.length, dynamic };
}

/** Finds the brace that closes code in a string; quotes and braces in it are counted, not read. Without one it is `to`. */
export function findExpressionEnd(source: string, from: number, to: number): number {
  let depth = 1;
  for (let index = from; index < to; index++) {
    const character = source.charAt(index);
    if (character === "\\") index += 1;
    else if (character === "{") depth += 1;
    else if (character === "}") {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  return to;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "", "\n": "", "0": "" };

/** Turns the text between quotes into what the string is. */
export function fromEscaped(raw: string, escape: string): string {
  if (!raw.includes(escape)) return raw;
  let text = "";
  for (let index = 0; index < raw.length; index++) {
    const character = raw.charAt(index);
    if (character !== escape) {
      text += character;
      continue;
    }
    index += 1;
    const next = raw.charAt(index);
    text += escapes[next] ?? next;
  }
  return text;
}
