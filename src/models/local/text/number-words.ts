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

/** A number in words, and how many words it took. */
export interface SpokenNumber {
  readonly value: number;
  readonly count: number;
}

/** Reads a number in words ("twenty-five", "a hundred and five", "2 million") at the beginning of `words`. */
export function parseSpokenNumber(words: readonly string[], digits?: number): SpokenNumber | undefined {
  const article = digits === undefined ? skipArticle(words) : 0;
  const isHundred = article === 1 && words[1] !== "dozen";
  const start = digits === undefined ? article : 1;
  const { state, count } = readParts(words, start, { total: 0, current: isHundred ? 1 : digits, isScaled: false });
  if (digits === undefined && count === start) return undefined;
  const isNumber = state.isScaled || state.current !== undefined;
  return isNumber ? { value: state.total + (state.current ?? 0), count } : undefined;
}

function readParts(words: readonly string[], start: number, begin: Reading): { state: Reading; count: number } {
  let state = begin;
  let count = start;
  // Digits are a whole number: only "million" and the like can follow.
  const isWhole = begin.current !== undefined;
  for (; count < words.length; count++) {
    const word = words[count] as string;
    if (word === "and" && state.isScaled && partOf(words[count + 1] ?? "") !== undefined) continue;
    const next = addScale(state, word) ?? (isWhole && !state.isScaled ? undefined : addPart(state, word));
    if (next === undefined) break;
    state = next;
  }
  return { state, count };
}

interface Reading {
  readonly total: number;
  readonly current: number | undefined;
  /** Whether there was a "hundred" or more already. */
  readonly isScaled: boolean;
}

/** "a hundred", "a dozen". */
function skipArticle([first = "", second = ""]: readonly string[]): number {
  return (first === "a" || first === "an") && (scales.has(second) || second === "dozen") ? 1 : 0;
}

function addScale({ total, current, isScaled }: Reading, word: string): Reading | undefined {
  const scale = scales.get(word);
  if (scale === undefined || (current === undefined && !isScaled)) return undefined;
  const scaled = (current ?? 1) * scale;
  return scale >= 1000
    ? { total: total + scaled, current: undefined, isScaled: true }
    : { total, current: scaled, isScaled: true };
}

function addPart(state: Reading, word: string): Reading | undefined {
  const part = partOf(word);
  return part === undefined || !isFree(state.current, part)
    ? undefined
    : { ...state, current: (state.current ?? 0) + part };
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
