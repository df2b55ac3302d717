import type { JsonValue } from "../../../core/json.ts";
import { numberedItems } from "../text/numbered-items.ts";
import type { Request } from "../text/read-request.ts";
import { optionalBar, type Candidate, type FillPlace } from "./candidate.ts";
import { convertToken } from "./convert-token.ts";
import { countedCandidates } from "./counted-candidates.ts";
import { cuedCandidates } from "./cued-candidates.ts";
import { dateSpanCandidates } from "./date-span-candidates.ts";
import { toSpokenExpression } from "./spoken-expression.ts";
import { findFreeText, type FreeText } from "./free-text.ts";
import { formatCandidates } from "./format-candidates.ts";
import { labelCandidates } from "./label-candidates.ts";
import { findLeftover } from "./leftover-values.ts";
import { lookAhead } from "./look-ahead.ts";
import { pairCandidates, slashCandidates } from "./pair-candidates.ts";
import { rangeCandidates } from "./range-candidates.ts";
import { keyedCandidates } from "./keyed-candidates.ts";
import { booleanCandidates } from "./boolean-candidates.ts";
import { kindCandidates } from "./kind-candidates.ts";
import { namedCandidates } from "./named-candidates.ts";
import { numberCandidates } from "./number-candidates.ts";
import { spanCandidates } from "./span-candidates.ts";
import { setField } from "./set-field.ts";
import { toldCandidates } from "./told-candidates.ts";
import type { ToolWords } from "./tool-words.ts";
import { endCandidates } from "./two-ends.ts";
import type { Parameter } from "./parameter.ts";
import { hasForm, rolesOf, takesPlace, takesUnit } from "./roles.ts";

/** What a request says about the parameters of a tool. */
export interface Filled {
  readonly input: Readonly<Record<string, JsonValue>>;
  /** Required, and not said. */
  readonly missing: readonly Parameter[];
  /** The tokens that say a value. */
  readonly used: ReadonlySet<number>;
  /** These, and what a text was made of. */
  readonly covered: ReadonlySet<number>;
  /** Names of those whose value is whatever was left over, and not said for certain. */
  readonly guessed: ReadonlySet<string>;
  /** Those of them that were known from before. */
  readonly recalled: ReadonlySet<string>;
  /** Where in the request each value was found. */
  readonly places: ReadonlyMap<string, FilledPlace>;
}

/** The tokens that are a value: from one up to another. */
export interface FilledPlace {
  readonly from: number;
  readonly to: number;
}

/** Where values come from that the request only hints at ("it", "the result"). Answers `undefined` if there is none. */
export type Recall = (parameter: Parameter) => JsonValue | undefined;

/** How a request is read for one tool. */
export interface FillOptions {
  readonly request: Request;
  readonly parameters: readonly Parameter[];
  readonly words: ToolWords;
  /** Asked before a text is made of what is left over. */
  readonly recall?: Recall;
}

/** Finds the values of parameters in a request. Each part of the request is one value at the most. */
export function fillParameters({ request, parameters, words, recall }: FillOptions): Filled {
  const place: FillPlace = { ...words, request, tokens: lookAhead(request, words.about), parameters };
  const state = startFilling(place);
  assign(place, state);
  assignLeftover(place, state);
  const objects = parameters.filter(({ type, fields }) => type === "object" && fields.length > 0);
  for (const parameter of objects.filter(({ isRequired }) => isRequired)) fillNested(place, state, parameter);
  const used = new Set([...state.used, ...state.cues]);
  const guessed = new Set<string>();
  const recalled = new Set<string>();
  for (const parameter of parameters.filter((parameter) => parameter.isRequired && isOpen(state, parameter))) {
    const before = recall?.(parameter);
    const value = before ?? guess(place, parameter, state) ?? (parameter.schema["const"] as JsonValue | undefined);
    if (value === undefined) continue;
    if (before !== undefined) recalled.add(parameter.name);
    setField(state.input, parameter.name, value);
    guessed.add(parameter.name);
  }
  for (const parameter of objects.filter(({ isRequired }) => !isRequired)) fillNested(place, state, parameter);
  const missing = parameters.filter(
    (parameter) => parameter.isRequired && isOpen(state, parameter) && !parameter.hasDefault,
  );
  const input = inOrder(parameters, state.input);
  return { input, missing, used, covered: state.cues, guessed, recalled, places: state.places };
}

