import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { memoryStore, type Store } from "kitbag";
import { openLongTermMemory, type UserMemory } from "kitbag/agent";
import type { Embedder } from "kitbag/models";
import { toEmbedder } from "kitbag/models";

import { growMemory, type Growth, sizes } from "./memory-growth.ts";
import type { Contender, Cost, Question, Target } from "./question.ts";
import { openStoreFile } from "./store-file.ts";

/** A turn, and a question with the turns that answer it. */
interface Conversation {
  readonly turns: readonly { readonly id: string; readonly who: string; readonly text: string }[];
  readonly questions: readonly { readonly text: string; readonly evidence: readonly string[] }[];
}

/** How often, of 100 questions, all turns that answer it are among the ten that were found, and at least one. */
interface Found {
  readonly full: number;
  readonly any: number;
  /** CPU of a question. */
  readonly ms: number;
}

const data = process.env["KITBAG_LOCOMO"];
const atMost = 10;

/**
 * Conversations of LoCoMo are data of others, and not in this repository: `KITBAG_LOCOMO` names a folder with them. Without it, only the
 * growth is measured.
 */
const question: Question = {
  title: "Does memory find what was said, and how long does it take?",
  text: [
    data === undefined
      ? "Without KITBAG_LOCOMO, which names a folder with conversations of LoCoMo, only the growth is measured."
      : "The conversations of LoCoMo in KITBAG_LOCOMO: questions of categories 1 to 4 with evidence. full@10: all turns of the evidence are among the ten that are recalled; any@10: at least one is. No model and no network; beside it BM25 over single turns, and the memory with the embedder that needs no network. Turns have their speaker, and what is on a picture that was sent.",
    `Growth: turns of 18 words out of 60,000 in SQLite, questions of six of these words, the median of 60, CPU; ${sizes.map((size) => size.toLocaleString("en-US")).join(", ")} turns of one user.`,
  ].join(" "),
  unit: "% or ms CPU, as it says",
  rounds: 1,
  targets: [...(data === undefined ? [] : qualityTargets()), growthTarget()],
  contenders,
};

export default question;

function qualityTargets(): readonly Target[] {
  const missed = (text: string, least: number, name: string): Target => ({
    text: `${text} (100 minus it)`,
    unit: "%",
    limit: 100 - least,
    value: (cost: Cost) => 100 - cost(name),
  });
  return [
    missed("full@10, no model: at least 59 %", 59, "memory: full@10"),
    missed("any@10, no model: at least 71 %", 71, "memory: any@10"),
    missed("full@10, with an embedder: at least 61 %", 61, "memory with an embedder: full@10"),
    missed("any@10, with an embedder: at least 74 %", 74, "memory with an embedder: any@10"),
    { text: "a question, in SQLite", unit: "ms", limit: 1, value: (cost) => cost("memory: ms a question, in SQLite") },
  ];
}

function growthTarget(): Target {
  const largest = sizes.at(-1) ?? 0;
  return { text: "a question at 1,000,000 turns", unit: "ms", limit: 5, value: (cost) => cost(nameOf(largest)) };
}

function nameOf(size: number): string {
  return `growth: ms a question at ${size.toLocaleString("en-US")} turns`;
}

async function contenders(): Promise<readonly Contender[]> {
  const growth = await growMemory();
  const rows = growth.map(({ turns, medianMs }: Growth) => [nameOf(turns), medianMs] as const);
  return [...(data === undefined ? [] : await askAll(data)), ...rows].map(([name, value]) => ({
    name,
    measure: () => value,
  }));
}

async function askAll(folder: string): Promise<readonly (readonly [name: string, value: number])[]> {
  const conversations = globSync("*.json", { cwd: folder }).map((name) => readConversation(join(folder, name)));
  if (conversations.length === 0) throw new Error(`Cannot measure memory: there are no conversations in ${folder}`);
  const { store: file } = await openStoreFile();
  const plain = await ask(conversations, createPlainSearch);
  const memory = await ask(conversations, (one, index) => createRecall(one, memoryStore(), index));
  const kept = await ask(conversations, (one, index) => createRecall(one, file, index));
  const embedder = toEmbedder("local");
  const fused = await ask(conversations, (one, index) => createRecall(one, memoryStore(), index, embedder));
  return [
    ["BM25 over turns: full@10", plain.full],
    ["BM25 over turns: any@10", plain.any],
    ["memory: full@10", memory.full],
    ["memory: any@10", memory.any],
    ["memory with an embedder: full@10", fused.full],
    ["memory with an embedder: any@10", fused.any],
    ["memory: ms a question, in memory", memory.ms],
    ["memory: ms a question, in SQLite", kept.ms],
  ];
}

