const small =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const tens = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");

const values = new Map<string, number>([
  ...small.map((word, index) => [word, index] as const),
  ...tens.map((word, index) => [word, (index + 2) * 10] as const),
  ["dozen", 12],
]);

const scales = new Map<string, number>([
  ["hundred", 100],
  ["thousand", 1000],
  ["million", 1e6],
  ["billion", 1e9],
]);

const ordinals = new Map<string, number>(
  "first second third fourth fifth sixth seventh eighth ninth tenth".split(" ").map((word, index) => [word, index + 1]),
);

/** The number that an ordinal ("second", "3rd") stands for. */
export function parseOrdinal(word: string): number | undefined {
  const [, digits] = /^(\d{1,4})(?:st|nd|rd|th)$/u.exec(word) ?? [];
  return digits === undefined ? ordinals.get(word) : Number(digits);
}

/** A number in words, and how many words it took. */
export interface SpokenNumber {
  readonly value: number;
  readonly count: number;
}

/** Reads a number in words ("twenty-five", "a hundred and five", "2 million") at the beginning of `words`. */
export function parseSpokenNumber(words: readonly string[], digits?: number): SpokenNumber | undefined {
  let total = 0;
  let current = digits;
  let count = digits === undefined ? 0 : 1;
  let isAfterScale = false;
  for (; count < words.length; count++) {
    const word = words[count] as string;
    const scale = scales.get(word);
    const next = scales.get(words[count + 1] ?? "");
    if (scale !== undefined && (current !== undefined || isAfterScale)) {
      current = (current ?? 1) * scale;
      if (scale >= 1000) {
        total += current;
        current = undefined;
      }
      isAfterScale = true;
    } else if (
      (word === "a" || word === "an") &&
      current === undefined &&
      (next !== undefined || words[count + 1] === "dozen")
    ) {
      if (next === undefined) continue;
      current = 1;
    } else if (word === "and" && isAfterScale && partOf(words[count + 1] ?? "") !== undefined) continue;
    else {
      const part = partOf(word);
      if (part === undefined || (digits !== undefined && !isAfterScale) || !isFree(current, part)) break;
      current = (current ?? 0) + part;
    }
  }
  const isNumber = current !== undefined || isAfterScale;
  return isNumber && count > 0 ? { value: total + (current ?? 0), count } : undefined;
}

/** Tells whether `part` can follow: "twenty five" is one number, "five twenty" is two. */
function isFree(current: number | undefined, part: number): boolean {
  if (current === undefined) return true;
  if (current % 100 === 0 && current > 0) return true;
  return current % 10 === 0 && current % 100 >= 20 && part < 10 && part > 0;
}

function partOf(word: string): number | undefined {
  const direct = values.get(word);
  if (direct !== undefined) return direct;
  const [left = "", right = "", ...rest] = word.split("-");
  const ten = values.get(left);
  const one = values.get(right);
  const isPair = rest.length === 0 && ten !== undefined && ten >= 20 && one !== undefined && one > 0 && one < 10;
  return isPair ? ten + one : undefined;
}
