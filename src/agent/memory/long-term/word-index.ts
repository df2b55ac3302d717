import { isKitbagError } from "../../../core/errors.ts";
import { isRecord } from "../../../core/json.ts";
import type { KeyValueStore, VersionedValue } from "../../../core/store.ts";
import {
  addPosting,
  createPostingList,
  type Posting,
  type PostingList,
  readPostings,
  removePosting,
  writePostings,
} from "./posting-list.ts";

/** A text to find again: its number, and its words, each as often as it has it. */
export interface IndexedText {
  readonly number: number;
  readonly words: readonly string[];
}

/** What the index knows of a word. */
export interface FoundWord {
  readonly word: string;
  /** How many texts have it. */
  readonly found: number;
  /** The newest of them. */
  readonly postings: PostingList;
  /** Whether there are older ones. */
  readonly isCut: boolean;
}

/** How many texts one value holds: few, because it is written whole each time. */
const pageSize = 400;
/** How many older values are read for a word: about 2,000 texts. */
const mostPages = 5;
/** Longer words are found by their beginning. */
const longestWord = 64;
/** It can be made again from the texts, which are on disk. */
const durable = false;

/** A word, as it is kept: its newest texts, and how many pages of older ones there are, with how many texts. */
interface Head {
  readonly pages: number;
  readonly before: number;
  readonly list: PostingList;
  readonly version: number;
}

/**
 * Which texts have a word, kept in a store: one value for each word with its newest texts, and one for each few hundred older ones. So
 * adding a text and finding a word take the same time however many texts there are, in every store.
 *
 * **Contract**: a text that was added only in part, because its process died, can be added again. Several processes may write at the
 * same time. Rejects with what the store rejects with.
 */
export class WordIndex {
  readonly #kv: KeyValueStore;
  readonly #prefix: string;

  /** All its keys begin with `prefix`. */
  constructor(kv: KeyValueStore, prefix: string) {
    this.#kv = kv;
    this.#prefix = prefix;
  }

  async add(texts: readonly IndexedText[]): Promise<void> {
    const byWord = new Map<string, Posting[]>();
    for (const { number, words } of texts) {
      for (const [word, count] of countWords(words)) {
        const posting = { number, count, length: words.length };
        const list = byWord.get(word);
        if (list === undefined) byWord.set(word, [posting]);
        else list.push(posting);
      }
    }
    await Promise.all([...byWord].map(([word, list]) => this.#addTo(word, list)));
  }

  async remove({ number, words }: IndexedText): Promise<void> {
    for (const word of countWords(words).keys()) await this.#removeFrom(word, number);
  }

  /** Words that no text has are left out. */
  async find(words: readonly string[]): Promise<readonly FoundWord[]> {
    const found = await Promise.all([...countWords(words).keys()].map((word) => this.#find(word)));
    return found.filter((word) => word.found > 0);
  }

  async #find(word: string): Promise<FoundWord> {
    const { pages, before, list } = await this.#read(word);
    const found = before + list.numbers.length;
    if (pages === 0) return { word, found, postings: list, isCut: false };
    const first = Math.max(0, pages - mostPages);
    const keys = Array.from({ length: pages - first }, (_, index) => this.#pageKey(word, first + index));
    const postings = createPostingList();
    for (const page of await Promise.all(keys.map((key) => this.#kv.get(key)))) readPostings(toText(page), postings);
    for (const [index, number] of list.numbers.entries()) {
      postings.numbers.push(number);
      postings.counts.push(list.counts[index] ?? 1);
      postings.lengths.push(list.lengths[index] ?? 1);
    }
    return { word, found, postings, isCut: first > 0 };
  }

  async #addTo(word: string, texts: readonly Posting[]): Promise<void> {
    for (let rest = texts; rest.length > 0;) {
      const { pages, before, list, version } = await this.#read(word);
      if (list.numbers.length >= pageSize) {
        // Another process that does this writes the same: the newest texts of this version.
        await this.#kv.set(this.#pageKey(word, pages), writePostings(list), { durable });
        const next = { pages: pages + 1, before: before + list.numbers.length, list: createPostingList(), version };
        await this.#write(word, next);
        continue;
      }
      const now = rest.slice(0, pageSize - list.numbers.length);
      const added = now.filter((text) => addPosting(list, text));
      if (added.length === 0 || (await this.#write(word, { pages, before, list, version }))) {
        rest = rest.slice(now.length);
      }
    }
  }

  async #removeFrom(word: string, number: number): Promise<void> {
    for (;;) {
      const { pages, before, list, version } = await this.#read(word);
      if (removePosting(list, number)) {
        if (await this.#write(word, { pages, before, list, version })) return;
      } else {
        if (!(await this.#removeFromPages(word, number, pages))) return;
        if (await this.#write(word, { pages, before: before - 1, list, version })) return;
      }
    }
  }

  async #removeFromPages(word: string, number: number, pages: number): Promise<boolean> {
    for (let page = pages - 1; page >= 0; page -= 1) {
      const key = this.#pageKey(word, page);
      const kept = await this.#kv.get(key);
      const list = createPostingList();
      readPostings(toText(kept), list);
      if (!removePosting(list, number)) continue;
      await this.#kv.set(key, writePostings(list), { durable, ifVersion: kept?.version ?? 0 });
      return true;
    }
    return false;
  }

  /** What is no such value holds nothing. */
  async #read(word: string): Promise<Head> {
    const kept = await this.#kv.get(this.#key(word));
    const { pages, before, postings } = isRecord(kept?.value) ? kept.value : {};
    const list = createPostingList();
    if (typeof postings === "string") readPostings(postings, list);
    return {
      pages: typeof pages === "number" ? pages : 0,
      before: typeof before === "number" ? before : 0,
      list,
      version: kept?.version ?? 0,
    };
  }

  /** Writes a word unless another process has changed it; answers whether it did. */
  async #write(word: string, { pages, before, list, version }: Head): Promise<boolean> {
    const value = { pages, before, postings: writePostings(list) };
    try {
      await this.#kv.set(this.#key(word), value, { durable, ifVersion: version });
      return true;
    } catch (cause) {
      if (isKitbagError(cause, "store-conflict")) return false;
      throw cause;
    }
  }

  #key(word: string): string {
    return `${this.#prefix}word:${word}`;
  }

  #pageKey(word: string, page: number): string {
    return `${this.#prefix}page:${word}:${page}`;
  }
}

/** How often each word is there, cut to what is kept of it. */
export function countWords(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) {
    const cut = word.slice(0, longestWord);
    counts.set(cut, (counts.get(cut) ?? 0) + 1);
  }
  return counts;
}

function toText(kept: VersionedValue | undefined): string {
  return typeof kept?.value === "string" ? kept.value : "";
}
