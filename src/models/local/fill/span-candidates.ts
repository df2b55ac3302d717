import { type Token, textAt, wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import { fitNumber } from "./convert-token.ts";
import type { Parameter } from "./parameter.ts";
import { readAmount } from "./read-value.ts";

/** Names of the two ends of something. */
const ends = [
  ["min", "max"],
  ["minimum", "maximum"],
  ["from", "to"],
  ["start", "end"],
  ["first", "last"],
  ["low", "high"],
  ["lower", "upper"],
  ["lowest", "highest"],
] as const;

/** "between 10 and 20", "from 10 to 20", "10-20": two numbers for two parameters that are the ends of something, whether they may be left out or not. */
export function spanCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  const pair = endsOf(place.parameters);
  const end = pair.indexOf(parameter);
  if (end === -1) return [];
  return place.tokens.flatMap((token, at) => {
    if (token.kind === "range") return fromRange(parameter, token, at, end);
    const second = secondOf(place.tokens, at);
    if (second === undefined) return [];
    const where = end === 0 ? at : second;
    // "10 to 20 euros" and "10 minutes to 20": what has a unit is measured by it.
    const found = readAmount(place, parameter, where);
    if (found === undefined) return [];
    return [{ parameter, value: found.value, from: where, to: found.to, cueFrom: at - 1, cueTo: second, score: 57 }];
  });
}

/** The only two ends that there are: of several pairs, what is counted must tell. */
export function endsOf(parameters: readonly Parameter[]): readonly Parameter[] {
  const numbers = parameters.filter(({ type }) => type === "integer" || type === "number");
  const pairs = ends.flatMap(([low, high]) =>
    numbers.flatMap((first) => {
      const index = first.words.indexOf(low);
      const wanted = first.words.with(Math.max(0, index), high).join(" ");
      const last = index === -1 ? undefined : numbers.find(({ words }) => words.join(" ") === wanted);
      return last === undefined ? [] : [[first, last]];
    }),
  );
  return pairs.length === 1 ? (pairs[0] ?? []) : [];
}

/** Where the second number is; `undefined` if these are no two ends. */
function secondOf(tokens: readonly Token[], at: number): number | undefined {
  if (tokens[at]?.kind !== "number") return undefined;
  // The first may have its unit behind it.
  const joint = tokens[at + 1]?.kind === "word" && tokens[at + 2]?.kind === "word" ? at + 2 : at + 1;
  const cue = wordAt(tokens, at - 1);
  const word = wordAt(tokens, joint);
  const isJoined =
    (word === "and" && cue === "between") ||
    /^(?:to|until|till|through)$/u.test(word) ||
    dashes.test(textAt(tokens, joint));
  return isJoined && tokens[joint + 1]?.kind === "number" ? joint + 1 : undefined;
}

const dashes = /^[-–—]$/u;

/** "10-20" is one piece; the first end takes it, and the other one has its part. */
function fromRange(parameter: Parameter, { text }: Token, at: number, end: number): Candidate[] {
  const number = /^(\d+)-(\d+)$/u.exec(text)?.[end + 1];
  const value = number === undefined ? undefined : fitNumber(parameter, Number(number));
  return value === undefined ? [] : [{ parameter, value, from: at, to: end === 0 ? at + 1 : at, score: 57 }];
}
