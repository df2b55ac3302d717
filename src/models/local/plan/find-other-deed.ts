import { toolWordsOf } from "../fill/tool-words.ts";
import { isCommandVerb } from "../match/danger.ts";
import type { Request } from "../text/read-request.ts";
import { isValueToken, textAt, type Token, wordAt } from "../text/token.ts";
import type { Fit } from "./fit-tool.ts";

/** How much of it is told. */
const mostWords = 8;

/** "… and assign it to mara": something else to do, that a tool has no use for. `undefined` if there is none. */
export function findOtherDeed({ text, tokens }: Request, { tool, filled }: Fit): string | undefined {
  const { toolStems } = toolWordsOf(tool);
  const isNew = (at: number): boolean => !filled.covered.has(at) && !toolStems.has(tokens[at]?.stem ?? "");
  // "and add it to the calendar" is something else for what adds notes too.
  const isOther = (at: number): boolean =>
    [at, at + 2, at + 3, at + 4].some((place) => (tokens[place]?.stem ?? "") !== "" && isNew(place));
  const from = tokens.findIndex(({ stem }, at) => {
    const isJoined = /^(?:and|then|also)$/u.test(wordAt(tokens, at - 1)) || /^[,;]$/u.test(textAt(tokens, at - 1));
    const isDeed = stem !== "" && isCommandVerb(stem) && isObject(wordAt(tokens, at + 1));
    // "and save it as b.jpg": what has a use for the value heeds it.
    const isHeeded = [at + 2, at + 3, at + 4].some((place) => filled.covered.has(place) && isValueAt(tokens, place));
    return at > 1 && isJoined && isDeed && !filled.covered.has(at) && isOther(at) && !isHeeded;
  });
  if (from === -1) return undefined;
  return text.slice(tokens[from]?.start, tokens.slice(from, from + mostWords).at(-1)?.end);
}

function isValueAt(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at];
  return token !== undefined && isValueToken(token);
}

/** A verb has something behind it that it is done to; a noun has not. */
function isObject(word: string): boolean {
  return /^(?:it|them|this|that|these|those|the|a|an|my|our|me|us|him|her|everyone|everybody|all|to)$/u.test(word);
}
