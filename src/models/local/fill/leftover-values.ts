import { isEmptyWord } from "../text/stems.ts";
import { isCode, isValueToken, type Token, wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import { convertToken } from "./convert-token.ts";
import type { Parameter } from "./parameter.ts";
import { readAmount, skipJoints } from "./read-value.ts";
import { hasForm, rolesOf } from "./roles.ts";

/** What a parameter that may be left out is asked about. */
interface Left {
  readonly place: FillPlace;
  /** Those that have no value yet. */
  readonly open: readonly Parameter[];
  readonly isUsed: (at: number) => boolean;
  /** Whether the tool takes nothing that is required: then whatever was said is for one of these. */
  readonly isAllOptional: boolean;
}

/**
 * Values that went nowhere, for parameters that may be left out: what is in quotes is meant for somebody, and a tool that requires
 * nothing is given a number, a name or an address for a reason. Only if there is one parameter for it.
 */
export function findLeftover(left: Left): Candidate[] {
  const { place, isUsed } = left;
  return place.tokens.flatMap((token, at) => {
    if (isUsed(at) || (!isValueToken(token) && !isNameAt(place, at))) return [];
    const takers = left.open.filter((parameter) => canTake(left, parameter, token, at));
    const [parameter] = takers;
    if (parameter === undefined || takers.length > 1 || isOneMore(left, at)) return [];
    const found = readLeft(place, parameter, at);
    return found === undefined ? [] : [{ ...found, parameter, from: at, score: 0 }];
  });
}

/** `"tape" and "wrap"`: what is joined to a value of its kind is one more of them. */
function isOneMore({ place: { tokens }, isUsed }: Left, at: number): boolean {
  const before = tokens.findLastIndex((token, place) => place < at && token.kind === tokens[at]?.kind && isUsed(place));
  return before !== -1 && before + 1 < at && skipJoints(tokens, before + 1) === at;
}

function canTake({ place, isAllOptional }: Left, parameter: Parameter, token: Token, at: number): boolean {
  if (parameter.isRequired || parameter.choices.length > 0) return false;
  if (parameter.type === "integer" || parameter.type === "number")
    return token.kind === "number" && isCount(place, parameter, at, isAllOptional);
  if (parameter.type !== "string" || hasForm(parameter) || parameter.hasDefault) return false;
  const roles = rolesOf(parameter);
  if (token.kind === "quoted") return !roles.has("path") && !roles.has("phone");
  return isAllOptional && token.kind === "word" && (roles.has("name") || roles.has("person"));
}

/** "12 pallets" is a quantity, "user 4711" an id. */
function isCount({ tokens }: FillPlace, { words }: Parameter, at: number, isAllOptional: boolean): boolean {
  const last = words.at(-1) ?? "";
  if (/^(?:quantity|qty|copies|pieces)$/u.test(last))
    return tokens[at + 1]?.kind === "quoted" || tokens[at + 1]?.stem !== "";
  return isAllOptional && /^(?:id|number|no|nr|code|key)$/u.test(last);
}

/** A name in the middle of a request: the first of its words. */
function isNameAt({ tokens, toolStems }: FillPlace, at: number): boolean {
  const isCapital = (place: number): boolean =>
    tokens[place]?.kind === "word" &&
    !isCode(tokens[place]) &&
    /^\p{Lu}/u.test(tokens[place].text) &&
    !isEmptyWord(wordAt(tokens, place));
  return at > 0 && isCapital(at) && !isCapital(at - 1) && !toolStems.has(tokens[at]?.stem ?? "");
}

function readLeft(place: FillPlace, parameter: Parameter, at: number): Pick<Candidate, "to" | "value"> | undefined {
  const { tokens, request } = place;
  const first = tokens[at] as Token;
  if (first.kind === "number") return readAmount(place, parameter, at);
  let to = at + 1;
  while (first.kind === "word" && tokens[to]?.kind === "word" && /^\p{Lu}/u.test(tokens[to]?.text ?? "")) to += 1;
  const text = request.text.slice(first.start, tokens[to - 1]?.end);
  const value = convertToken(parameter, first.kind === "word" ? { ...first, text } : first);
  return value === undefined ? undefined : { value, to };
}
