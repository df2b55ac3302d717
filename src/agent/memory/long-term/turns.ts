import type { MemoryLimits, MemorySource, TurnRow } from "./memory-rows.ts";
import { cutText } from "../../../core/cut-text.ts";
import { isRecord } from "../../../core/json.ts";
import type { KeyValueStore, WriteOptions } from "../../../core/store.ts";
import { toOwnerKey } from "../../../workspace/users.ts";
import { type Numbered, Shelf, type ShelfTotals } from "./shelf.ts";

/** One turn of a conversation. */
export interface Turn {
  /** `user`, `assistant`, or a name. */
  readonly who: string;
  readonly text: string;
  /** Milliseconds since 1970. @default now */
  readonly time?: number;
}

/** Where turns are from. */
export interface TurnSource {
  /** What names them: a run, or any other id. Of turns that are added under it again, only those that are new are kept. */
  readonly run: string;
  readonly conversation?: string | undefined;
}

/** More of one turn is in the log of its run. */
const longestTurn = 20_000;

/** What was kept of a run: from which number on, and how many, each time that turns were added. */
interface RunTurns {
  readonly parts: readonly (readonly [first: number, count: number])[];
  /** Whether the last part is wholly kept. */
  readonly isDone: boolean;
}

/**
 * What was said, turn by turn.
 *
 * **Contract**: turns of a run are kept once, also if its process died while they were being kept. Turns of one conversation are
 * neighbours, unless turns of another one were added in between. When there are more than the limits allow, the oldest are deleted.
 */
export class Turns {
  readonly shelf: Shelf<TurnRow>;
  readonly #kv: KeyValueStore;
  readonly #prefix: string;
  readonly #limits: MemoryLimits;

  /** All its keys begin with `prefix`. */
  constructor(kv: KeyValueStore, prefix: string, limits: MemoryLimits) {
    this.#kv = kv;
    this.#prefix = prefix;
    this.#limits = limits;
    this.shelf = new Shelf(kv, `${prefix}turn:`);
  }

  /** Answers with the numbers of the new ones. */
  async add({ run, conversation }: TurnSource, turns: readonly Turn[], now: number): Promise<readonly number[]> {
    const source = { run, ...(conversation !== undefined && { conversation }) };
    const rows = turns.map((turn) => toRow(turn, source, now));
    const known = await this.#readRun(run);
    const [first = 0, count = 0] = known.parts.at(-1) ?? [];
    const before = known.parts.reduce((sum, [, each]) => sum + each, 0);
    // A process that died in the middle has left them incomplete.
    if (!known.isDone) await this.shelf.put(first, rows.slice(before - count, before));
    const fresh = rows.slice(before);
    if (fresh.length === 0) {
      if (!known.isDone) await this.#writeRun(run, { ...known, isDone: true });
      return [];
    }
    const next = await this.shelf.reserve(fresh, { group: conversation ?? run });
    const parts = [...known.parts, [next, fresh.length] as const];
    await this.#writeRun(run, { parts, isDone: false }, { durable: false });
    await this.shelf.put(next, fresh);
    await this.#writeRun(run, { parts, isDone: true });
    await this.#makeRoom();
    return fresh.map((_, place) => next + place);
  }

  /** The turns of a run that are kept. */
  async ofRun(run: string): Promise<readonly Numbered<TurnRow>[]> {
    const { parts } = await this.#readRun(run);
    return this.shelf.getAll(
      parts.flatMap(([first, count]) => Array.from({ length: count }, (_, place) => first + place)),
    );
  }

  /** Deletes the oldest turns that are too many. */
  async #makeRoom(): Promise<void> {
    const isTooMuch = ({ texts, bytes }: ShelfTotals): boolean =>
      texts > this.#limits.turns || bytes > this.#limits.turnBytes;
    if (!isTooMuch(await this.shelf.totals())) return;
    const key = `${this.#prefix}oldest`;
    const start = Number((await this.#kv.get(key))?.value ?? 0);
    for await (const { number } of this.shelf.list(start)) {
      await this.shelf.remove(number);
      await this.#kv.set(key, number, { durable: false });
      if (!isTooMuch(await this.shelf.totals())) return;
    }
  }

  async #readRun(run: string): Promise<RunTurns> {
    const kept = (await this.#kv.get(this.#runKey(run)))?.value;
    const { parts, isDone } = isRecord(kept) ? kept : {};
    return { parts: Array.isArray(parts) ? (parts as RunTurns["parts"]) : [], isDone: isDone !== false };
  }

  async #writeRun(
    run: string,
    { parts, isDone }: RunTurns,
    options: Pick<WriteOptions, "durable"> = {},
  ): Promise<void> {
    await this.#kv.set(this.#runKey(run), { parts, isDone }, options);
  }

  #runKey(run: string): string {
    return `${this.#prefix}run:${toOwnerKey(run)}`;
  }
}

function toRow({ who, text, time }: Turn, source: MemorySource, now: number): TurnRow {
  const said = cutText(text, longestTurn).toWellFormed();
  const trust = who === "assistant" ? "model" : "user";
  return { text: `${who}: ${said}`, said, who, trust, time: time ?? now, source };
}
