import type { JsonObject, JsonValue } from "../../core/json.ts";
import { asObject, parseJson } from "./conversation.ts";
import { choiceOf } from "./convert-text.ts";
import { findCued, freeOf, give, giveNamed, openOf, takersOf, type Draft, type FillOptions } from "./draft.ts";
import { giveTexts } from "./fill-texts.ts";
import { giveDates, giveFiles, giveNumbers } from "./fill-values.ts";
import type { Parameter } from "./parameters.ts";
import type { Token } from "./read-request.ts";
import { squash } from "./words.ts";

/** An input, as far as a request tells it. */
export interface Filled extends Pick<Draft, "named" | "placed"> {
  readonly input: JsonObject;
  readonly used: ReadonlySet<Token>;
  readonly missing: readonly Parameter[];
}

/** In the order in which values are given: what is named before what is only left over. */
const stages = [
  giveObjects,
  givePairs,
  giveBeforeColon,
  giveBehindColon,
  giveChoices,
  giveDates,
  giveNumbers,
  giveFiles,
  giveTexts,
  giveFlags,
];

/** Finds the values of a tool's parameters in a request: those that are named first, then those that can be nothing else. */
export function fillParameters(options: FillOptions): Filled {
  const draft: Draft = {
    ...options,
    tokens: options.request.tokens,
    values: new Map(),
    used: new Set(),
    named: 0,
    placed: 0,
  };
  for (const stage of stages) stage(draft);
  const { parameters, values, used, named, placed } = draft;
  for (const { name, type } of openOf(draft).filter(({ isRequired }) => isRequired)) {
    const recalled = options.recall?.(parameters.find((one) => one.name === name) as Parameter);
    if (recalled !== undefined) values.set(name, type === "array" ? [recalled].flat() : recalled);
  }
  const isDefault = ({ name, schema, isRequired }: Parameter): boolean =>
    !isRequired && values.get(name) === schema["default"];
  const given = parameters.filter((one) => values.has(one.name) && !isDefault(one));
  const missing = parameters.filter(({ name, isRequired }) => isRequired && !values.has(name));
  return {
    input: Object.fromEntries(given.map(({ name }) => [name, values.get(name) as JsonValue])),
    used,
    missing,
    named,
    placed,
  };
}

/** `{"to": "Kim"}`: the whole input, or some of it. */
function giveObjects(draft: Draft): void {
  for (const token of freeOf(draft, "json")) {
    const entries = Object.entries(asObject(parseJson(token.text)));
    if (entries.length === 0 || !entries.every(([key]) => draft.parameters.some(({ name }) => name === key))) continue;
    for (const [key, value] of entries) draft.values.set(key, value);
    draft.used.add(token);
    draft.named += entries.length;
  }
}

/** `--limit 5`, `limit=5`, `--verbose`, `--no-header`. */
function givePairs(draft: Draft): void {
  for (const token of freeOf(draft, "pair")) {
    const key = squash(token.key ?? "");
    const parameter = draft.parameters.find(({ name }) => squash(name) === key);
    const denied = draft.parameters.find(({ name, type }) => type === "boolean" && `no${squash(name)}` === key);
    const next = draft.tokens[draft.tokens.indexOf(token) + 1];
    if (parameter === undefined) give(draft, denied, "false", [token]);
    else if (token.text === "" && parameter.type !== "boolean")
      giveNamed(draft, parameter, next?.text ?? "", next === undefined ? [] : [token, next]);
    else giveNamed(draft, parameter, token.text || "true", [token]);
  }
}

/** The parameter whose name, of up to three words, ends before a colon, and where it begins. */
function namedAt(
  { tokens, parameters }: Draft,
  at: number,
): { readonly parameter: Parameter; readonly start: number } | undefined {
  for (let start = Math.max(0, at - 2); start <= at && tokens[at]?.hasColon === true; start++) {
    const said = squash(
      tokens
        .slice(start, at + 1)
        .map(({ text }) => text)
        .join(""),
    );
    const parameter = parameters.find(({ name }) => squash(name) === said);
    if (parameter !== undefined) return { parameter, start };
  }
  return undefined;
}

/** Where something about another parameter begins: its name before a colon, or one of its words behind a comma. */
function nextTold(draft: Draft, from: number, parameter: Parameter): number {
  const others = openOf(draft).filter((one) => one !== parameter);
  for (let at = from + 1; at < draft.tokens.length; at++) {
    const { isApart, stems } = draft.tokens[at] as Token;
    const named = namedAt(draft, at);
    if (named !== undefined) return named.start;
    if (isApart && others.some(({ words }) => stems.some((stem) => words.includes(stem)))) return at;
  }
  return draft.tokens.length;
}

