/**
 * Splits the arguments of a skill as a shell splits words: spaces separate, quotes and backslashes keep together. Nothing is
 * expanded: `$HOME`, `*` and `;` are plain text. A quote that never closes, as in `don't`, is a plain character.
 */
export function splitArguments(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let offset = 0; offset < text.length;) {
    const character = text[offset] ?? "";
    if (/\s/u.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      offset++;
      continue;
    }
    const piece = readPiece(text, offset, character);
    word = (word ?? "") + piece.text;
    offset = piece.end;
  }
  if (word !== undefined) words.push(word);
  return words;
}

interface Piece {
  readonly text: string;
  readonly end: number;
}

function readPiece(text: string, offset: number, character: string): Piece {
  if (character === "\\" && offset + 1 < text.length) return { text: text[offset + 1] ?? "", end: offset + 2 };
  if (character === "'") {
    const end = text.indexOf("'", offset + 1);
    if (end !== -1) return { text: text.slice(offset + 1, end), end: end + 1 };
  }
  if (character === '"') return readDoubleQuoted(text, offset) ?? { text: character, end: offset + 1 };
  return { text: character, end: offset + 1 };
}

function readDoubleQuoted(text: string, offset: number): Piece | undefined {
  if (text.indexOf('"', offset + 1) === -1) return undefined;
  let inner = "";
  for (let at = offset + 1; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === '"') return { text: inner, end: at + 1 };
    const next = text[at + 1] ?? "";
    if (character === "\\" && next !== "" && '"\\$`'.includes(next)) {
      inner += next;
      at++;
    } else inner += character;
  }
  return undefined;
}
