const lastCodePoint = 0x10ffff;
const firstSurrogate = 0xd800;
const afterSurrogates = 0xe000;

/** Comes after every key there can be: none has so many characters of this kind. */
const afterAll = String.fromCodePoint(lastCodePoint).repeat(257);

/**
 * Finds a text that comes after all keys with this prefix, and before all others that come after them, in the order of code
 * points. With it an index is read from the prefix to the end and no further.
 */
export function toPrefixEnd(prefix: string): string {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  while (points.at(-1) === lastCodePoint) points.pop();
  const last = points.pop();
  if (last === undefined) return afterAll;
  const next = last + 1 === firstSurrogate ? afterSurrogates : last + 1;
  return String.fromCodePoint(...points, next);
}
