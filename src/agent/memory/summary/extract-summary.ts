import { cutHead, type CountTokens } from "../cut-text.ts";
import { partsOf, textOfMessage, textOfResult, toJsonText, type AnyPart } from "../message-text.ts";
import { saysWhatStays } from "../score-units.ts";
import type { Unit } from "../to-units.ts";
import { findKeySentences, toSentences } from "./key-sentences.ts";
import { parseNotes, renderNotes, type SummaryNotes } from "./summary-notes.ts";

/** So much of one text is read, and so much of one note is written. */
const mostRead = 8000;
const mostNote = 200;
const mostInput = 80;
const mostResult = 120;
/** So many sentences of one message say what stays, and so many say the most of all. */
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

/** What was called, and what came of it. */
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