interface Filling {
  readonly input: Record<string, JsonValue>;
  /** Tokens that are values. */
  readonly used: Set<number>;
  /** These, and the words that lead to them. */
  readonly cues: Set<number>;
  readonly places: Map<string, FilledPlace>;
}

function startFilling(place: FillPlace): Filling {
  const literal = literalInput(place);
  const used = literal === undefined ? [] : [literal.at];
  return { input: { ...literal?.input }, used: new Set(used), cues: new Set(used), places: new Map() };
}

function isOpen({ input }: Filling, { name }: Parameter): boolean {
  return !Object.hasOwn(input, name);
}

/** Gives values to parameters, what is most certain first. */
function assign(place: FillPlace, state: Filling): void {
  const open = place.parameters.filter((parameter) => isOpen(state, parameter));
  const candidates = open.flatMap((parameter) => candidatesFor(place, parameter));
  for (const candidate of candidates.toSorted((left, right) => right.score - left.score)) {
    const { parameter, from, to } = candidate;
    const bar = parameter.isRequired ? 1 : optionalBar;
    const isFree = isOpen(state, parameter) && !rangeOf(from, to).some((at) => state.used.has(at));
    if (!isFree || candidate.score < bar) continue;
    take(state, candidate);
  }
}

function take(state: Filling, { parameter, value, from, to, cueFrom = from, cueTo = to }: Candidate): void {
  setField(state.input, parameter.name, value);
  state.places.set(parameter.name, { from, to });
  for (const at of rangeOf(from, to)) state.used.add(at);
  for (const at of rangeOf(cueFrom, Math.max(to, cueTo))) state.cues.add(at);
}

/** Gives what went nowhere to parameters that may be left out, after those that must not be have got what they need. */
function assignLeftover(place: FillPlace, state: Filling): void {
  const { parameters } = place;
  const open = parameters.filter((parameter) => isOpen(state, parameter));
  // A text that is required, and is not there yet, comes first.
  if (open.some(({ isRequired }) => isRequired)) return;
  const isAllOptional = parameters.every(({ isRequired }) => !isRequired);
  const found = findLeftover({ place, open, isUsed: (at) => state.used.has(at), isAllOptional });
  for (const candidate of found) if (isOpen(state, candidate.parameter)) take(state, candidate);
}

function candidatesFor(place: FillPlace, parameter: Parameter): Candidate[] {
  const found = [
    ...keyedCandidates(place, parameter),
    ...cuedCandidates(place, parameter),
    ...namedCandidates(place, parameter),
    ...pairCandidates(place, parameter),
    ...slashCandidates(place, parameter),
    ...spanCandidates(place, parameter),
    ...numberCandidates(place, parameter),
    ...kindCandidates(place, parameter),
    ...booleanCandidates(place, parameter),
    ...rangeCandidates(place, parameter),
    ...dateSpanCandidates(place, parameter),
    ...formatCandidates(place, parameter),
    ...labelCandidates(place, parameter),
    ...toldCandidates(place, parameter),
    ...countedCandidates(place, parameter),
    ...endCandidates(place, parameter),
  ];
  // Of equal ones the first parameter gets the first value.
  return found.map((candidate) => ({ ...candidate, score: candidate.score - candidate.from / 1000 }));
}

