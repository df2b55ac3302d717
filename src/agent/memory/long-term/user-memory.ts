import { createMutex, type Mutex } from "../../../core/async.ts";
import { parseMemoryId, toFactId, toTurnId, type FactRow, type TurnRow } from "./memory-rows.ts";
import type { UserMemoryOptions, UserMemoryParts } from "./memory-parts.ts";
import { type FactQuery, Facts, type NewFact } from "./facts.ts";
import { forget } from "./forget.ts";
import { dropVectors, keepVectors, searchTexts } from "./fused-search.ts";
import type {
  Fact,
  Forgotten,
  ForgetRequest,
  MemoryRecord,
  RecalledTurn,
  RecallOptions,
  Recollection,
  Remembered,
  UserMemory,
} from "./long-term-memory.ts";
import { MemoryFiles } from "./memory-files.ts";
import { toRecallWords } from "./rank-texts.ts";
import type { Hit, Numbered } from "./shelf.ts";
import { type Turn, Turns, type TurnSource } from "./turns.ts";
import { createWorkingMemory, type WorkingMemory } from "./working-memory.ts";

const usualFacts = 5;
const usualTurns = 10;

/** The memory that is kept under a prefix. */
export class KeptMemory implements UserMemory {
  readonly files: MemoryFiles;
  readonly working?: WorkingMemory;
  readonly #parts: UserMemoryParts;
  /** Writes of one process take turns: all of them change how much there is, and would only get in each other's way. */
  readonly #inTurn: Mutex = createMutex();

  constructor(options: UserMemoryOptions) {
    const { store, prefix, limits, now, workingSchema } = options;
    const { kv } = store;
    this.files = new MemoryFiles(kv, prefix, limits, now);
    this.#parts = {
      ...options,
      facts: new Facts(kv, prefix, limits),
      turns: new Turns(kv, prefix, limits),
      files: this.files,
      collections: { facts: `${prefix}fact:vector:`, turns: `${prefix}turn:vector:` },
    };
    if (workingSchema !== undefined) this.working = createWorkingMemory(kv, prefix, workingSchema);
  }

  async addTurns(source: TurnSource, turns: readonly Turn[]): Promise<readonly string[]> {
    const { turns: kept, vectors, collections, now } = this.#parts;
    const numbers = await this.#inTurn(() => kept.add(source, turns, now()));
    const fresh = turns.slice(turns.length - numbers.length);
    const texts = fresh.map(({ who, text }, place) => ({ number: numbers[place] ?? 0, text: `${who}: ${text}` }));
    await keepVectors(vectors, collections.turns, texts);
    return numbers.map(toTurnId);
  }

  async remember(fact: NewFact): Promise<Remembered> {
    const { facts, vectors, collections, now } = this.#parts;
    const { fact: kept, isNew, closed } = await this.#inTurn(() => facts.remember(fact, now()));
    if (isNew) await keepVectors(vectors, collections.facts, [{ number: kept.number, text: kept.row.text }]);
    const old = closed.map(({ number }) => number);
    await dropVectors(vectors, collections.facts, old);
    return { fact: toFact(kept), isNew, closed: closed.map(toFact) };
  }

  async recall(query: string, options: RecallOptions = {}): Promise<Recollection> {
    const { facts = usualFacts, turns = usualTurns } = options;
    const [found, said] = await Promise.all([
      facts === 0 ? [] : recallFacts(this.#parts, query, facts),
      turns === 0 ? [] : recallTurns(this.#parts, query, turns, options),
    ]);
    return { facts: found.map(toFact), turns: said.map(toTurn) };
  }

  forget(what: ForgetRequest): Promise<Forgotten> {
    return this.#inTurn(() => forget(this.#parts, what));
  }

  async *facts(query?: FactQuery): AsyncGenerator<Fact> {
    for await (const fact of this.#parts.facts.list(query)) yield toFact(fact);
  }

  async get(id: string): Promise<Fact | RecalledTurn | undefined> {
    const { facts, turns } = this.#parts;
    const { kind, number } = parseMemoryId(id);
    if (kind === "fact") {
      const row = await facts.shelf.get(number);
      return row && toFact({ number, row });
    }
    const row = kind === "turn" ? await turns.shelf.get(number) : undefined;
    return row && toTurn({ number, row });
  }

  async *export(): AsyncGenerator<MemoryRecord> {
    for await (const fact of this.facts({ closed: true })) yield { type: "fact", ...fact };
    for await (const turn of this.#parts.turns.shelf.list()) yield { type: "turn", ...toTurn(turn) };
    for (const file of await this.files.list()) yield { type: "file", ...file };
    if (this.working !== undefined) yield { type: "working", value: await this.working.read() };
  }

  async count(): Promise<{ readonly facts: number; readonly turns: number; readonly files: number }> {
    const { facts, turns } = this.#parts;
    const [ofFacts, ofTurns, all] = await Promise.all([facts.shelf.totals(), turns.shelf.totals(), this.files.list()]);
    return { facts: ofFacts.texts, turns: ofTurns.texts, files: all.length };
  }
}

function recallTurns(
  { turns, vectors, collections, now }: UserMemoryParts,
  query: string,
  limit: number,
  { since = 0, until = Infinity }: RecallOptions,
): Promise<readonly Hit<TurnRow>[]> {
  return searchTexts<TurnRow>(turns.shelf, query, {
    limit,
    vectors,
    collection: collections.turns,
    now: now(),
    timeOf: (row) => row.time,
    ...((since > 0 || until < Infinity) && { isWanted: (row) => row.time >= since && row.time <= until }),
  });
}

/** Facts that fit. One of which the query has the whole key comes before others. */
async function recallFacts(
  { facts, vectors, collections, now }: UserMemoryParts,
  query: string,
  limit: number,
): Promise<readonly Hit<FactRow>[]> {
  const words = new Set(toRecallWords(query));
  const hasKey = ({ key }: FactRow): boolean => toRecallWords(key).every((word) => words.has(word));
  const texts = { get: (number: number) => facts.shelf.get(number), find: facts.find.bind(facts) };
  const found = await searchTexts<FactRow>(texts, query, {
    limit: limit + usualFacts,
    vectors,
    collection: collections.facts,
    now: now(),
    timeOf: (row) => row.from,
    isWanted: (row) => row.to === undefined,
  });
  const best = Math.max(...found.map(({ score }) => score), 0);
  return found
    .map((hit) => (hasKey(hit.row) ? { ...hit, score: hit.score + best } : hit))
    .toSorted((left, right) => right.score - left.score || right.number - left.number)
    .slice(0, limit);
}

function toFact({ number, row }: Numbered<FactRow>): Fact {
  const { subject, key, value, trust, source, from, to, before } = row;
  const fact = { id: toFactId(number), subject, key, value, trust, source, from };
  return { ...fact, ...(to !== undefined && { to }), ...(before !== undefined && { before: toFactId(before) }) };
}

function toTurn({ number, row: { said, who, trust, time, source } }: Numbered<TurnRow>): RecalledTurn {
  return { id: toTurnId(number), who, text: said, trust, time, source };
}
