import { isEmptyWord } from "../text/stems.ts";
import { isValueToken, type Token, wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import { convertToken } from "./convert-token.ts";
import type { Parameter } from "./parameter.ts";
import { rolesOf } from "./roles.ts";

const labels = /^(?:label|note|notes|reason|comment|memo|purpose|remark|occasion)$/u;

/** What something is for, where there is a place to note it: "12 minutes for the pasta", "20 euros on a train ticket". */
export function labelCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  if (parameter.isRequired || parameter.type !== "string" || !isLabel(place, parameter)) return [];
  return place.tokens.flatMap(({ word }, at) => {
    if (word === "because") return restFrom(place, parameter, at + 1);
    if (!/^(?:for|on)$/u.test(word)) return [];
    const from = /^(?:the|a|an|my|our|some)$/u.test(wordAt(place.tokens, at + 1)) ? at + 2 : at + 1;
    const to = endOf(place.tokens, from);
    const first = place.tokens[from];
    const isTool = place.tokens.slice(from, to).every(({ stem }) => place.toolStems.has(stem));
    // "for order 1234" leads to a value of its own.
    const next = place.tokens[to];
    const isLeading = next !== undefined && isValueToken(next) && next.kind !== "date" && next.kind !== "time";
    if (first === undefined || to === from || isTool || isLeading) return [];
    const text = place.request.text.slice(first.start, place.tokens[to - 1]?.end);
    const value = convertToken(parameter, { ...first, kind: "quoted", value: text });
    // Whatever has a better use for these words gets them.
    return value === undefined ? [] : [{ parameter, value, from, to, cueFrom: at, cueTo: from, score: 41 }];
  });
}

/** A description says what something is for, if nothing else takes words. */
function isLabel({ parameters }: FillPlace, { words }: Parameter): boolean {
  const last = words.at(-1) ?? "";
  const takesText = (other: Parameter): boolean =>
    other.isRequired && (rolesOf(other).has("text") || rolesOf(other).has("query"));
  return labels.test(last) || (last === "description" && !parameters.some(takesText));
}

function restFrom({ tokens, request }: FillPlace, parameter: Parameter, from: number): Candidate[] {
  const first = tokens[from];
  if (first === undefined) return [];
  const text = request.text.slice(first.start).trim().replace(/[.!]$/u, "");
  const value = convertToken(parameter, { ...first, kind: "quoted", value: text });
  return value === undefined
    ? []
    : [{ parameter, value, from, to: tokens.length, cueFrom: from - 1, cueTo: from, score: 50 }];
}

/** Up to the next small word; "the train to Basel" goes on to a name. */
function endOf(tokens: readonly Token[], from: number): number {
  let to = from;
  while (to - from < 6 && tokens[to]?.kind === "word" && !isEmptyWord(wordAt(tokens, to))) to += 1;
  const isLed = to > from && /^(?:to|from|in|with|of)$/u.test(wordAt(tokens, to));
  return isLed && /^\p{Lu}\p{Ll}/u.test(tokens[to + 1]?.text ?? "") ? to + 2 : to;
}