type Search = (question: string) => Promise<readonly string[]> | readonly string[];

async function ask(
  conversations: readonly Conversation[],
  open: (conversation: Conversation, index: number) => Promise<Search> | Search,
): Promise<Found> {
  let [count, full, any, cpu] = [0, 0, 0, 0];
  for (const [index, conversation] of conversations.entries()) {
    const search = await open(conversation, index);
    for (const { text, evidence } of conversation.questions) {
      const before = process.cpuUsage();
      const found = new Set(await search(text));
      const { user, system } = process.cpuUsage(before);
      const hits = evidence.filter((id) => found.has(id)).length;
      count += 1;
      cpu += user + system;
      if (hits === evidence.length) full += 1;
      if (hits > 0) any += 1;
    }
  }
  return { full: (100 * full) / count, any: (100 * any) / count, ms: cpu / 1000 / count };
}

async function createRecall(
  { turns }: Conversation,
  store: Store,
  index: number,
  embedder?: Embedder,
): Promise<Search> {
  const memory: UserMemory = openLongTermMemory({ store, ...(embedder && { embedder }) }).of({ user: String(index) });
  const numbers = await memory.addTurns({ run: "conversation" }, turns);
  const ids = new Map(numbers.map((number, place) => [number, turns[place]?.id ?? ""]));
  return async (text) => {
    const found = await memory.recall(text, { facts: 0, turns: atMost });
    return found.turns.map(({ id }) => ids.get(id) ?? "");
  };
}

/** BM25 over single turns, as it is usually written: k1 1.2, b 0.75, words in lower case. */
function createPlainSearch({ turns }: Conversation): Search {
  const texts = turns.map(({ who, text }) => toWords(`${who}: ${text}`));
  const average = texts.reduce((sum, { length }) => sum + length, 0) / texts.length;
  const holders = (word: string): number => texts.filter((words) => words.includes(word)).length;
  return (question) => {
    const words = [...new Set(toWords(question))].map((word) => {
      const found = holders(word);
      return [word, Math.log(1 + (texts.length - found + 0.5) / (found + 0.5))] as const;
    });
    const scores = texts.map((text, place) => {
      const score = words.reduce((sum, [word, rarity]) => {
        const count = text.filter((one) => one === word).length;
        return sum + (rarity * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * text.length) / average));
      }, 0);
      return { id: turns[place]?.id ?? "", score };
    });
    const best = scores.filter(({ score }) => score > 0).toSorted((left, right) => right.score - left.score);
    return best.slice(0, atMost).map(({ id }) => id);
  };
}

function toWords(text: string): readonly string[] {
  return text.toLowerCase().match(/[a-z0-9]+/gu) ?? [];
}

/** What is read of a file of LoCoMo. */
interface LocomoFile {
  readonly qa: readonly {
    readonly question: string;
    readonly category: number;
    readonly evidence?: readonly string[];
  }[];
  readonly [session: string]: unknown;
}

interface LocomoTurn {
  readonly dia_id: string;
  readonly speaker: string;
  readonly text: string;
  readonly blip_caption?: string;
}

function readConversation(path: string): Conversation {
  const file = JSON.parse(readFileSync(path, "utf8")) as LocomoFile;
  const sessions = Object.keys(file)
    .filter((name) => /^session_\d+$/u.test(name))
    .toSorted((left, right) => Number(left.slice(8)) - Number(right.slice(8)));
  const turns = sessions
    .flatMap((name) => file[name] as readonly LocomoTurn[])
    .map(({ dia_id: id, speaker: who, text, blip_caption: picture }) => ({
      id,
      who,
      text: picture === undefined ? text : `${text} ${picture}`,
    }));
  const known = new Set(turns.map(({ id }) => id));
  const questions = file.qa.flatMap(({ question: text, category, evidence = [] }) => {
    const ids = new Set(evidence.flatMap((one) => one.match(/D\d+:\d+/gu) ?? []));
    const there = [...ids].filter((id) => known.has(id));
    return category === 5 || there.length === 0 ? [] : [{ text, evidence: there }];
  });
  return { turns, questions };
}
