import type { SpokenNumber } from "./number-words.ts";

const units = /^(?:second|minute|hour)s?$/u;

/** Reads parts and single ones of a unit: "half an hour", "a quarter of an hour", "an hour and a half", "a couple of hours". */
export function parseFraction(words: readonly string[]): SpokenNumber | undefined {
  const start = isArticle(words[0]) ? 1 : 0;
  const [first = "", second = "", third = ""] = words.slice(start);
  if (first === "half" && isArticle(second) && units.test(third)) return { value: 0.5, count: start + 2 };
  if (start === 1 && first === "half" && units.test(second)) return { value: 0.5, count: 2 };
  if (first === "quarter" && second === "of" && isArticle(third)) return { value: 0.25, count: start + 3 };
  if (start === 1 && first === "couple" && second === "of") return { value: 2, count: 3 };
  return start === 1 && units.test(first) ? { value: hasHalf(words, 2) ? 1.5 : 1, count: 1 } : undefined;
}

/** Tells whether "and a half" stands at a place. */
export function hasHalf(words: readonly string[], at: number): boolean {
  return words[at] === "and" && isArticle(words[at + 1]) && words[at + 2] === "half";
}

function isArticle(word: string | undefined): boolean {
  return word === "a" || word === "an";
}
