import { mostWays, type PatternPaths, type Ways } from "./pattern-paths.ts";
import { findSamples, type Sample } from "./pattern-samples.ts";

/** How much is looked at before a pattern counts as too complicated, and how many ways may go on side by side. */
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
