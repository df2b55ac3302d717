import type { JsonValue } from "../../../core/json.ts";
import { isEmptyWord } from "../text/stems.ts";
import { type Token, wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import { convertToken, fitNumber } from "./convert-token.ts";
import type { Parameter } from "./parameter.ts";
import { skipJoints } from "./read-value.ts";

const counts = /^(?:quantity|qty|count|amount|number|pieces|units)$/u;

/** "20 boxes of masks and 3 lamps", for a list of things that each have a name and a quantity. */
export function countedCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  const kinds = kindsOf(parameter.item);
  const from = place.tokens.findIndex(({ kind }) => kind === "number");
  if (kinds === undefined || from === -1) return [];
  const values: JsonValue[] = [];
  let to = from;
  for (let at = from; place.tokens[at]?.kind === "number" && values.length < 50; at = skipJoints(place.tokens, to)) {
    const end = endOfThing(place.tokens, at + 1);
    const value = toThing(place, kinds, at, end);
    if (value === undefined) break;
    values.push(value);
    to = end;
  }
  return values.length === 0 ? [] : [{ parameter, value: values, from, to, score: 66 }];
}

/** What a thing and how many of it are called. */
interface Kinds {
  readonly thing: Parameter;
  readonly count: Parameter;
}

function kindsOf(item: Parameter | undefined): Kinds | undefined {
  const needed = item?.fields.filter(({ isRequired }) => isRequired) ?? [];
  const thing = needed.find(({ type, choices }) => type === "string" && choices.length === 0);
  const count = needed.find(({ type, words }) => /^(?:integer|number)$/u.test(type) && counts.test(words.at(-1) ?? ""));
  return thing === undefined || count === undefined || needed.length > 2 ? undefined : { thing, count };
}

/** Up to the next small word but "of". */
function endOfThing(tokens: readonly Token[], from: number): number {
  let to = from;
  while (tokens[to]?.kind === "word" && (!isEmptyWord(wordAt(tokens, to)) || wordAt(tokens, to) === "of")) to += 1;
  return to;
}

function toThing(
  { tokens, request }: FillPlace,
  { thing, count }: Kinds,
  at: number,
  end: number,
): JsonValue | undefined {
  const first = tokens[at + 1];
  const amount = tokens[at]?.value;
  const number = typeof amount === "number" ? fitNumber(count, amount) : undefined;
  if (first === undefined || end === at + 1 || number === undefined) return undefined;
  const text = request.text.slice(first.start, tokens[end - 1]?.end);
  const name = convertToken(thing, { ...first, kind: "quoted", value: text });
  return name === undefined ? undefined : { [thing.name]: name, [count.name]: number };
}
