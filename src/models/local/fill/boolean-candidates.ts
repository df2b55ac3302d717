import { toStem, toStems } from "../text/stems.ts";
import { synonymsOf } from "../text/synonyms.ts";
import { textAt, type Token, wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import type { Parameter } from "./parameter.ts";

const negativeWords = /^(?:no|skip|without|exclude|disable|omit)$/u;
const emptyPrefixes = /^(?:include|with|show|is|has|only|enable|use|allow|should|do)$/u;
const denials = /^(?:no|not|without|don't|dont|never|skip|except|exclude|excluding|ignore|omit)$/u;

/** Whether a word of the request says that something is wanted, or not wanted. */
export function booleanCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  if (parameter.type !== "boolean") return [];
  const [first = "", ...others] = parameter.words;
  const isNegative = negativeWords.test(first) && others.length > 0;
  const isPrefixed = emptyPrefixes.test(first) && others.length > 0;
  const named = isNegative || isPrefixed ? others : parameter.words;
  const wanted = (named.length > 1 && named.at(-1) === "only" ? named.slice(0, -1) : named).map(
    (word) => toStem(word)[0] ?? word,
  );
  const { tokens } = place;
  const special = [describedCandidates, switchCandidates, oppositeCandidates, ...(isNegative ? [] : [deniedCandidates])]
    .map((find) => find(place, parameter))
    .find((found) => found.length > 0);
  if (special !== undefined) return special;
  return tokens.flatMap((_, at) => {
    const to = endOfWords(tokens, wanted, at);
    if (to === undefined || meansTool(place, wanted)) return [];
    const isDenied = [1, 2].some((back) => denials.test(wordAt(tokens, at - back)));
    if (isNegative && !isDenied) return [];
    return [{ parameter, value: isNegative || !isDenied, from: at, to, score: 60 }];
  });
}

/** Where words end that begin at a place, with or without an article between them: "notify the subscribers". */
function endOfWords(tokens: readonly Token[], wanted: readonly string[], from: number): number | undefined {
  let at = from;
  for (const stem of wanted) {
    if (at > from && /^(?:the|a|an|my|our|all)$/u.test(wordAt(tokens, at))) at += 1;
    if (!sameStem(tokens[at], stem)) return undefined;
    at += 1;
  }
  return at;
}

/** What is done so that something is no longer so. */
const opposites = new Map([
  ["open", "close"],
  ["locked", "unlock"],
  ["muted", "unmute"],
  ["visible", "hide"],
  ["running", "stop"],
]);

/** "close the gate" for `open`. */
function oppositeCandidates({ tokens }: FillPlace, parameter: Parameter): Candidate[] {
  const [stem = ""] = toStem(opposites.get(parameter.words.at(-1) ?? "") ?? "");
  return tokens.flatMap((token, at) =>
    stem !== "" && token.stem === stem ? [{ parameter, value: false, from: at, to: at + 1, score: 60 }] : [],
  );
}

/** "turn it on", "disable it" for `enabled`. */
function switchCandidates({ tokens }: FillPlace, parameter: Parameter): Candidate[] {
  if (!/^(?:enabled?|active|on|state|status)$/u.test(parameter.words.at(-1) ?? "")) return [];
  return tokens.flatMap(({ word }, at) => {
    const isOn = /^(?:enabled?|activated?|on)$/u.test(word);
    if (!isOn && !/^(?:disabled?|deactivated?|off)$/u.test(word)) return [];
    // "on" is mostly something else; behind a verb and at the end it is not.
    const isSmall = word === "on" && at > 1 && !/^(?:[.,;!?]|for|at|to|and|please|)$/u.test(textAt(tokens, at + 1));
    return isSmall ? [] : [{ parameter, value: isOn, from: at, to: at + 1, score: 62 }];
  });
}

/** "no invitation" for `send_invite`, "don't keep the aspect ratio" for `keep_aspect`: what it is about, or does, behind a denial. */
function deniedCandidates({ tokens, toolStems }: FillPlace, parameter: Parameter): Candidate[] {
  const about = parameter.stems.filter((stem) => !toolStems.has(stem) && stem.length >= 4);
  return tokens.flatMap(({ word, stem }, at) => {
    // "uncompressed"
    const isUndone = /^(?:un|non)/u.test(word) && about.some((own) => isForm(stem.replace(/^(?:un|non)/u, ""), own));
    if (isUndone) return [{ parameter, value: false, from: at, to: at + 1, score: 61 }];
    if (!denials.test(word)) return [];
    const found = [at + 1, at + 2, at + 3].find((place) =>
      about.some((stem) => isForm(tokens[place]?.stem ?? "", stem)),
    );
    return found === undefined ? [] : [{ parameter, value: false, from: at, to: found + 1, score: 61 }];
  });
}

/** "invitation" and "invite" are forms of one word. */
function isForm(said: string, stem: string): boolean {
  const shared = Math.min(said.length, stem.length);
  return shared >= 4 && said.slice(0, shared - 1) === stem.slice(0, shared - 1);
}

/** What is said in the words of the description: "is it up to date?", "what would change"; or what it does: "add … to FILE" where it puts something into it. */
function describedCandidates({ tokens }: FillPlace, parameter: Parameter): Candidate[] {
  // "end with an error if some files have none": what is behind "if" is not what it does.
  const [description = ""] = parameter.description.toLowerCase().split(/\bif\b/u);
  const words = ` ${description.split(/[^\p{L}\p{N}'-]+/u).join(" ")} `;
  const isSaid = (at: number): boolean => {
    const said = tokens.slice(at, at + 3).map(({ word }) => word);
    const isPhrase = said.length === 3 && !said.includes("") && !/^(?:the|a|of|in|to|and)$/u.test(said[2] ?? "");
    return isPhrase && words.includes(` ${said.join(" ")} `);
  };
  const [verb = ""] = toStems(description.slice(0, 40));
  const first = tokens.find(({ stem }) => stem !== "")?.stem ?? "";
  const isDone = (at: number): boolean =>
    /^(?:to|into)$/u.test(wordAt(tokens, at)) &&
    tokens[at + 1]?.kind === "path" &&
    /\binto\b/u.test(description) &&
    (first === verb || synonymsOf(first).has(verb));
  return tokens.flatMap((_, at) =>
    isSaid(at) || isDone(at) ? [{ parameter, value: true, from: at, to: at + (isSaid(at) ? 3 : 1), score: 58 }] : [],
  );
}

/** "common words" asks for frequent ones, if that is what the tool finds. */
function meansTool({ ownStems }: FillPlace, wanted: readonly string[]): boolean {
  const [stem = ""] = wanted;
  return wanted.length === 1 && !ownStems.has(stem) && [...synonymsOf(stem)].some((word) => ownStems.has(word));
}

function sameStem(token: Token | undefined, stem: string): boolean {
  if (token?.kind !== "word" || stem === "") return false;
  const own = token.stem === "" ? token.word : token.stem;
  if (stem === "all" && own === "everything") return true;
  return own === stem || (stem.length >= 6 && own.startsWith(stem));
}
