import { spanOfDays } from "../text/date-spans.ts";
import { type Token, wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import type { Parameter } from "./parameter.ts";
import { rolesOf } from "./roles.ts";

/** What is asked for a day or a week is asked for from its beginning to its end; what is made begins when it is said to. */
const looks = /^(?:list|show|get|find|search|fetch|query|look|read|retrieve|report|sum|count|return|see|view|check)/iu;

/** "today", "this week", "in October", for two parameters that are the first and the last day of what is looked for. */
export function dateSpanCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  const end = daysOf(place).indexOf(parameter);
  if (end === -1 || !looks.test(place.about)) return [];
  const { tokens, request } = place;
  const found = tokens.flatMap((_, at) => {
    const span = spanOfDays(tokens, at, request.today);
    return span === undefined ? [] : [{ ...span, at }];
  });
  const [span, ...others] = found;
  if (span === undefined || others.length > 0 || isBound(tokens, span.at)) return [];
  const value = toValue(parameter, end === 0 ? span.first : span.last, end);
  const { at, to } = span;
  // One piece for both: the first takes it.
  return [{ parameter, value, from: at, to: end === 0 ? to : at, cueFrom: at, cueTo: to, score: 70 }];
}

/** "since Monday" and "until Friday" name one end. */
function isBound(tokens: readonly Token[], at: number): boolean {
  const cue = wordAt(tokens, at - 1);
  return /^(?:since|from|after|starting|until|till|before|by|to|between|and|through)$/u.test(cue);
}

function daysOf({ parameters }: FillPlace): readonly Parameter[] {
  const days = parameters.filter((parameter) => parameter.type === "string" && rolesOf(parameter).has("date"));
  const first = days.filter(({ words }) => words.some((word) => /^(?:start|from|begin|after|since|min)$/u.test(word)));
  const last = days.filter(({ words }) => words.some((word) => /^(?:end|to|until|before|till|max)$/u.test(word)));
  return first.length === 1 && last.length === 1 && days.length === 2 ? [...first, ...last] : [];
}

function toValue({ schema: { format } }: Parameter, day: string, end: number): string {
  if (format !== "date-time") return day;
  return end === 0 ? `${day}T00:00:00Z` : `${day}T23:59:59Z`;
}
