import type { MemoryLimits, FactRow, MemorySource, MemoryTrust } from "./memory-rows.ts";
import { KitbagError, isKitbagError } from "../../../core/errors.ts";
import { isRecord, showValue } from "../../../core/json.ts";
import type { KeyValueStore } from "../../../core/store.ts";
import { type Hit, type Numbered, Shelf, type ShelfTotals } from "./shelf.ts";

/** A fact to remember. */
export interface NewFact {
  /** Who or what it is about. @default "user" */
  readonly subject?: string;
  /** Which of its properties: `favourite colour`. */
  readonly key: string;
  readonly value: string;
  /** Who said it. @default "model" */
  readonly trust?: MemoryTrust;
  /** The trust if the user has said nothing of this subject and key yet: the name of a key is text, too. @default `trust` */
  readonly trustIfNew?: MemoryTrust;
  readonly source?: MemorySource;
}

/** What came of a fact. */
interface KeptFact {
  readonly fact: Numbered<FactRow>;
  readonly isNew: boolean;
  readonly closed: readonly Numbered<FactRow>[];
}

/** Which facts to list. */
export interface FactQuery {
  readonly subject?: string;
  /** Also those that do not hold any more. @default false */
  readonly closed?: boolean;
}

const trusts: readonly MemoryTrust[] = ["tool", "model", "user"];
const longestName = 100;
const page = 500;

/** Which facts of a subject and a key hold: at most one for each kind of source. */
type Slot = { readonly [Trust in MemoryTrust]?: number };

/**
 * The facts of one memory.
 *
 * **Contract**: what is written is never changed, only closed. A fact closes those of the same subject and key that were said by the
 * same, or by a less trusted source: what a tool says stands beside what the user said, and does not replace it.
 */
export class Facts {
  readonly shelf: Shelf<FactRow>;
  readonly #kv: KeyValueStore;
  readonly #prefix: string;
  readonly #limits: MemoryLimits;

  /** All its keys begin with `prefix`. */
  constructor(kv: KeyValueStore, prefix: string, limits: MemoryLimits) {
    this.#kv = kv;
    this.#prefix = prefix;
    this.#limits = limits;
    this.shelf = new Shelf(kv, `${prefix}fact:`);
  }

