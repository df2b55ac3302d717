import {
  type AnyPart,
  type CountTokens,
  cutHead,
  partsOf,
  textOfMessage,
  textOfResult,
  toJsonText,
} from "../message-text.ts";
import { saysWhatStays, type Unit } from "../to-units.ts";

/** What is known about messages that are left out, the oldest first. */
interface SummaryNotes {
  readonly wanted: readonly string[];
  readonly asked: readonly string[];
  readonly calls: readonly string[];
  readonly said: readonly string[];
}

/** What each list is called where it is written down. */
const headings: Readonly<Record<keyof SummaryNotes, string>> = {
  wanted: "Decided and wanted:",
  asked: "Asked for:",
  calls: "Calls and what came of them:",
  said: "Also said:",
};
const names = Object.keys(headings) as (keyof SummaryNotes)[];
const byHeading = new Map(names.map((name) => [headings[name], name]));

/** Writes notes down. */
function renderNotes(notes: SummaryNotes): string {
  const lists = names.filter((name) => notes[name].length > 0);
  return lists.map((name) => [headings[name], ...notes[name].map((note) => `- ${note}`)].join("\n")).join("\n");
}

/** Reads notes again. What a model has written has no headings: its lines are what was said. */
function parseNotes(text: string): SummaryNotes {
  const notes: Record<keyof SummaryNotes, string[]> = { wanted: [], asked: [], calls: [], said: [] };
  let name: keyof SummaryNotes = "said";
  for (const given of text.split("\n")) {
    const line = given.trim();
    const heading = byHeading.get(line);
    if (heading !== undefined) name = heading;
    else if (line !== "") notes[name].push(line.replace(/^[-*] /u, ""));
  }
  return notes;
}

/** In characters: how much of a message is read, and how long a note about a message, an input and a result may be. */
const mostRead = 8000;
const mostNote = 200;
const mostInput = 80;
const mostResult = 120;
/** The maximum number of decisions noted from one message, and of key sentences from the whole conversation. */
const mostWanted = 3;
const mostSaid = 40;

/** What part of the room each list has before what is left is given to all. */
const shares: readonly (readonly [name: keyof SummaryNotes, share: number])[] = [
  ["wanted", 0.35],
  ["asked", 0.25],
  ["said", 0.2],
  ["calls", 0.2],
];

/**
 * Puts together what messages say that are left out, without a model: what was asked for and decided, what was called and what came
 * of it, and the sentences that say the most. What was noted `earlier` is in it. The same messages always give the same.
 */
export function extractSummary(units: readonly Unit[], earlier: string, maxTokens: number, count: CountTokens): string {
  const known = parseNotes(earlier);
  const found = takeNotes(units);
  const all: SummaryNotes = {
    wanted: [...known.wanted, ...found.wanted],
    asked: [...known.asked, ...found.asked],
    calls: [...known.calls, ...found.calls],
    said: [...known.said, ...found.said],
  };
  return renderNotes(pick(all, maxTokens, count));
}

function takeNotes(units: readonly Unit[]): SummaryNotes {
  const wanted: string[] = [];
  const asked: string[] = [];
  const calls: string[] = [];
  const texts: string[] = [];
  for (const { role, messages } of units) {
    const [message, results] = messages;
    if (message === undefined) continue;
    const text = textOfMessage(message).slice(0, mostRead).toWellFormed();
    const settled = toSentences(text).filter((sentence) => saysWhatStays(sentence, role));
    wanted.push(...settled.slice(0, mostWanted).map(toNote));
    if (role === "user" && text.trim() !== "") asked.push(toNote(text));
    if (role === "assistant") texts.push(text);
    calls.push(...noteCalls(partsOf(message), results === undefined ? [] : partsOf(results)));
  }
  return { wanted, asked, calls, said: findKeySentences(texts, mostSaid).map(toNote).toReversed() };
}

function toNote(text: string): string {
  return cutHead(toLine(text), mostNote);
}

