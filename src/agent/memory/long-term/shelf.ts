import { isKitbagError } from "../../../core/errors.ts";
import { isRecord, type JsonObject } from "../../../core/json.ts";
import type { KeyValueStore } from "../../../core/store.ts";
import { addPosting, createPostingList } from "./posting-list.ts";
import { rankTexts, toRecallWords } from "./rank-texts.ts";
import { countWords, type FoundWord, type IndexedText, WordIndex } from "./word-index.ts";

/** Something that is kept, with the text by which it is found. */
export interface Kept extends JsonObject {
  readonly text: string;
}

/** What is kept, under its number. */
export interface Numbered<Row extends Kept> {
  readonly number: number;
  readonly row: Row;
}

/** What was found, and how well it fits: only to compare with the rest of one search. */
export interface Hit<Row extends Kept> extends Numbered<Row> {
  readonly score: number;
}

/** How much is kept. */
export interface ShelfTotals {
  readonly texts: number;
  readonly words: number;
  /** Of the texts, as UTF-8. */
  readonly bytes: number;
  /** How many there are of each kind. */
  readonly kinds: Readonly<Record<string, number>>;
}

/** What new rows are. */
export interface Reserving {
  /** What follows each other in one group are neighbours, if nothing of another group came in between. @default a group of its own */
  readonly group?: string;
  /** What {@link ShelfTotals.kinds} counts them as. */
  readonly kind?: string;
  /** Throws to refuse the rows, given what is there. */
  readonly check?: (totals: ShelfTotals) => void;
}

/** What is known of a shelf as a whole. */
interface Head extends ShelfTotals {
  readonly next: number;
  readonly group: string;
}

const noHead: Head = { next: 0, group: "", texts: 0, words: 0, bytes: 0, kinds: {} };
/** So many of the best are looked at beside those that are wanted: one may be gone, or rank lower once all its words are counted. */
const mostMissing = 4;
const mostRecounted = 14;
/** More words of a query do not help. */
const mostQueryWords = 32;
const numberLength = 12;
const durable = false;
const page = 500;

/**
 * Texts in the order in which they were added, each with a number, found by their words.
 *
 * **Contract**: numbers rise, and are given once. `put` with a reserved number may be called again: it makes good what a process left
 * that died. Several processes may write at the same time. Adding and finding take the same time however much is kept. Rejects with
 * what the store rejects with.
 */
export class Shelf<Row extends Kept> {
  readonly #kv: KeyValueStore;
  readonly #prefix: string;
  readonly #index: WordIndex;

  /** All its keys begin with `prefix`. */
  constructor(kv: KeyValueStore, prefix: string) {
    this.#kv = kv;
    this.#prefix = prefix;
    this.#index = new WordIndex(kv, prefix);
  }

