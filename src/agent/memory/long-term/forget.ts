import { parseMemoryId, toFactId, toTurnId, type FactRow, type TurnRow } from "./memory-rows.ts";
import { KitbagError } from "../../../core/errors.ts";
import { toName } from "./facts.ts";
import { dropVectors } from "./fused-search.ts";
import type { Forgotten, ForgetRequest } from "./long-term-memory.ts";
import { toRecallWords } from "./rank-texts.ts";
import type { Numbered } from "./shelf.ts";
import type { Turns } from "./turns.ts";
import type { UserMemoryParts } from "./memory-parts.ts";

/** How many turns are looked through for a fact that is forgotten. */
const mostMentions = 200;

/**
 * Deletes a fact, those that it took the place of, and the turns that say it; or a turn. Notes that something was forgotten, and not
 * what it was.
 *
 * @throws {KitbagError} `name-not-found`
 */
export async function forget(parts: UserMemoryParts, what: ForgetRequest): Promise<Forgotten> {
  const { turns, files, vectors, collections, store, prefix, now } = parts;
  const { gone, said } = await removeMeant(parts, what);
  for (const { row: fact } of gone) {
    for (const { number, row } of await findMentions(turns, fact)) {
      if ((await turns.shelf.remove(number)) !== undefined) said.set(number, row);
    }
  }
  const numbers = gone.map(({ number }) => number);
  await dropVectors(vectors, collections.facts, numbers);
  await dropVectors(vectors, collections.turns, [...said.keys()]);
  const sources = [...gone.map(({ row }) => row.source), ...[...said.values()].map(({ source }) => source)];
  const texts = (await files.list()).filter(({ text }) => gone.some(({ row }) => mentions(text, row, text)));
  const ids = { facts: numbers.map(toFactId), turns: [...said.keys()].map(toTurnId) };
  await store.log.append(`${prefix}log`, [{ type: "forgotten", ...ids, by: what.by ?? "program", at: now() }]);
  return {
    ...ids,
    runs: unique(sources.map(({ run }) => run)),
    conversations: unique(sources.map(({ conversation }) => conversation)),
    files: texts.map(({ path }) => path),
  };
}

function unique(values: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(values.filter((value) => value !== undefined))];
}

interface Removed {
  readonly gone: readonly Numbered<FactRow>[];
  readonly said: Map<number, TurnRow>;
}

async function removeMeant({ facts, turns }: UserMemoryParts, what: ForgetRequest): Promise<Removed> {
  if ("id" in what) {
    const { kind, number } = parseMemoryId(what.id);
    const gone = kind === "fact" ? await facts.remove(number) : [];
    const turn = kind === "turn" ? await turns.shelf.remove(number) : undefined;
    if (gone.length > 0 || turn !== undefined) return { gone, said: new Map(turn && [[number, turn]]) };
    const cure = "kitbag memory list shows facts with their ids, kitbag memory search turns";
    throw new KitbagError("name-not-found", { what: "memory", name: what.id, cure });
  }
  for await (const { number, row } of facts.list({ subject: what.subject ?? "user" })) {
    if (toName(row.key) === toName(what.key)) return { gone: await facts.remove(number), said: new Map() };
  }
  throw new KitbagError("name-not-found", { what: "fact", name: what.key, cure: "kitbag memory list shows the facts" });
}

/** The turns that say a fact: those of its run that have its value, and others where its key is near. */
async function findMentions(turns: Turns, fact: FactRow): Promise<readonly Numbered<TurnRow>[]> {
  const ofRun = fact.source.run === undefined ? [] : await turns.ofRun(fact.source.run);
  const found = await turns.shelf.find(`${fact.key} ${fact.value}`, mostMentions);
  const near = await Promise.all(
    found.map(async (hit) => {
      const around = await turns.shelf.getAll([hit.number - 1, hit.number, hit.number + 1]);
      return mentions(hit.row.text, fact, around.map(({ row }) => row.text).join("\n")) ? [hit] : [];
    }),
  );
  return [...ofRun.filter(({ row }) => hasWords(row.text, fact.value)), ...near.flat()];
}

/** Whether a text has the value of a fact, and what is around it has a word of its key. */
function mentions(text: string, { key, value, subject }: FactRow, context: string): boolean {
  const around = new Set(toRecallWords(context));
  return hasWords(text, value) && [...toRecallWords(key), ...toRecallWords(subject)].some((word) => around.has(word));
}

function hasWords(text: string, wanted: string): boolean {
  const words = new Set(toRecallWords(text));
  const needed = toRecallWords(wanted);
  return needed.length > 0 && needed.every((word) => words.has(word));
}
