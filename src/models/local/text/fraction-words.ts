import type { SpokenNumber } from "./number-words.ts";

const forms: readonly (readonly [pattern: RegExp, value: number])[] = [
  [/^(?:a )?half an? (?=(?:second|minute|hour)s?\b)/u, 0.5],
  [/^a half (?=(?:second|minute|hour)\b)/u, 0.5],
  [/^(?:a )?quarter of an? /u, 0.25],
  [/^a couple of /u, 2],
  [/^an? (?=(?:second|minute|hour) and a half\b)/u, 1.5],
  [/^an? (?=(?:second|minute|hour)\b)/u, 1],
];

/** Reads parts and single ones of a unit: "half an hour", "a quarter of an hour", "an hour and a half", "a couple of hours". */
export function parseFraction(words: readonly string[]): SpokenNumber | undefined {
  const text = words.join(" ");
  for (const [pattern, value] of forms) {
    const match = pattern.exec(text);
    if (match !== null) return { value, count: match[0].trim().split(" ").length };
  }
  return undefined;
}

/** Tells whether "and a half" stands at a place. */
export function hasHalf(words: readonly string[], at: number): boolean {
  return words.slice(at, at + 3).join(" ") === "and a half";
}