  async totals(): Promise<ShelfTotals> {
    return (await this.#readHead()).head;
  }

  /** Takes numbers for new rows, one after the other, and answers with the first. */
  async reserve(rows: readonly Row[], { group = "", kind = "", check }: Reserving = {}): Promise<number> {
    let first = 0;
    await this.#changeHead((head) => {
      check?.(head);
      // A number that is left out keeps neighbours apart.
      first = group !== "" && group === head.group ? head.next : head.next + 1;
      return { ...addTo(head, rows, kind, 1), next: first + rows.length, group };
    });
    return first;
  }

  /** Keeps rows under numbers that were reserved. They are on disk once anything that is `durable` was written after them. */
  async put(first: number, rows: readonly Row[]): Promise<void> {
    const texts = rows.map((row, place): IndexedText => ({ number: first + place, words: toRecallWords(row.text) }));
    const written = rows.map((row, place) => this.#kv.set(this.#key(first + place), row, { durable }));
    await Promise.all([this.#index.add(texts), ...written]);
  }

  /** Changes a row, and not its text. */
  async change(number: number, row: Row): Promise<void> {
    await this.#kv.set(this.#key(number), row);
  }

  /** Has a row no longer found by its words; it can still be read. */
  async hide(number: number): Promise<void> {
    const row = await this.get(number);
    if (row !== undefined) await this.#index.remove({ number, words: toRecallWords(row.text) });
  }

  /** Deletes a row and its words; answers with what it was. */
  async remove(number: number, kind = ""): Promise<Row | undefined> {
    const row = await this.get(number);
    if (row === undefined) return undefined;
    await this.hide(number);
    if (await this.#kv.delete(this.#key(number))) await this.#changeHead((head) => addTo(head, [row], kind, -1));
    return row;
  }

  async get(number: number): Promise<Row | undefined> {
    return (await this.#kv.get(this.#key(number)))?.value as Row | undefined;
  }

  async getAll(numbers: readonly number[]): Promise<readonly Numbered<Row>[]> {
    const rows = await Promise.all(numbers.map((number) => this.get(number)));
    return numbers.flatMap((number, place) => {
      const row = rows[place];
      return row === undefined ? [] : [{ number, row }];
    });
  }

  /** All rows after a number, in their order. */
  async *list(after = 0): AsyncGenerator<Numbered<Row>> {
    for (let last = this.#key(after), length = page; length === page;) {
      const rows = await this.#kv.list({ prefix: `${this.#prefix}row:`, after: last, limit: page });
      for (const [key, { value }] of rows) yield { number: Number(key.slice(-numberLength)), row: value as Row };
      last = rows.at(-1)?.[0] ?? last;
      length = rows.length;
    }
  }

  /** The rows that fit best, the best first. */
  async find(query: string, limit: number): Promise<readonly Hit<Row>[]> {
    const words = [...new Set(toRecallWords(query))].slice(0, mostQueryWords);
    const [found, { head }] = await Promise.all([this.#index.find(words), this.#readHead()]);
    const isCut = found.some((word) => word.isCut);
    const ranked = rankTexts(found, head, limit + (isCut ? mostRecounted : mostMissing));
    const rows = await this.getAll(ranked.map(({ number }) => number));
    const again = isCut ? rankTexts(await this.#recount(found, rows), head, limit + mostRecounted) : ranked;
    const byNumber = new Map(rows.map(({ number, row }) => [number, row]));
    const hits = again.flatMap(({ number, score }) => {
      const row = byNumber.get(number);
      return row === undefined ? [] : [{ number, row, score }];
    });
    return hits.slice(0, limit);
  }

  /** Counts the words of these rows and their neighbours: of a common word, only the newest texts were read. */
  async #recount(found: readonly FoundWord[], rows: readonly Numbered<Row>[]): Promise<readonly FoundWord[]> {
    const known = new Set(rows.map(({ number }) => number));
    const near = new Set(rows.flatMap(({ number }) => [number - 1, number + 1]).filter((number) => !known.has(number)));
    const all = [...rows, ...(await this.getAll([...near]))].toSorted((left, right) => left.number - right.number);
    const lists = new Map(found.map(({ word }) => [word, createPostingList()]));
    for (const { number, row } of all) {
      const words = toRecallWords(row.text);
      for (const [word, count] of countWords(words)) {
        const list = lists.get(word);
        if (list !== undefined) addPosting(list, { number, count, length: words.length });
      }
    }
    return found.map((word) => ({ ...word, postings: lists.get(word.word) ?? word.postings }));
  }

  async #readHead(): Promise<{ readonly head: Head; readonly version: number }> {
    const kept = await this.#kv.get(this.#headKey());
    return { head: { ...noHead, ...(isRecord(kept?.value) && kept.value) }, version: kept?.version ?? 0 };
  }

  async #changeHead(change: (head: Head) => Head): Promise<void> {
    for (;;) {
      const { head, version } = await this.#readHead();
      try {
        await this.#kv.set(this.#headKey(), { ...change(head) }, { ifVersion: version, durable });
        return;
      } catch (cause) {
        if (!isKitbagError(cause, "store-conflict")) throw cause;
      }
    }
  }

  #headKey(): string {
    return `${this.#prefix}head`;
  }

  #key(number: number): string {
    return `${this.#prefix}row:${String(number).padStart(numberLength, "0")}`;
  }
}

function addTo(head: Head, rows: readonly Kept[], kind: string, sign: 1 | -1): Head {
  const words = rows.reduce((sum, { text }) => sum + toRecallWords(text).length, 0);
  const bytes = rows.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return {
    ...head,
    texts: head.texts + sign * rows.length,
    words: head.words + sign * words,
    bytes: head.bytes + sign * bytes,
    kinds: { ...head.kinds, [kind]: (head.kinds[kind] ?? 0) + sign * rows.length },
  };
}
