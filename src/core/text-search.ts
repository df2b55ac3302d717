import { nearestNames } from "./nearest.ts";

/** Something that can be found: texts, each with how much a word in it counts. */
export interface SearchDocument {
  readonly id: string;
  readonly texts: readonly (readonly [text: string, weight: number])[];
}

/** A hit. */
export interface SearchHit {
  readonly id: string;
  /** Only to compare hits of one search. */
  readonly score: number;
}

/** An index over texts. */
export interface TextIndex {
  /** The best hits first; equal ones in the order of their ids. */
  search(query: string, limit?: number): SearchHit[];
}

interface Posting {
  readonly document: number;
  readonly count: number;
}

/** How soon more of the same word stops to count, and how much long documents are held back: the usual values. */
const saturation = 1.2;
const lengthPenalty = 0.75;

/** How much it says that a text has a word which `found` of `total` texts have. */
export function rarityOf(found: number, total: number): number {
  return Math.log(1 + (total - found + 0.5) / (found + 0.5));
}

/** How much it counts that a word is in a text `count` times; `length` is that of the text, in average texts. */
export function weightOf(count: number, length: number): number {
  return (count * (saturation + 1)) / (count + saturation * (1 - lengthPenalty + lengthPenalty * length));
}

/** Words that say nothing about what is searched for. */
const emptyWords = new Set(
  "a an and are as at be by for from how i in is it me my of on or please that the this to use was with you".split(" "),
);

/**
 * Makes an index (BM25). A word of the query that stands nowhere is looked for as the word that it was probably meant to be.
 *
 * Contract: takes time in proportion to the texts; never throws, whatever they hold.
 */
export function createTextIndex(documents: readonly SearchDocument[]): TextIndex {
  const postings = new Map<string, Posting[]>();
  const lengths = documents.map((document, index) => addDocument(postings, document, index));
  const averageLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);

  function scoreWord(word: string, share: number, scores: Map<number, number>): void {
    const found = postings.get(word) as readonly Posting[];
    const rarity = rarityOf(found.length, documents.length);
    for (const { document, count } of found) {
      const weight = weightOf(count, (lengths[document] as number) / averageLength);
      scores.set(document, (scores.get(document) ?? 0) + share * rarity * weight);
    }
  }

  return {
    search(query, limit = 20) {
      const scores = new Map<number, number>();
      for (const word of new Set(toWords(query).slice(0, 64))) {
        if (postings.has(word)) scoreWord(word, 1, scores);
        else for (const near of nearestNames(word, postings.keys(), 2)) scoreWord(near, 0.4, scores);
      }
      const hits = [...scores].map(([document, score]) => ({ id: (documents[document] as SearchDocument).id, score }));
      return hits.toSorted((left, right) => right.score - left.score || (left.id < right.id ? -1 : 1)).slice(0, limit);
    },
  };
}

function addDocument(postings: Map<string, Posting[]>, document: SearchDocument, index: number): number {
  const counts = new Map<string, number>();
  let length = 0;
  for (const [text, weight] of document.texts) {
    for (const word of toWords(text)) {
      counts.set(word, (counts.get(word) ?? 0) + weight);
      length += weight;
    }
  }
  for (const [word, count] of counts) {
    const list = postings.get(word);
    if (list === undefined) postings.set(word, [{ document: index, count }]);
    else list.push({ document: index, count });
  }
  return length;
}

/**
 * The words of a text, folded so that different forms of one word meet: `readFiles`, `read_file` and "reading files" share
 * both words. Text without spaces between words (Chinese, Japanese) is taken apart into pairs of characters.
 */
export function toWords(text: string): string[] {
  const spaced = text
    .slice(0, longestText)
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .toLowerCase();
  const words: string[] = [];
  for (const [run] of spaced.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (/[\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF]/u.test(run)) words.push(...toPairs(run));
    else if (!emptyWords.has(run)) words.push(toStem(run));
  }
  return words;
}

/** More of a text does not help to find it. */
const longestText = 100_000;

function toPairs(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Cuts the endings of English verbs and plurals; crude, but the same on both sides. */
function toStem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/u.test(word)) return word;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  const stem = word.replace(/(?:ings?|edly|ed|ers?|es|s)$/u, "");
  if (stem.length < 3 || word.endsWith("ss")) return word;
  // "running" and "run", "merge" and "merging" end the same way now; "adds" and "add" do already.
  return (stem.length > 3 ? stem.replace(/(.)\1$/u, "$1") : stem).replace(/e$/u, "");
}