/** "path: a.b, limit: 5" */
function giveBeforeColon(draft: Draft): void {
  const { tokens, request } = draft;
  for (const at of tokens.keys()) {
    const named = namedAt(draft, at);
    const first = tokens[at + 1];
    if (named === undefined || first === undefined) continue;
    const { parameter, start } = named;
    const end = nextTold(draft, at, parameter);
    const isShort =
      first.kind === "quote" || !/text|other/u.test(parameter.takes) || !/string|any|array/u.test(parameter.type);
    const until = end === tokens.length && request.isCut ? request.text.length : tokens[end - 1]?.end;
    const whole = isShort ? first.text : request.text.slice(first.start, until).replace(/[\s,;]+$/u, "");
    giveNamed(draft, parameter, whole, tokens.slice(start, isShort ? at + 2 : end));
  }
}

/** "Split this: …": what is behind a colon is the text, if there is one parameter for it, and nothing else is told there. */
function giveBehindColon(draft: Draft): void {
  const { tokens, request, used } = draft;
  const at = tokens.findIndex((token) => token.hasColon && token.kind === "word" && !used.has(token));
  const [first, ...more] = tokens.slice(at + 1);
  const needed = openOf(draft).filter(
    ({ isRequired, takes, type }) => isRequired && takes === "text" && type === "string",
  );
  const [parameter] = needed;
  if (!draft.isOrdered || at === -1 || first === undefined || parameter === undefined || needed.length > 1) return;
  const tail = request.text.slice(first.start).trim();
  const isSeveral =
    tokens.slice(0, at).some(({ text }) => /^(?:following|these|those)$/iu.test(text)) || /^1[.)]\s/u.test(tail);
  if (isSeveral || nextTold(draft, at, parameter) < tokens.length) return;
  give(draft, parameter, first.kind === "quote" && more.length === 0 ? first.text : tail, [first, ...more]);
}

/** Values that are listed in the schema, of up to three words. */
function giveChoices(draft: Draft): void {
  for (let at = 0; at < draft.tokens.length; at++) {
    const runs = [3, 2, 1].map((count) => draft.tokens.slice(at, at + count));
    for (const run of runs)
      if (!run.some((token) => draft.used.has(token) || token.kind === "quote")) giveChoice(draft, at, run);
  }
}

function giveChoice(draft: Draft, at: number, run: readonly Token[]): void {
  const said = run.map(({ text }) => text).join("");
  const takers = takersOf(draft, said);
  const cued = findCued(draft, takers, at);
  const parameter = cued ?? takers[0];
  const choice = parameter === undefined ? undefined : choiceOf(parameter, said);
  // "Extract the text" says what to do; that "text" is the usual format too changes nothing.
  if (parameter === undefined || (choice === parameter.schema["default"] && run.every(draft.isOwn))) return;
  // Of "68 fahrenheit in celsius" only one can be the unit to convert to.
  const isMarked = cued !== undefined || /^(?:as|in|into|to)$/iu.test(draft.tokens[at - 1]?.text ?? "");
  const others = draft.tokens.slice(at + run.length).map(({ text }) => choiceOf(parameter, text));
  const isTwice =
    parameter.type !== "array" &&
    takers.length === 1 &&
    others.some((other) => other !== undefined && other !== choice);
  if (isMarked || !isTwice) giveNamed(draft, parameter, said, run);
}

const affixes = /^(?:enabl|has|includ|is|onli|only|show|want|with)$/u;

/** "… , live": a word that is the name of something to be switched on. */
function giveFlags(draft: Draft): void {
  for (const parameter of openOf(draft).filter(({ type }) => type === "boolean")) {
    const words = parameter.words.filter((word) => !affixes.test(word));
    const tokens = freeOf(draft, "word");
    const at = tokens.findIndex((_, index) =>
      words.every((word, offset) => tokens[index + offset]?.stems.includes(word) === true),
    );
    const run = at === -1 ? [] : tokens.slice(at, at + words.length);
    const isAlso = draft.tokens[draft.tokens.indexOf(run[0] as Token) - 1]?.text === "and";
    if (run.length > 0 && (isAlso || !run.every(draft.isOwn))) give(draft, parameter, "true", run);
  }
}
