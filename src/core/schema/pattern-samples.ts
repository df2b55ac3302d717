/** One character of a text, as the characters of a pattern see it: whether each of them takes it. */
export type Sample = readonly boolean[];

/** Where `\s`, `\S` and `.` change their mind beyond ASCII. */
const spaces = [0xa0, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff];

/** Finds every kind of character that is different to a pattern with these `characters`. */
export function findSamples(characters: readonly string[]): Sample[] {
  const sources = [...new Set(characters)];
  const points = findPoints(sources);
  const taken = new Map(sources.map((source) => [source, findTaken(source, points)]));
  const samples = new Map<string, Sample>();
  for (const index of points.keys()) {
    const key = sources.map((source) => Number(taken.get(source)?.[index])).join("");
    if (!samples.has(key)) {
      samples.set(
        key,
        characters.map((source) => taken.get(source)?.[index] === true),
      );
    }
  }
  return [...samples.values()];
}

/** ASCII one by one, and beyond it the places where a range can begin or end. */
function findPoints(sources: readonly string[]): number[] {
  const borders = new Set([0x80, ...spaces, ...sources.flatMap(literalPoints)]);
  const beyondAscii = new Set([...borders].flatMap((point) => [point - 1, point, point + 1]));
  return [...Array(0x80).keys(), ...[...beyondAscii].filter((point) => point >= 0x80 && point <= 0x10ffff)];
}

function findTaken(source: string, points: readonly number[]): boolean[] {
  const grammar = new RegExp(`^${source}$`, "u");
  // What these take beyond ASCII has too many borders to look at: everything, then.
  const isWide = /\\[pP]|\\u[dD][89a-fA-F]/u.test(source);
  return points.map((point) => (isWide && point >= 0x80) || grammar.test(String.fromCodePoint(point)));
}

/** The code points that stand in a character of a pattern: literally, or as `\x41`, `\u0041`, `\u{41}`. */
function literalPoints(source: string): number[] {
  return Array.from(source.matchAll(/\\x(..)|\\u\{([^}]*)\}|\\u(.{4})|[^\0-\x7f]/gu), ([text, byte, point, unit]) => {
    const digits = byte ?? point ?? unit;
    return digits === undefined ? Number(text.codePointAt(0)) : Number.parseInt(digits, 16);
  });
}
