import { toWords } from "../../../core/text-search.ts";

/** Words that say nothing about what somebody wants done, whatever else they say. */
const emptyWords = new Set(
  (
    "a an the this that these those some any each every all both such own it its them they their he she his her i me my mine we us our you " +
    "your is are was were be been being am do does did doing have has had having can could would should shall will may might must " +
    "to of in on at by for from with without into onto as and or but if so than then too also very just only please kindly thanks thank " +
    "what which who whom whose where when why how there here about over under out up down off not no nor let lets want wants need needs " +
    "like would'd i'd i'm it's what's that's let's tell give given use using used help get go make now again using via per between after " +
    "before since until one last first next latest recent recently currently still already yet same other more less any anything something nothing everything somebody anybody"
  ).split(" "),
);

/** Tells whether a word, in lower case, says nothing by itself. */
export function isEmptyWord(word: string): boolean {
  return emptyWords.has(word);
}

const spellings: readonly (readonly [RegExp, string])[] = [
  [/is(e[sdr]?|ing|ations?)$/u, "iz$1"],
  [/ys(e[sdr]?|ing)$/u, "yz$1"],
  [/our(s|ed|ing)?$/u, "or$1"],
  [/tre(s?)$/u, "ter$1"],
  [/ogue(s?)$/u, "og$1"],
  [/^licence/u, "license"],
  [/^grey/u, "gray"],
  [/^programme/u, "program"],
];

/** One spelling for British and American words: not always the right one, but the same on both sides. */
function toOneSpelling(word: string): string {
  if (word.length < 4) return word;
  let spelled = word;
  for (const [pattern, replacement] of spellings) spelled = spelled.replace(pattern, replacement);
  return spelled;
}

/**
 * The words of a text in a form in which different forms of one word meet: "summarising", "Summarizes" and "summarisation". A word
 * that is written with a hyphen or in parts (`SHA-256`) is there as one word too.
 */
export function toStems(text: string): string[] {
  const lower = text
    .slice(0, 20_000)
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .toLowerCase();
  const stems: string[] = [];
  for (const [run] of lower.matchAll(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)) {
    const parts = run.split(/['’-]/u).filter((part) => part.length > 1 || /\d/u.test(part));
    for (const part of parts) stems.push(...toStem(part));
    if (parts.length > 1) stems.push(...toStem(parts.join("")));
  }
  return stems;
}

/** A shorter stem is the beginning of too many words. */
export const shortestForm = 5;

/** Tells whether two stems are of one word, in forms that the endings do not tell: "humid" and "humidity". */
export function isFormOf(left: string, right: string): boolean {
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  return (
    short.length >= shortestForm &&
    long.startsWith(short) &&
    /^(?:it|ity|y|ness|al|ance|ment|ement|ful|ly|ur|ure)$/u.test(long.slice(short.length))
  );
}

/** The stem of one word; none if it says nothing. */
export function toStem(word: string): string[] {
  if (word.length > 64) return [];
  return toWords(toOneSpelling(word)).map((stem) => {
    const shorter = stem.replace(/(?:ations?|ators?|ions?|at)$/u, "");
    return shorter.length >= 4 ? shorter : stem;
  });
}
