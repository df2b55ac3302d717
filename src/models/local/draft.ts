import type { JsonValue } from "../../core/json.ts";
import { choiceOf, convertText } from "./convert-text.ts";
import type { Parameter } from "./parameters.ts";
import type { Request, Token } from "./read-request.ts";
import { cueOf, isBlocker, squash } from "./words.ts";

/** What the input is read from. */
export interface FillOptions {
  readonly request: Request;
  readonly parameters: readonly Parameter[];
  /** Whether a word is one of the tool's own, or means the same. */
  isOwn(token: Token): boolean;
  /** Whether the tool accounts for a word in any way: then the word is hardly a value. */
  isKnown(token: Token): boolean;
  /** Whether words that are left over may be the value of the one parameter that is missing. */
  readonly isLoose: boolean;
  /** Whether the request begins with what the tool does: then what is behind a colon is for it. */
  readonly isOrdered: boolean;
  readonly today?: string | undefined;
  /** What the step before says about a parameter. */
  recall?(parameter: Parameter): JsonValue | undefined;
}

/** An input on its way. */
export interface Draft extends FillOptions {
  readonly tokens: readonly Token[];
  readonly values: Map<string, JsonValue>;
  /** The pieces of the request that are values, or belong to one. */
  readonly used: Set<Token>;
  /** How many values were given by the name of their parameter, or can be nothing else. */
  named: number;
  /** How many files and addresses have found their place. */
  placed: number;
}

/** The parameters that have no value yet. */
export function openOf({ parameters, values }: Draft): Parameter[] {
  return parameters.filter(({ name }) => !values.has(name));
}

/** The pieces of some kinds that are no value yet. */
export function freeOf({ tokens, used }: Draft, ...kinds: readonly Token["kind"][]): Token[] {
  return tokens.filter((token) => kinds.includes(token.kind) && !used.has(token));
}

/** Gives a parameter a value that is written as `text`; answers whether it takes that. A list takes one more. */
export function give(draft: Draft, parameter: Parameter | undefined, text: string, tokens: readonly Token[]): boolean {
  const value = parameter === undefined ? undefined : convertText(parameter, text);
  const before = draft.values.get(parameter?.name ?? "");
  if (parameter === undefined || value === undefined || (before !== undefined && !Array.isArray(before))) return false;
  draft.values.set(parameter.name, before === undefined ? value : [before, value].flat());
  for (const token of tokens) draft.used.add(token);
  return true;
}

/** The same of a value that is named: that the tool is meant is clearer then. */
export function giveNamed(
  draft: Draft,
  parameter: Parameter | undefined,
  text: string,
  tokens: readonly Token[],
): boolean {
  const isGiven = give(draft, parameter, text, tokens);
  if (isGiven) draft.named += 1;
  return isGiven;
}

const links = /^(?:a|an|called|is|named|of|the)$/iu;

/** The parameter that the words before a piece name ("room 5", "in the room called 5"). */
export function findCued({ tokens }: Draft, parameters: readonly Parameter[], index: number): Parameter | undefined {
  const [before, earlier] = [tokens[index - 1], tokens[index - 2]];
  const cues = before !== undefined && links.test(before.text) ? [before, earlier] : [before];
  const isCued = ({ name, words }: Parameter): boolean =>
    cues.some(
      (cue) =>
        cue?.kind === "word" &&
        (squash(cueOf(cue.text)) === squash(name) || cue.stems.some((stem) => words.includes(stem))),
    );
  return parameters.find(isCued);
}

const times =
  /^(?:all|each|every|everything|last|latest|next|previous|tonight|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?$/iu;

/** Whether a piece is no word of the tool, and may be a value therefore. */
export function isLeft({ used, isKnown }: Draft, token: Token | undefined): boolean {
  if (token?.kind !== "word" || token.isFiller || used.has(token) || isKnown(token)) return false;
  return !isBlocker(token.text) && !times.test(token.text);
}

/** The parameters that take what is said as one of their choices. */
export function takersOf({ parameters, values }: Draft, said: string): Parameter[] {
  return parameters.filter(
    (one) => choiceOf(one, said) !== undefined && (one.type === "array" || !values.has(one.name)),
  );
}
