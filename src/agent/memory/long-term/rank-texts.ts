import { rarityOf, toWords, weightOf } from "../../../core/text-search.ts";
import type { FoundWord } from "./word-index.ts";

/** How many texts there are, and how many words they have together. */
export interface TextTotals {
  readonly texts: number;
  readonly words: number;
}

/** A text and how well it fits: only to compare with others of one search. */
export interface RankedText {
  readonly number: number;
  readonly score: number;
}

/**
 * How much the text itself counts, and how much it counts together with its neighbours, which are said right before and after it:
 * an answer seldom repeats the words of its question.
 */
const ownShare = 0.67;
const nearShare = 0.33;
/** So many texts are looked at for the rare words of a query; its other words only count for these. */
const mostSeen = 2000;

/** Words that make a question or a sentence, and say nothing about what is searched for. */
const emptyWords = new Set(
  "what when where who which why did do does have has had his her their he she they we your its were been will would can could about after before".split(
    " ",
  ),
);

/** The words by which a text is found: as core folds them, without words that nearly every text has. */
export function toRecallWords(text: string): string[] {
  return toWords(text).filter((word) => !emptyWords.has(word));
}

/**
 * Ranks texts by BM25: each text alone, and each with its neighbours. Answers with the best first, at most `limit`, among equals the
 * newest first. A number may be that of a neighbour which does not exist.
 */
export function rankTexts(found: readonly FoundWord[], totals: TextTotals, limit: number): readonly RankedText[] {
  // The rarest first: they decide which texts are looked at.
  const words = found.toSorted((left, right) => left.found - right.found);
  const seen = collect(words);
  const average = totals.words / Math.max(1, totals.texts);
  const rarities = words.map((word) => rarityOf(word.found, Math.max(word.found, totals.texts)));
  const best: RankedText[] = [];
  const rank = (number: number): void =>
    keepBest(best, { number, score: scoreOf(seen, number, rarities, average) }, limit);
  for (const number of seen.places.keys()) {
    rank(number);
    if (!seen.places.has(number + 1)) rank(number + 1);
    if (!seen.places.has(number - 1) && !seen.places.has(number - 2)) rank(number - 1);
  }
  return best;
}

function scoreOf(seen: SeenTexts, number: number, rarities: readonly number[], average: number): number {
  const self = seen.places.get(number);
  const before = seen.places.get(number - 1);
  const after = seen.places.get(number + 1);
  const length = lengthAt(seen, self, average);
  const nearLength = (length + lengthAt(seen, before, average) + lengthAt(seen, after, average)) / (3 * average);
  let sum = 0;
  for (let word = 0; word < rarities.length; word += 1) {
    const count = countAt(seen, self, word);
    const near = count + countAt(seen, before, word) + countAt(seen, after, word);
    if (near === 0) continue;
    const own = count === 0 ? 0 : ownShare * weightOf(count, length / average);
    sum += (rarities[word] as number) * (own + nearShare * weightOf(near, nearLength));
  }
  return sum;
}

/** Keeps a text if it is one of the `limit` best. There are thousands, and few are kept. */
function keepBest(best: RankedText[], text: RankedText, limit: number): void {
  const last = best.at(-1);
  if (best.length >= limit && last !== undefined && !isBetter(text, last)) return;
  let place = best.length;
  while (place > 0 && isBetter(text, best[place - 1] as RankedText)) place -= 1;
  best.splice(place, 0, text);
  if (best.length > limit) best.pop();
}

function isBetter(left: RankedText, right: RankedText): boolean {
  return left.score > right.score || (left.score === right.score && left.number > right.number);
}

/** The texts that are looked at, each at a place: how often it has which word, and its length. */
interface SeenTexts {
  readonly places: Map<number, number>;
  readonly width: number;
  readonly counts: Uint8Array;
  readonly lengths: Uint16Array;
}

function collect(words: readonly FoundWord[]): SeenTexts {
  const size = Math.min(
    words.reduce((sum, { postings }) => sum + postings.numbers.length, 0),
    2 * mostSeen,
  );
  const width = words.length;
  const places = new Map<number, number>();
  const seen = { places, width, counts: new Uint8Array(size * width), lengths: new Uint16Array(size) };
  for (const [index, { postings }] of words.entries()) {
    const { numbers, counts, lengths } = postings;
    // From the newest on.
    for (let at = numbers.length - 1; at >= 0; at -= 1) {
      const number = numbers[at] as number;
      let place = places.get(number);
      if (place === undefined) {
        if (places.size >= size || !isWanted(places, number)) continue;
        places.set(number, (place = places.size));
        seen.lengths[place] = lengths[at] as number;
      }
      seen.counts[place * width + index] = counts[at] as number;
    }
  }
  return seen;
}

/** Once there are many texts, only their neighbours are added: they count for them. */
function isWanted(places: ReadonlyMap<number, number>, number: number): boolean {
  return places.size < mostSeen || places.has(number - 1) || places.has(number + 1);
}

function countAt({ counts, width }: SeenTexts, place: number | undefined, index: number): number {
  return place === undefined ? 0 : (counts[place * width + index] as number);
}

/** A text that has no word of the query is taken for one of average length. */
function lengthAt({ lengths }: SeenTexts, place: number | undefined, average: number): number {
  return place === undefined ? average : (lengths[place] as number);
}
