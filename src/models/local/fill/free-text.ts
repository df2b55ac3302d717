import { isEmptyWord, toStem } from "../text/stems.ts";
import { longestRequest } from "../text/read-tokens.ts";
import { isValueToken, textAt, type Token, wordAt } from "../text/token.ts";
import type { FillPlace } from "./candidate.ts";
import { rolesOf } from "./roles.ts";
import type { Parameter } from "./parameter.ts";

/** What is left of a request when everything that says which tool, and what belongs to other parameters, is taken away. */
export interface FreeText {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

const leading =
  /^(?:please|can|could|would|will|you|i|i'd|like|want|need|to|let|lets|let's|me|us|my|the|a|an|what|what's|which|who|how|is|are|does|do|much|many|and|also|now|just|kindly|for|of|in|on|about|with|that|this|these|those|some|new|into|from|it|so|go|ahead|then|another|one|should|must|have|has|got|give|tell|show|say|called|named|titled|up|out|at|by|as|if|when|where|did|was|were|be|am|there|we|they|any)$/u;

/** Verbs that say nothing but that something is to be done. */
const lightVerbs =
  /^(?:make|do|get|put|create|start|run|open|set|take|draw|build|generate|prepare|issue|perform|write)$/u;

/** Verbs for putting something down: what is put down comes behind them. */
const entering =
  /^(?:schedule|plan|arrange|organi[sz]e|add|enter|record|log|register|file|raise|submit|save|store|jot)$/u;

const trailing =
  /^(?:please|thanks|thank|you|for|me|now|to|in|on|of|from|my|the|a|an|into|with|this|that|our|your|as|at|and|it|using|by|is|are|was|were|get|have|has|there|mean|means)$/u;

const containers =
  /^(?:text|string|word|words|phrase|sentence|following|message|value|title|name|note|query|term|content|paragraph)$/u;

/** Finds the free text of a request. `used` has the tokens that belong to others. */
export function findFreeText(place: FillPlace, parameter: Parameter, used: ReadonlySet<number>): FreeText | undefined {
  const { tokens, request } = place;
  const colon = tokens.findIndex(({ text }, at) => text === ":" && !used.has(at) && at > 0 && at < tokens.length - 1);
  if (colon !== -1 && !hasUsed(used, colon + 1, tokens.length)) return toFreeText(place, colon + 1, tokens.length);
  const question = /^(?:question|prompt)$/u.test(parameter.words.at(-1) ?? "") ? findQuestion(place, used) : -1;
  if (question !== -1) return toFreeText(place, question, tokens.length);
  const first = skipLeading(place, parameter, used);
  let end = first;
  while (end < tokens.length && !used.has(end) && !isSentenceEnd(tokens, end)) end += 1;
  const start = skipPhrase(place, parameter, first, end);
  const isCut = end < tokens.length;
  const to = skipNouns(place, parameter, start, skipTrailing(place, start, end));
  // Small words alone are no text.
  if (!tokens.slice(start, to).some((token) => token.stem !== "" || isValueToken(token))) return undefined;
  const isLong = request.text.length > longestRequest && !isCut;
  return isLong
    ? { text: request.text.slice((tokens[start] as Token).start).trim(), from: start, to: end }
    : toFreeText(place, start, to);
}

/** Where a question in the middle of a request begins: "ask the expert how old it is". */
function findQuestion({ tokens }: FillPlace, used: ReadonlySet<number>): number {
  const at = tokens.findIndex(
    ({ word }, place) => place > 1 && /^(?:how|what|why|when|where|who|which|whether)$/u.test(word),
  );
  return at === -1 || hasUsed(used, at, tokens.length) ? -1 : at;
}

/** "class flight from BER": of a name, what stands before a noun of the tool and a small word behind it is about the tool. */
function skipPhrase({ tokens, toolStems }: FillPlace, parameter: Parameter, start: number, end: number): number {
  const roles = rolesOf(parameter);
  if (roles.has("text") || roles.has("query") || roles.has("name")) return start;
  for (let at = end - 3; at >= start; at--) {
    const isNoun = toolStems.has(tokens[at]?.stem ?? "") && tokens[at]?.stem !== "";
    const isLed = /^(?:from|to|in|at|near|for|of|by|with|on)$/u.test(wordAt(tokens, at + 1));
    if (isNoun && isLed) return /^(?:the|a|an|my|our)$/u.test(wordAt(tokens, at + 2)) ? at + 3 : at + 2;
  }
  return start;
}

function isSentenceEnd(tokens: readonly Token[], at: number): boolean {
  return /^[?!.]$/u.test(textAt(tokens, at)) && at < tokens.length - 1;
}

/** "bedroom lights": of a name, what the tool itself is about is taken away; of a text nothing is. */
function skipNouns({ tokens, ownStems }: FillPlace, parameter: Parameter, start: number, end: number): number {
  const roles = rolesOf(parameter);
  if (roles.has("text") || roles.has("query")) return end;
  let to = end;
  // "living room": what kind of place it is, is part of its name.
  const isPlace = (at: number): boolean => roles.has("place") && parameter.stems.includes(tokens[at]?.stem ?? "-");
  while (to > start + 1 && ownStems.has(tokens[to - 1]?.stem ?? "-") && !isPlace(to - 1)) to -= 1;
  return to;
}

function hasUsed(used: ReadonlySet<number>, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (used.has(at)) return true;
  return false;
}

function toFreeText({ tokens, request }: FillPlace, from: number, to: number): FreeText | undefined {
  const first = tokens[from];
  const last = tokens[to - 1];
  if (first === undefined || last === undefined) return undefined;
  const isLast = to === tokens.length;
  const raw = request.text.slice(first.start, isLast ? request.text.length : last.end).trim();
  const text = isLast && from > 0 ? raw : raw.replace(/[?.!]$/u, "");
  return text === "" ? undefined : { text: text.replace(/^(["'])(.*)\1$/su, "$2"), from, to };
}

/** Behind the last word that belongs to the tool, or to the way of asking, at the beginning. */
function skipLeading(place: FillPlace, parameter: Parameter, used: ReadonlySet<number>): number {
  const { tokens, toolStems } = place;
  const isAbout = (token: Token): boolean => {
    // A word that says nothing elsewhere ("make") may be what the tool is called.
    const stem = token.stem === "" && token.word.length > 3 ? (toStem(token.word)[0] ?? "") : token.stem;
    return token.kind === "word" && stem !== "" && (toolStems.has(stem) || parameter.stems.includes(stem));
  };
  const isSkipped = (at: number): boolean => {
    const token = tokens[at] as Token;
    // "dim the …": whatever it means, the first word is what to do.
    const isVerb = at === 0 && token.kind === "word" && /^(?:the|my|our)$/u.test(wordAt(tokens, 1));
    const isGreeting = at === 0 && /^(?:hey|hi|hello|kitbag)$/u.test(token.word);
    const isLight =
      at === 0 && (entering.test(token.word) || (lightVerbs.test(token.word) && !rolesOf(parameter).has("text")));
    return (
      isLight ||
      used.has(at) ||
      token.kind === "mark" ||
      leading.test(token.word) ||
      isAbout(token) ||
      isVerb ||
      isGreeting
    );
  };
  let start = 0;
  while (start < tokens.length && isSkipped(start)) start += 1;
  // "the word hello": what follows is the text.
  const isContainer =
    containers.test(wordAt(tokens, start)) && /^(?:the|this|following|a)$/u.test(wordAt(tokens, start - 1));
  if (isContainer && start < tokens.length - 1) return start + 1;
  // The article of the text itself was taken with the rest: "in the quick brown fox".
  const before = tokens[start - 1];
  const isArticle = /^(?:the|a|an|my|this|that|it|what|how|who|is|are)$/u.test(before?.word ?? "");
  const opener = wordAt(tokens, start - 2);
  if (
    isArticle &&
    !used.has(start - 1) &&
    /^(?:of|in|for|to|about|on)$/u.test(opener) &&
    !rolesOf(parameter).has("query") &&
    !rolesOf(parameter).has("place")
  ) {
    return containers.test(wordAt(tokens, start)) ? start : start - 1;
  }
  return start;
}

/** Before the words at the end that belong to the tool: "… to my list", "… please". */
function skipTrailing({ tokens, toolStems }: FillPlace, start: number, end: number): number {
  let to = end;
  while (to > start && tokens[to - 1]?.kind === "mark" && !/[)\]}"'%]/u.test(textAt(tokens, to - 1))) to -= 1;
  const plain = to;
  let at = to;
  while (at > start) {
    const { word, stem, kind } = tokens[at - 1] as Token;
    if (kind !== "word" || !(trailing.test(word) || (stem !== "" && toolStems.has(stem)))) break;
    at -= 1;
    // A whole phrase is taken away, and only where it begins.
    if (
      /^(?:to|in|on|at|from|into|please|thanks|using|with|as|of|for|is|are|was|were|get|have|has|there|mean|means)$/u.test(
        word,
      )
    )
      to = at;
  }
  return isEmptyWord(wordAt(tokens, to - 1)) && to < plain && to <= start ? plain : to;
}
