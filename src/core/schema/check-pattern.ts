import { describeCause } from "../errors.ts";
import { findPatternPaths, mostWays, type PatternPaths, type Ways } from "./pattern-paths.ts";
import { parsePattern } from "./pattern-tree.ts";

const longestPattern = 1000;

/**
 * Says what to write instead of `pattern`; `undefined` if it is a regular expression that takes time in proportion to the text,
 * whatever the text is.
 *
 * A matcher goes back and tries another way when one fails, and a model writes the text: two repeats that can take the same
 * characters are tried in every combination. So the ways through the pattern are counted that a matcher can be on at one place,
 * for every text there can be. This errs on the side of refusing.
 */
export function checkPattern(pattern: string): string | undefined {
  if (pattern.length > longestPattern) return `at most ${longestPattern} characters`;
  try {
    void new RegExp(pattern, "u");
  } catch (cause) {
    return `a regular expression for the flag "u" (${describeCause(cause)})`;
  }
  const parsed = parsePattern(simplifyPattern(pattern));
  if (!parsed.ok) return parsed.expected;
  const paths = findPatternPaths(parsed.tree);
  if (paths !== undefined && hasFewWays(paths, parsed.hasConditions)) return undefined;
  return 'a pattern that can be read in one way only (start it with "^", and let no repeat take what follows it: "[^@]+@", not ".+@")';
}

/**
 * The same pattern without a `.*` at its beginning, which matches nothing that the rest would not match by itself, but is tried
 * again at each place of the text. Schema libraries write it for "ends with".
 */
export function simplifyPattern(pattern: string): string {
  return pattern.replace(/^\.\*\??(?![*+?{])/u, "");
}

/** How many states and steps are tried before a pattern counts as too complicated, and how many ways its groups may have together. */
const limits = { states: 4000, steps: 1_000_000, waysOfAllGroups: 1000 };

/** Tells whether a matcher, at each place of whatever text, can be on few ways through the pattern only. */
export function hasFewWays(paths: PatternPaths, hasConditions: boolean): boolean {
  const samples = findSamples(paths.characters);
  // A match that is sure to be found ends the search; one that depends on a condition may not.
  const end = hasConditions ? new Map<number, number>() : paths.end;
  const isSearching = hasConditions || !paths.matchesNothing;
  let total = 0;
  for (const group of findGroups(paths.follow)) {
    const inGroup = (ways: Ways): Ways => new Map([...ways].filter(([character]) => group.has(character)));
    const begin = inGroup(paths.begin);
    const beginLater = inGroup(paths.beginLater);
    total += countWays({ begin, beginLater, end, follow: paths.follow, samples, isSearching });
    if (total > limits.waysOfAllGroups) return false;
  }
  return true;
}

/** Characters that no way connects, like those of look-aheads at the beginning, are looked at by themselves. */
function findGroups(follow: readonly Ways[]): Set<number>[] {
  const groupOf = follow.map((_, character) => new Set([character]));
  for (const [from, ways] of follow.entries()) {
    for (const to of ways.keys()) {
      const [kept, moved] = [groupOf[from], groupOf[to]];
      if (kept === undefined || moved === undefined || kept === moved) continue;
      for (const character of moved) {
        kept.add(character);
        groupOf[character] = kept;
      }
    }
  }
  return [...new Set(groupOf)];
}

interface Exploration {
  readonly begin: Ways;
  readonly beginLater: Ways;
  readonly end: Ways;
  readonly follow: readonly Ways[];
  readonly samples: readonly Sample[];
  readonly isSearching: boolean;
}

/** Where a matcher can be after some text, and whether a match may still begin later. */
interface State {
  readonly ways: Ways;
  readonly isSearching: boolean;
}

/**
 * Counts the ways that there can be at one place, by going through all the states that there are, which stand for all the texts
 * that there are. Infinity if there are too many.
 */
function countWays({ begin, beginLater, end, follow, samples, isSearching }: Exploration): number {
  const seen = new Set<string>();
  const waiting: State[] = [];
  let most = 0;
  let steps = 0;

  function visit(ways: Ways, wasSearching: boolean): void {
    const state = { ways, isSearching: wasSearching && !ways.keys().some((character) => end.has(character)) };
    const key = `${state.isSearching} ${[...ways].toSorted(([left], [right]) => left - right).join(";")}`;
    if (!seen.has(key)) waiting.push(state);
    seen.add(key);
    const count = ways.values().reduce((sum, one) => sum + one, 0);
    const isTooMuch = count > mostWays || seen.size > limits.states || steps > limits.steps;
    most = isTooMuch ? Infinity : Math.max(most, count);
  }

  function advance(state: State, sample: Sample): Ways {
    const next = new Map<number, number>();
    if (state.isSearching) add(next, beginLater, sample, 1);
    for (const [character, count] of state.ways) {
      const ways = follow[character] as Ways;
      steps += ways.size;
      add(next, ways, sample, count);
    }
    return next;
  }

  for (const sample of samples) visit(add(new Map(), begin, sample, 1), isSearching);
  for (let state = waiting.pop(); state !== undefined && most !== Infinity; state = waiting.pop()) {
    for (const sample of samples) if (most !== Infinity) visit(advance(state, sample), state.isSearching);
  }
  return most;
}

/** Adds to `sum` the ways that take the sampled character. */
function add(sum: Map<number, number>, ways: Ways, sample: Sample, times: number): Ways {
  for (const [character, count] of ways) {
    if (sample[character] === true) sum.set(character, (sum.get(character) ?? 0) + count * times);
  }
  return sum;
}

/** One character of a text, as the characters of a pattern see it: whether each of them takes it. */
type Sample = readonly boolean[];

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
