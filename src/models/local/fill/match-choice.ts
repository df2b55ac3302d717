import { isEmptyWord, isFormOf, shortestForm, toStem, toStems } from "../text/stems.ts";
import { synonymsOf } from "../text/synonyms.ts";
import { type Token, wordAt } from "../text/token.ts";
import type { FillPlace } from "./candidate.ts";
import type { Parameter } from "./parameter.ts";
import { otherNamesOf } from "./unit-names.ts";

type Choice = Parameter["choices"][number];

/** The choice that a text names, whatever its case and punctuation. */
export function matchChoice({ choices }: Parameter, text: string): Choice | undefined {
  const wanted = fold(text);
  if (wanted === "") return undefined;
  const exact = choices.find((choice) => String(choice) === text);
  return exact ?? choices.find((choice) => fold(String(choice)) === wanted);
}

/** A choice that a request names, and where. */
export interface FoundChoice {
  readonly choice: Choice;
  readonly from: number;
  readonly to: number;
  readonly score: number;
}

/** The places where a request names a choice: in the same words, in another form of them, or in words that mean the same. */
export function findChoices(
  { choices, description, stems }: Parameter,
  { tokens, about }: Pick<FillPlace, "about" | "tokens">,
): FoundChoice[] {
  const byFold = new Map<string, Choice>(choices.map((choice) => [fold(String(choice)), choice]));
  const byStem = toStemMap(choices.map((choice) => [choice, toStems(String(choice))]));
  const byStart = toStart(byStem);
  const byNeighbour = toStemMap(
    choices.map((choice) => [choice, neighboursOf(String(choice), `${about} ${description}`)]),
  );
  return tokens.flatMap((token, from) => {
    const hit =
      choiceAt(tokens, from, byFold, stems) ?? partOf(token, from, byFold) ?? stemAt(token, from, { byStem, byStart });
    if (hit !== undefined || token.stem === "") return hit ?? [];
    const near = byNeighbour.get(token.stem);
    return near === undefined ? [] : [{ choice: near, from, to: from + 1, score: 43 }];
  });
}

/** Which choice a word stands for. A word that two of them share tells nothing. */
function toStemMap(entries: readonly (readonly [Choice, readonly string[]])[]): Map<string, Choice | undefined> {
  const byStem = new Map<string, Choice | undefined>();
  for (const [choice, stems] of entries) {
    for (const stem of new Set(stems))
      if (!/^\d+$/u.test(stem)) byStem.set(stem, byStem.has(stem) ? undefined : choice);
  }
  return byStem;
}

/** The words next to a choice in a description: "an EAN barcode". */
function neighboursOf(choice: string, text: string): string[] {
  const words = text.slice(0, 3000).split(/[^\p{L}\p{N}]+/u);
  const at = words.findIndex((word) => fold(word) === fold(choice));
  const next = at === -1 ? "" : (words[at + 1] ?? "");
  return isEmptyWord(next.toLowerCase()) ? [] : toStem(next);
}

function choiceAt(
  tokens: readonly Token[],
  from: number,
  byFold: ReadonlyMap<string, Choice>,
  names: readonly string[],
): FoundChoice | undefined {
  for (let count = 3; count >= 1; count--) {
    const part = tokens.slice(from, from + count);
    if (part.length < count || part.some(({ kind }) => kind === "mark" || kind === "code")) continue;
    const choice = byFold.get(fold(part.map(({ text }) => text).join("")));
    const isSmall = count === 1 && isSmallWord(part[0], choice);
    // "first class" for `travel_class`: next to its name a small word is a choice too.
    const isNamed = names.includes(tokens[from + count]?.stem ?? "-");
    const score = isSmall && !isNamed ? scoreSmall(tokens, from) : 70;
    if (choice !== undefined && score > 0) return { choice, from, to: from + count, score };
  }
  return undefined;
}

/** A word that says nothing by itself; capitals as the choice has them ("GET") are none. */
function isSmallWord(token: Token | undefined, choice: Choice | undefined): boolean {
  const isAsWritten = token?.text === choice && /^\p{Lu}{2,}$/u.test(token?.text ?? "");
  return token?.kind === "word" && token.stem === "" && !isAsWritten;
}

/** "fahrenheit/imperial": one of two words for the same. */
function partOf({ kind, text }: Token, from: number, byFold: ReadonlyMap<string, Choice>): FoundChoice | undefined {
  const parts = kind === "path" && /^\p{L}+(?:\/\p{L}+)+$/u.test(text) ? text.split("/") : [];
  const found = parts.map((part) => byFold.get(fold(part))).find((choice) => choice !== undefined);
  return found === undefined ? undefined : { choice: found, from, to: from + 1, score: 58 };
}

/** "turn off", "lights off", "book out of": such a word stands for itself behind a verb and at the end; "in the kitchen" is a place. */
function scoreSmall(tokens: readonly Token[], at: number): number {
  const isDirection = /^(?:on|off|out|up|down|yes|no|all|both|open|done|over|under)$/u.test(wordAt(tokens, at));
  const next = tokens[at + 1];
  const isLast = next === undefined || next.kind === "mark" || /^(?:and|then|please)$/u.test(next.word);
  if (at === 1 || isLast) return isDirection || at > 0 ? 64 : 0;
  return isDirection ? 46 : 0;
}

/** The stems of choices. */
interface ChoiceStems {
  readonly byStem: ReadonlyMap<string, Choice | undefined>;
  /** The same by how they begin, so that not each is compared with each word. */
  readonly byStart: ReadonlyMap<string, readonly string[]>;
}

function toStart(byStem: ReadonlyMap<string, Choice | undefined>): ReadonlyMap<string, readonly string[]> {
  return Map.groupBy(byStem.keys(), (stem) => stem.slice(0, shortestForm));
}

function formOf({ stem }: Token, { byStem, byStart }: ChoiceStems): Choice | undefined {
  const form = byStart.get(stem.slice(0, shortestForm))?.find((known) => isFormOf(known, stem));
  return form === undefined ? undefined : byStem.get(form);
}

function stemAt(token: Token, at: number, { byStem, byStart }: ChoiceStems): FoundChoice | undefined {
  if (token.kind !== "word") return undefined;
  for (const stem of token.stem === "" ? [] : [token.stem, ...toStem(token.word)]) {
    const choice = byStem.get(stem);
    if (choice !== undefined) return { choice, from: at, to: at + 1, score: 58 };
  }
  const formed = formOf(token, { byStem, byStart });
  if (formed !== undefined) return { choice: formed, from: at, to: at + 1, score: 56 };
  for (const name of otherNamesOf(token.word)) {
    const choice = byStem.get(name) ?? byStem.get(toStem(name)[0] ?? name);
    if (choice !== undefined) return { choice, from: at, to: at + 1, score: 60 };
  }
  for (const synonym of token.stem === "" ? [] : synonymsOf(token.stem)) {
    const choice = byStem.get(synonym);
    if (choice !== undefined) return { choice, from: at, to: at + 1, score: 44 };
  }
  return undefined;
}

function fold(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}+#%°]/gu, "");
}