  /** @throws {KitbagError} `memory-invalid` for what is no fact, `memory-full` */
  async remember(given: NewFact, now: number): Promise<KeptFact> {
    const row = await this.#toRow(given, now);
    const same = await this.#findSame(row);
    if (same !== undefined) return { fact: same, isNew: false, closed: [] };
    const before = (await this.#readSlot(row)).slot[row.trust];
    const whole = before === undefined ? row : { ...row, before };
    const check = (totals: ShelfTotals): void => checkRoom(row, totals, this.#limits);
    const number = await this.shelf.reserve([whole], { kind: row.trust, check });
    await this.shelf.put(number, [whole]);
    const closed = await this.#takeSlot({ number, row: whole });
    for (const old of closed) {
      await this.shelf.hide(old.number);
      await this.shelf.change(old.number, { ...old.row, to: now });
    }
    return { fact: { number, row: whole }, isNew: true, closed };
  }

  async *list({ subject, closed = false }: FactQuery = {}): AsyncGenerator<Numbered<FactRow>> {
    for await (const slot of this.#listSlots(subject)) yield* this.#listOf(slot, closed);
  }

  /** Facts that hold, the best first. */
  async find(query: string, limit: number): Promise<readonly Hit<FactRow>[]> {
    const hits = await this.shelf.find(query, limit);
    const current = await Promise.all(hits.map((hit) => this.#holds(hit)));
    return hits.filter((_, place) => current[place]);
  }

  /** Deletes a fact and all that were ever kept of the same subject and key; answers with what they were. */
  async remove(number: number): Promise<readonly Numbered<FactRow>[]> {
    const row = await this.shelf.get(number);
    if (row === undefined) return [];
    const { slot, version } = await this.#readSlot(row);
    const all = new Map([[number, row]]);
    for await (const fact of this.#listOf(slot, true)) all.set(fact.number, fact.row);
    if (version > 0) await this.#kv.delete(this.#slotKey(row));
    for (const [one, { trust }] of all) await this.shelf.remove(one, trust);
    return [...all].map(([one, gone]) => ({ number: one, row: gone }));
  }

  async #toRow({ trustIfNew, ...given }: NewFact, now: number): Promise<FactRow> {
    const row = toRow(given, this.#limits, now);
    if (trustIfNew === undefined || (await this.#readSlot(row)).slot.user !== undefined) return row;
    return toRow({ ...given, trust: trustIfNew }, this.#limits, now);
  }

  /** The same value from a source that is trusted as much: there is nothing to add. */
  async #findSame(fact: FactRow): Promise<Numbered<FactRow> | undefined> {
    const { slot } = await this.#readSlot(fact);
    const known = trusts.slice(trusts.indexOf(fact.trust)).flatMap((trust) => slot[trust] ?? []);
    return (await this.shelf.getAll(known)).find(({ row }) => toName(row.value) === toName(fact.value));
  }

  /** Puts a fact into its slot, and answers with those that it closes. */
  async #takeSlot({ number, row }: Numbered<FactRow>): Promise<readonly Numbered<FactRow>[]> {
    const lower = new Set<string>(trusts.slice(0, trusts.indexOf(row.trust) + 1));
    for (;;) {
      const { slot, version } = await this.#readSlot(row);
      const entries = Object.entries(slot);
      const kept = Object.fromEntries(entries.filter(([trust]) => !lower.has(trust)));
      try {
        await this.#kv.set(this.#slotKey(row), { ...kept, [row.trust]: number }, { ifVersion: version });
        return await this.shelf.getAll(entries.flatMap(([trust, old]) => (lower.has(trust) ? [old] : [])));
      } catch (cause) {
        if (!isKitbagError(cause, "store-conflict")) throw cause;
      }
    }
  }

  async #holds({ number, row }: Numbered<FactRow>): Promise<boolean> {
    return (await this.#readSlot(row)).slot[row.trust] === number;
  }

  async *#listSlots(subject: string | undefined): AsyncGenerator<Slot> {
    const prefix = `${this.#prefix}slot:${subject === undefined ? "" : `${toName(subject)}|`}`;
    for (let after = "", length = page; length === page;) {
      const slots = await this.#kv.list({ prefix, after, limit: page });
      for (const [, { value }] of slots) yield value as Slot;
      after = slots.at(-1)?.[0] ?? after;
      length = slots.length;
    }
  }

  async *#listOf(slot: Slot, closed: boolean): AsyncGenerator<Numbered<FactRow>> {
    for (const fact of await this.shelf.getAll(trusts.toReversed().flatMap((trust) => slot[trust] ?? []))) {
      yield fact;
      if (closed) yield* this.#listBefore(fact.row);
    }
  }

  async *#listBefore({ before }: FactRow): AsyncGenerator<Numbered<FactRow>> {
    for (let number = before; number !== undefined;) {
      const row: FactRow | undefined = await this.shelf.get(number);
      if (row === undefined) return;
      yield { number, row };
      number = row.before;
    }
  }

  async #readSlot(fact: FactRow): Promise<{ readonly slot: Slot; readonly version: number }> {
    const kept = await this.#kv.get(this.#slotKey(fact));
    return { slot: isRecord(kept?.value) ? kept.value : {}, version: kept?.version ?? 0 };
  }

  #slotKey({ subject, key }: FactRow): string {
    return `${this.#prefix}slot:${toName(subject)}|${toName(key)}`;
  }
}

/** A name in the form in which names are compared: `Favourite_Colour` and `favourite colour` are one. */
export function toName(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[\s_|\-\p{Cc}]+/gu, " ")
    .trim();
}

/** @throws {KitbagError} `memory-invalid` */
function toRow(fact: NewFact, { valueCharacters }: MemoryLimits, from: number): FactRow {
  const { trust = "model", source = {} } = fact;
  const subject = toFactText("subject", fact.subject ?? "user", longestName);
  const key = toFactText("key", fact.key, longestName);
  const value = toFactText("value", fact.value, valueCharacters);
  if (trusts.includes(trust)) return { text: `${subject} ${key}: ${value}`, subject, key, value, trust, source, from };
  const expected = trusts.join(", ");
  throw new KitbagError("memory-invalid", { what: "the trust of a fact", found: showValue(trust), expected });
}

function toFactText(name: string, given: unknown, most: number): string {
  const text = typeof given === "string" ? given.toWellFormed().trim() : "";
  const compared = toName(text);
  if (compared !== "" && text.length <= most && compared.length <= most) return text;
  const expected = `a text of 1 to ${most} characters`;
  throw new KitbagError("memory-invalid", { what: `the ${name} of a fact`, found: showValue(given), expected });
}

/** @throws {KitbagError} `memory-full` */
function checkRoom({ trust, text }: FactRow, { texts, bytes, kinds }: ShelfTotals, limits: MemoryLimits): void {
  const { facts, factBytes, unconfirmedFacts } = limits;
  if (texts >= facts) throw new KitbagError("memory-full", { what: "facts", limit: facts });
  if (bytes + Buffer.byteLength(text) > factBytes)
    throw new KitbagError("memory-full", { what: "bytes of facts", limit: factBytes });
  // What was not said by the user has less room: it cannot crowd out what the user said.
  const unconfirmed = (kinds["model"] ?? 0) + (kinds["tool"] ?? 0);
  if (trust !== "user" && unconfirmed >= unconfirmedFacts) {
    throw new KitbagError("memory-full", { what: "facts that the user did not say", limit: unconfirmedFacts });
  }
}
