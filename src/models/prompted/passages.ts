import type { Passage } from "./find-region.ts";
import { findFenceEnd } from "./read-fence.ts";
import type { Source } from "./source.ts";

/** How far a passage goes in the text there is. */
export interface PassageEnd {
  /** What is before belongs to it. */
  readonly end: number;
  /** Where to go on: behind what closed it. */
  readonly next: number;
  readonly isClosed: boolean;
}

/** Finds the end of a passage, or how much of it is certain: what may be the beginning of its end is left for later. */
export function findPassageEnd(source: Source, at: number, passage: Passage): PassageEnd {
  const { text } = source;
  switch (passage.kind) {
    case "think":
      return findThinkEnd(source, at, passage);
    case "fence": {
      const end = findFenceEnd(text, at, passage.fence);
      if (end !== undefined && (source.ended || end < text.length)) return { end, next: end, isClosed: true };
      return goOn(source, at, Math.max(text.lastIndexOf("\n"), at));
    }
    case "until": {
      const found = text.indexOf(passage.ending, at);
      if (found !== -1) return { end: found, next: found + passage.ending.length, isClosed: true };
      return goOn(source, at, Math.max(at, text.length - passage.ending.length + 1));
    }
    case "inline":
      return findInlineEnd(source, at);
    case "dropped":
      return { end: text.length, next: text.length, isClosed: false };
  }
}

function goOn({ text, ended }: Source, at: number, certain: number): PassageEnd {
  const end = ended ? text.length : Math.max(at, certain);
  return { end, next: end, isClosed: false };
}

const inlineEnd = /[`\n]/gu;

/** Inline code ends with its line at the latest. */
function findInlineEnd(source: Source, at: number): PassageEnd {
  const { text } = source;
  inlineEnd.lastIndex = at;
  let next = inlineEnd.exec(text)?.index;
  if (next === undefined) return goOn(source, at, text.length);
  if (text.charAt(next) === "\n") return { end: next, next, isClosed: true };
  const start = next;
  while (text.charAt(next) === "`") next += 1;
  if (next === text.length && !source.ended) return { end: start, next: start, isClosed: false };
  return { end: next, next, isClosed: true };
}

const thinkTags =
  /<(\/?)(?:[a-z]+:)?(?:think|thinking|thought|reasoning|reflection|scratchpad)\s{0,4}>|\[(\/?)THINK\]/giu;

/** A block inside a block does not end it. */
function findThinkEnd(source: Source, at: number, passage: Extract<Passage, { kind: "think" }>): PassageEnd {
  const { text } = source;
  thinkTags.lastIndex = at;
  for (let match = thinkTags.exec(text); match !== null; match = thinkTags.exec(text)) {
    const isClosing = match[1] === "/" || match[2] === "/";
    passage.depth += isClosing ? -1 : 1;
    if (passage.depth <= 0) return { end: match.index, next: match.index + match[0].length, isClosed: true };
    // What was counted is not looked at again.
    if (!source.ended) return { end: thinkTags.lastIndex, next: thinkTags.lastIndex, isClosed: false };
  }
  const last = Math.max(text.lastIndexOf("<"), text.lastIndexOf("["));
  return goOn(source, at, last >= at && text.length - last < 32 ? last : text.length);
}