/** Writes each call with its result on one line. */
function noteCalls(parts: readonly AnyPart[], results: readonly AnyPart[]): readonly string[] {
  return parts.flatMap((part) => {
    if (part.type !== "tool-call") return [];
    const result = [...results, ...parts].find(
      ({ type, toolCallId }) => type === "tool-result" && toolCallId === part.toolCallId,
    );
    const input = cutHead(toLine(toJsonText(part.input)), mostInput);
    return [`${String(part.toolName)}(${input === "{}" ? "" : input}) → ${noteResult(result)}`];
  });
}

function noteResult(result: AnyPart | undefined): string {
  if (result === undefined) return "nothing yet";
  const text = cutHead(toLine(textOfResult(result)), mostResult);
  const type = result.output?.type ?? "";
  if (type.startsWith("error")) return `failed: ${text}`;
  return type === "execution-denied" ? `denied: ${text}` : text === "" ? "done" : text;
}

function toLine(text: string): string {
  return text.slice(0, mostRead).toWellFormed().replace(/\s+/gu, " ").trim();
}

/** As many notes as there is room for: first the newest of each list within its share, then whatever else fits. */
function pick(notes: SummaryNotes, maxTokens: number, count: CountTokens): SummaryNotes {
  const picked: Record<keyof SummaryNotes, Set<number>> = {
    wanted: new Set(),
    asked: new Set(),
    calls: new Set(),
    said: new Set(),
  };
  const written = new Set<string>();
  let left = maxTokens;
  const take = (name: keyof SummaryNotes, most: number): void => {
    let room = Math.min(most, left);
    for (let index = notes[name].length - 1; index >= 0 && room > 4; index--) {
      const note = notes[name][index] ?? "";
      if (picked[name].has(index) || written.has(note)) continue;
      // The heading is paid for with the first note.
      const tokens = count(`- ${note}\n`) + (picked[name].size === 0 ? 8 : 1);
      if (tokens > room) continue;
      picked[name].add(index);
      written.add(note);
      room -= tokens;
      left -= tokens;
    }
  };
  for (const [name, share] of shares) take(name, maxTokens * share);
  for (const [name] of shares) take(name, left);
  const only = (name: keyof SummaryNotes): string[] => notes[name].filter((_, index) => picked[name].has(index));
  return { wanted: only("wanted"), asked: only("asked"), calls: only("calls"), said: only("said") };
}

/** Words that are everywhere. */
const common: ReadonlySet<string> = new Set(
  "about after again also because been before being between both could does doing done down each from have having here into itself just like made make more most much need only other over said same should some such than that their them then there these they this those through under until very want were what when where which while will with would your yours".split(
    " ",
  ),
);
const shortest = 20;
const longest = 300;

/** The sentences of a text, without line breaks. Linear in its length. */
function toSentences(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?。！？])\s+|\n+/u)
    .map((sentence) => sentence.replace(/\s+/gu, " ").trim())
    .filter((sentence) => sentence !== "");
}

/** The sentences of texts that say the most, with the words that are said most often; the best first. */
function findKeySentences(texts: readonly string[], most: number): readonly string[] {
  const sentences = [...new Set(texts.flatMap(toSentences))].filter(
    ({ length }) => length >= shortest && length <= longest,
  );
  const words = sentences.map(toWords);
  const counts = new Map<string, number>();
  for (const list of words) for (const word of new Set(list)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const scored = sentences.map((sentence, index) => ({ sentence, index, score: scoreOf(words[index] ?? [], counts) }));
  scored.sort((left, right) => right.score - left.score || left.index - right.index);
  return scored.slice(0, most).map(({ sentence }) => sentence);
}

function toWords(sentence: string): readonly string[] {
  return (sentence.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []).filter((word) => !common.has(word));
}

/** Long sentences are not better for being long. */
function scoreOf(words: readonly string[], counts: ReadonlyMap<string, number>): number {
  if (words.length === 0) return 0;
  const sum = words.reduce((total, word) => total + (counts.get(word) ?? 0), 0);
  return sum / Math.sqrt(words.length + 4);
}