/** A literal object whose keys are those of the tool is the input itself. */
function literalInput({ tokens, parameters }: FillPlace): { input: Record<string, JsonValue>; at: number } | undefined {
  const names = new Set(parameters.map(({ name }) => name));
  const at = tokens.findIndex(({ kind, value }) => {
    if (kind !== "json" || typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const keys = Object.keys(value);
    return keys.length > 0 && keys.every((key) => names.has(key));
  });
  return at === -1 ? undefined : { input: { ...(tokens[at]?.value as Record<string, JsonValue>) }, at };
}

/** The fields of an object are looked for like parameters of their own, in what no other has. */
function fillNested(place: FillPlace, state: Filling, parameter: Parameter): void {
  if (!isOpen(state, parameter)) return;
  const inner = fillParameters({ request: place.request, parameters: parameter.fields, words: place });
  if ([...inner.used].some((at) => state.used.has(at) || (!parameter.isRequired && state.cues.has(at)))) return;
  const said = Object.entries(inner.input).filter(([name]) => !inner.guessed.has(name));
  const isWhole = inner.missing.length === 0 && inner.guessed.size === 0;
  if (said.length === 0 || !(isWhole || parameter.isRequired)) return;
  setField(state.input, parameter.name, Object.fromEntries(said));
  for (const at of inner.used) state.cues.add(at);
}

/** What has a number, or letters that mean nothing. */
const identifiers = /^(?:id|iban|bic|uuid|guid|sku|isbn|hash|sha|token|key|pin|serial|barcode|ean|vin)$/u;

/** Makes a value of what is left over. */
function guess(place: FillPlace, parameter: Parameter, { cues, places }: Filling): JsonValue | undefined {
  if (!takesWords(parameter) || takesUnit(parameter)) return undefined;
  const spoken = rolesOf(parameter).has("expression") ? toSpokenExpression(place.request.text) : undefined;
  if (spoken !== undefined) return spoken;
  const found = findFreeText(place, parameter, cues);
  const value = found === undefined ? undefined : fromFreeText(place, parameter, found);
  if (found === undefined || value === undefined) return undefined;
  for (const at of rangeOf(found.from, found.to)) cues.add(at);
  places.set(parameter.name, { from: found.from, to: found.to });
  return value;
}

function fromFreeText({ tokens }: FillPlace, parameter: Parameter, found: FreeText): JsonValue | undefined {
  const first = tokens[found.from];
  // An account number is not made of words.
  const isCode = identifiers.test(parameter.words.at(-1) ?? "") || isNumbered(parameter);
  const isWrong = isCode && !/^\S*\d/u.test(found.text);
  if (first === undefined || isWrong) return undefined;
  // The name of a file is not what is in it.
  if (found.to === found.from + 1 && !takesPlace(parameter, first.kind)) return undefined;
  const value = rolesOf(parameter).has("text") ? found.text : found.text.replace(/^(?:the|a|an|my|our)\s+(?=\S)/iu, "");
  if (parameter.type !== "array") return convertToken(parameter, { ...first, kind: "quoted", value });
  return tokens.some(({ text }) => text === ":") ? splitList(found.text) : undefined;
}

/** What is only shown with numbers has one. */
function isNumbered({ samples }: Parameter): boolean {
  return samples.length > 0 && samples.every((sample) => /\d/u.test(sample));
}

/** Tells whether plain words can be a value. */
export function takesWords(parameter: Parameter): boolean {
  const { type, item, hasDefault, choices } = parameter;
  const isText = type === "string" || type === "any" || (type === "array" && item?.type === "string");
  return isText && !hasDefault && choices.length === 0 && !hasForm(parameter);
}

/** Takes "a, b and c" and "1. a 2. b" apart. */
export function splitList(text: string): string[] {
  const { items } = numberedItems(text);
  if (items.length > 0 && !text.includes("\n")) return items;
  const parts = text.includes("\n") ? text.split("\n") : text.split(/,\s*(?:and\s+)?|\s+and\s+|;\s*/u);
  return parts.map((part) => part.replace(/^\s*(?:[-*•]|\d+[.)])\s+/u, "").trim()).filter((part) => part !== "");
}

function inOrder(
  parameters: readonly Parameter[],
  input: Readonly<Record<string, JsonValue>>,
): Record<string, JsonValue> {
  const ordered: Record<string, JsonValue> = {};
  for (const { name } of parameters) if (Object.hasOwn(input, name)) setField(ordered, name, input[name] as JsonValue);
  return ordered;
}

function rangeOf(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}
