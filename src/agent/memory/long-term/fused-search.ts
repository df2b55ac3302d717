import { type Embedder, toUnitVector, type VectorStore } from "../../../core/embedder.ts";
import type { Hit, Kept, Numbered } from "./shelf.ts";

/** What texts are searched in. */
export interface Searched<Row extends Kept> {
  get(number: number): Promise<Row | undefined>;
  find(query: string, limit: number): Promise<readonly Hit<Row>[]>;
}

/** Vectors beside words: for texts that say the same in other words. */
export interface Vectors {
  readonly embedder: Embedder;
  readonly store: VectorStore;
}

/** How much words and vectors count. Each is divided by that of the best text: ranks would say nothing of how good a weak model is. */
const wordShare = 0.6;
const vectorShare = 0.4;
/** How many texts near the query are looked at beside those with its words. */
const mostNear = 200;
/** How many of the best by words are looked at, before time and vectors put them in order; and if there is only time. */
const mostByWords = 60;
const fewMore = 6;
/** What was said just now counts so much more than what was said long ago; half of that after a month. */
const recencyShare = 0.05;
const halfLifeMs = 30 * 24 * 3600 * 1000;

/** Finds the texts that fit a query best, by words, vectors if there are any, and time. */
export async function searchTexts<Row extends Kept>(
  texts: Searched<Row>,
  query: string,
  { limit, vectors, collection, now, timeOf, isWanted }: SearchOptions<Row>,
): Promise<readonly Hit<Row>[]> {
  const isPlain = vectors === undefined && isWanted === undefined;
  const [byWords, near] = await Promise.all([
    texts.find(query, isPlain ? limit + fewMore : Math.max(limit, mostByWords)),
    vectors === undefined ? undefined : findNear(vectors, collection, query),
  ]);
  const fused = near === undefined ? byWords : await fuse(texts, byWords, near);
  return fused
    .filter(({ row }) => isWanted?.(row) !== false)
    .map((hit) => ({
      ...hit,
      score: hit.score * (1 + recencyShare * 2 ** (-Math.max(0, now - timeOf(hit.row)) / halfLifeMs)),
    }))
    .toSorted((left, right) => right.score - left.score || right.number - left.number)
    .slice(0, limit);
}

/** What is wanted of a search. */
export interface SearchOptions<Row extends Kept> {
  readonly limit: number;
  readonly vectors?: Vectors | undefined;
  /** Where the vectors of these texts are. */
  readonly collection: string;
  readonly now: number;
  readonly timeOf: (row: Row) => number;
  readonly isWanted?: ((row: Row) => boolean) | undefined;
}

type Near = ReadonlyMap<number, number>;

/** What is near; nothing if the model or the vectors cannot be reached: then the words alone decide. */
async function findNear({ embedder, store }: Vectors, collection: string, query: string): Promise<Near | undefined> {
  try {
    const [vector] = await embedder.embed([query]);
    if (vector === undefined) return undefined;
    const found = await store.search(toCollection(collection, embedder), toUnitVector(vector), mostNear);
    return found.length === 0 ? undefined : new Map(found.map(({ id, similarity }) => [id, similarity]));
  } catch {
    return undefined;
  }
}

async function fuse<Row extends Kept>(
  texts: Searched<Row>,
  byWords: readonly Hit<Row>[],
  near: Near,
): Promise<readonly Hit<Row>[]> {
  const bestScore = Math.max(...byWords.map(({ score }) => score), Number.MIN_VALUE);
  const similarities = [...near.values()].map((value) => Math.max(0, value));
  const bestNear = Math.max(...similarities, Number.MIN_VALUE);
  // One that is not among the nearest is at most as near as the last of them.
  const least = near.size < mostNear ? 0 : Math.min(...similarities);
  const scores = new Map(byWords.map(({ number, score }) => [number, score / bestScore]));
  const rows = new Map(byWords.map(({ number, row }) => [number, row]));
  const missing = [...near.keys()].filter((number) => !rows.has(number));
  for (const { number, row } of await getAll(texts, missing)) rows.set(number, row);
  return [...rows].map(([number, row]) => {
    const similarity = Math.max(0, near.get(number) ?? least) / bestNear;
    return { number, row, score: wordShare * (scores.get(number) ?? 0) + vectorShare * similarity };
  });
}

async function getAll<Row extends Kept>(
  texts: Searched<Row>,
  numbers: readonly number[],
): Promise<readonly Numbered<Row>[]> {
  const rows = await Promise.all(numbers.map((number) => texts.get(number)));
  return numbers.flatMap((number, place) => {
    const row = rows[place];
    return row === undefined ? [] : [{ number, row }];
  });
}

/** Keeps the vectors of texts. A model that cannot be asked leaves them out: they are still found by their words. */
export async function keepVectors(
  vectors: Vectors | undefined,
  collection: string,
  texts: readonly { readonly number: number; readonly text: string }[],
): Promise<void> {
  if (vectors === undefined || texts.length === 0) return;
  const { embedder, store } = vectors;
  try {
    const made = await embedder.embed(texts.map(({ text }) => text));
    const kept = texts.flatMap(({ number: id }, place) => {
      const vector = made[place];
      return vector === undefined ? [] : [{ id, vector: toUnitVector(vector) }];
    });
    await store.put(toCollection(collection, embedder), kept);
  } catch {
    // A run does not fail because of what only helps to find it again.
  }
}

/** Deletes the vectors of texts. */
export async function dropVectors(
  vectors: Vectors | undefined,
  collection: string,
  ids: readonly number[],
): Promise<void> {
  if (vectors !== undefined && ids.length > 0)
    await vectors.store.delete(toCollection(collection, vectors.embedder), ids);
}

function toCollection(collection: string, { name }: Embedder): string {
  return `${collection}${name.replaceAll(/[^\w.-]/gu, "_").slice(0, 100)}`;
}
