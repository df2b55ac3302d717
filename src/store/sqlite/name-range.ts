const lastCodePoint = 0x10ffff;

/** What is greater than every text for SQLite: bytes. */
const afterAll = new Uint8Array();

/**
 * The end of the texts that begin with `prefix`, as the first one behind them in the order of code points. What SQLite compares
 * by index needs two ends, not a pattern.
 */
export function toPrefixEnd(prefix: string): string | Uint8Array {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === lastCodePoint) points.pop();
  const last = points.pop();
  if (last === undefined) return afterAll;
  // Surrogates are no characters: after U+D7FF comes U+E000.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}
