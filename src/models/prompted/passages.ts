import type { Source } from "./source.ts";

/** Text that goes on until something ends it, and in which no call is looked for. */
export interface Passage {
  readonly kind: "think" | "shown" | "dropped";
  /** What ends it; or begins another one inside it, if one of its groups is empty. */
  readonly ending: RegExp;
  /** What may be the beginning of its end, at the end of the text there is: it is left for later. */
  readonly held: RegExp;
  depth: number;
}

const never = /(?!)/gu;
const thinkTags =
  /<(\/?)(?:[a-z]+:)?(?:think|thinking|thought|reasoning|reflection|scratchpad)\s{0,4}>|\[(\/?)THINK\]/giu;

/** A think block. A block inside a block does not end it. */
export function thinkPassage(): Passage {
  return { kind: "think", ending: thinkTags, held: /[<[][^<[]{0,31}$/u, depth: 1 };
}

/** Thoughts that end with a token of their own, such as those of Harmony and Apertus. */
export function thoughtsUntil(ending: string): Passage {
  return { kind: "think", ending: new RegExp(ending, "gu"), held: /<[^<>]{0,20}$/u, depth: 1 };
}

/** What a model has made up after its calls: it is left out. */
export function droppedPassage(): Passage {
  return { kind: "dropped", ending: never, held: never, depth: 1 };
}

/** A block that is shown, up to a fence at the start of a line. */
export function fencePassage(fence: string): Passage {
  const ending = new RegExp(`(?<=(?:^|\\n)[ \\t]{0,7}|[ \\t]{8})${fence}${fence.charAt(0)}*`, "gu");
  return { kind: "shown", ending, held: /\n[^\n]*$/u, depth: 1 };
}

/** Inline code, which ends with its line at the latest. */
export function inlinePassage(): Passage {
  return { kind: "shown", ending: /`+|(?=\n)/gu, held: never, depth: 1 };
}

/** What is shown up to a text: a comment, a quoted line, an example in tags. */
export function passageUntil(ending: string): Passage {
  const held = new RegExp(`${ending.charAt(0)}[^]{0,${Math.max(0, ending.length - 2)}}$`, "u");
  return { kind: "shown", ending: new RegExp(ending, "gu"), held: ending.length > 1 ? held : never, depth: 1 };
}

/** How far a passage goes in the text there is. */
export interface PassageEnd {
  /** What is before belongs to it. */
  readonly end: number;
  /** Where to go on: behind what closed it. */
  readonly next: number;
  readonly isClosed: boolean;
}

/** Finds the end of a passage, or how much of it is certain. */
export function findPassageEnd({ text, ended }: Source, at: number, passage: Passage): PassageEnd {
  passage.ending.lastIndex = at;
  for (let match = passage.ending.exec(text); match !== null; match = passage.ending.exec(text)) {
    const next = match.index + match[0].length;
    // Marks of a fence may be longer than what there is of them.
    if (!ended && next === text.length && /[`~]$/u.test(match[0]))
      return { end: match.index, next: match.index, isClosed: false };
    passage.depth += match.slice(1).includes("") ? 1 : -1;
    if (passage.depth === 0) return { end: passage.kind === "think" ? match.index : next, next, isClosed: true };
    // Counted text is not read again.
    if (!ended) return { end: next, next, isClosed: false };
  }
  const held = ended ? null : passage.held.exec(text.slice(at));
  const end = held === null ? text.length : at + held.index;
  return { end, next: end, isClosed: false };
}
