import { openLongTermMemory, type UserMemory } from "kitbag/agent";

import { openStoreFile } from "./store-file.ts";

/** How many turns a memory has, and how long a question takes then. */
export interface Growth {
  readonly turns: number;
  readonly medianMs: number;
}

/** How large the memory gets. */
export const sizes: readonly number[] = [10_000, 100_000, 1_000_000];

const turnsAtOnce = 5000;
const wordsOfTurn = 18;
const wordsOfQuestion = 6;
const knownWords = 60_000;
const questions = 60;

/** Adds turns to a memory in SQLite, and asks it at each size. A word is the rarer, the higher its number is, as in a language. */
export async function growMemory(): Promise<readonly Growth[]> {
  const { store } = await openStoreFile();
  const random = createRandom();
  const memory = openLongTermMemory({ store }).of({ user: "growth" });
  const growth: Growth[] = [];
  let count = 0;
  for (const size of sizes) {
    while (count < size) {
      const turns = Array.from({ length: Math.min(turnsAtOnce, size - count) }, () => ({
        who: random() < 0.5 ? "user" : "assistant",
        text: writeText(random, wordsOfTurn),
      }));
      await memory.addTurns({ run: `run-${count}`, conversation: "growth" }, turns);
      count += turns.length;
    }
    growth.push({ turns: size, medianMs: await askSome(memory, random) });
  }
  await store.close();
  return growth;
}

async function askSome(memory: UserMemory, random: () => number): Promise<number> {
  const times: number[] = [];
  for (let asked = 0; asked < questions; asked += 1) {
    const query = writeText(random, wordsOfQuestion);
    const before = process.cpuUsage();
    await memory.recall(query, { facts: 0 });
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  return times.toSorted((left, right) => left - right)[questions / 2] ?? Number.NaN;
}

function writeText(random: () => number, words: number): string {
  return Array.from({ length: words }, () => `w${Math.floor(knownWords ** random()).toString(36)}`).join(" ");
}

/** The same numbers each time. */
function createRandom(): () => number {
  let seed = 7;
  return () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
}
