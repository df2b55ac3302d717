import { isEmptyWord } from "../text/stems.ts";
import { isCode, isValueToken, type Token, wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import type { Parameter } from "./parameter.ts";
import { readValue } from "./read-value.ts";
import { cuesOf, rolesOf, takesPlace, type Role } from "./roles.ts";

/** Values that a small word leads to: "in src", "to French", "top 5", "by Ada". */
export function cuedCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  if (takesAnyList(parameter)) return place.tokens.flatMap((_, at) => listBehind(place, parameter, at));
  const objects = listOfObjects(place, parameter);
  if (objects.length > 0) return objects;
  const roles = [...rolesOf(parameter)];
  // The path of something that is about folders is one.
  const isFolder = roles.includes("path") && /folder|director/iu.test(place.about);
  return (isFolder ? [...roles, "folder" as const] : roles).flatMap((role) => {
    const cues =
      role === "date" ? dateCues(parameter) : role === "person" ? personCues(parameter) : (cuesOf[role] ?? []);
    return place.tokens.flatMap(({ word }, at) => (cues.includes(word) ? cuedAt(place, parameter, role, at) : []));
  });
}

/** "Until" leads to where something ends, "since" to where it begins. */
function dateCues({ words }: Parameter): readonly string[] {
  const cues = cuesOf.date ?? [];
  if (words.some((word) => /^(?:start|begin|since|from|after|checkin)$/u.test(word)))
    return cues.filter((cue) => !ends.test(cue));
  const isEnd = words.some((word) => /^(?:end|until|to|due|deadline|before|return|checkout|finish)$/u.test(word));
  return isEnd ? [...cues.filter((cue) => !/^(?:since|from|after)$/u.test(cue)), "to"] : cues;
}

/** An appointment is for a patient and with a doctor. */
function personCues({ words }: Parameter): readonly string[] {
  const cues = cuesOf.person ?? [];
  if (words.some((word) => /^(?:patient|customer|client|student)$/u.test(word)))
    return cues.filter((cue) => cue !== "with");
  const isHelper = words.some((word) => /^(?:doctor|teacher|trainer|driver)$/u.test(word));
  return isHelper ? cues.filter((cue) => cue !== "for") : cues;
}

const ends = /^(?:until|till|by|due|before)$/u;

/** A required list of plain words whose name says nothing about what leads to it. */
function takesAnyList(parameter: Parameter): boolean {
  const { type, isRequired, item } = parameter;
  return (
    type === "array" &&
    isRequired &&
    item?.type === "string" &&
    item.choices.length === 0 &&
    rolesOf(parameter).size === 0
  );
}

/** "vacuum the kitchen and the hall": what is done to what, for a tool that takes nothing but a list, which may be left out. */
function listOfObjects(place: FillPlace, parameter: Parameter): Candidate[] {
  const { tokens, parameters, toolStems } = place;
  const isOnly = parameters.length === 1 && parameter.type === "array" && parameter.item?.type === "string";
  const verb = tokens.findIndex(({ word }) => !/^(?:please|can|could|would|you)$/u.test(word));
  const isVerb = toolStems.has(tokens[verb]?.stem || "-") && /^(?:the|my|our)$/u.test(wordAt(tokens, verb + 1));
  const isTool = toolStems.has(tokens[verb + 2]?.stem ?? "");
  const found = isOnly && isVerb && !isTool ? readValue(place, parameter, verb + 1) : undefined;
  return found === undefined ? [] : [{ parameter, value: found.value, from: verb + 1, to: found.to, score: 41 }];
}

/** "with chickpeas, spinach and feta" */
function listBehind(place: FillPlace, parameter: Parameter, at: number): Candidate[] {
  const isCue = /^(?:with|containing|including|using|from|of|for)$/u.test(wordAt(place.tokens, at));
  const found = isCue ? readValue(place, parameter, at + 1) : undefined;
  return found === undefined
    ? []
    : [{ parameter, value: found.value, from: at + 1, to: found.to, cueFrom: at, cueTo: at + 1, score: 36 }];
}

const determiners = /^(?:the|a|an|my|this|that|our|your)$/u;
const nouns = /^(?:file|folder|directory|repo|repository|project|document|archive)$/u;

function cuedAt(place: FillPlace, parameter: Parameter, role: Role, at: number): Candidate[] {
  const { tokens } = place;
  const hasDeterminer = determiners.test(wordAt(tokens, at + 1));
  const from = skipNoun(tokens, hasDeterminer ? at + 2 : at + 1);
  const token = tokens[from];
  if (token === undefined || !canFollow[role]?.({ place, parameter, token, at: from, hasDeterminer })) return [];
  const found = readValue(place, parameter, from);
  if (found === undefined) return [];
  const score = cueScore(role, token) - (parameter.type === "array" ? 4 : 0);
  return [{ parameter, value: found.value, from, to: found.to, cueFrom: at, cueTo: from, score }];
}

/** "in the file a.txt": the noun is no value if one follows. */
function skipNoun(tokens: readonly Token[], at: number): number {
  const next = tokens[at + 1];
  // "in the folder reports" has a name behind it, "in the folder now" has none.
  const isNamed = next?.stem !== "" && /^(?:folder|directory)$/u.test(wordAt(tokens, at));
  return nouns.test(wordAt(tokens, at)) && next !== undefined && (isValueToken(next) || isNamed) ? at + 1 : at;
}

function cueScore(role: Role, token: Token): number {
  if (role === "source" || role === "target" || role === "limit") return 56;
  if (role === "name") return 60;
  return isValueToken(token) ? 54 : 46;
}

/** What stands behind a small word. */
interface Cued {
  readonly place: FillPlace;
  readonly parameter: Parameter;
  readonly token: Token;
  readonly at: number;
  readonly hasDeterminer: boolean;
}

/** What may be a value in each part: which small words mean what depends on what follows. */
const canFollow: Readonly<Partial<Record<Role, (cued: Cued) => boolean>>> = {
  company: ({ token }) => token.kind === "quoted" || (token.kind === "word" && /^\p{Lu}/u.test(token.text)),
  date: ({ token }) => token.kind === "date",
  email: ({ token }) => token.kind === "email",
  folder: (cued) => cued.token.kind === "quoted" || isFolder(cued),
  host: ({ token }) => token.kind === "url" || token.kind === "quoted" || isCode(token),
  limit: ({ token }) => token.kind === "number",
  name: isNew,
  person: ({ token }) =>
    /^(?:quoted|email)$/u.test(token.kind) || (token.kind === "word" && /^\p{Lu}/u.test(token.text)),
  place: (cued) => cued.token.kind === "quoted" || (cued.token.stem !== "" && isNew(cued)),
  // What is searched for may be many words: that is for the free text to find.
  query: (cued) =>
    isNew(cued) &&
    (!(cued.parameter.isRequired && cued.token.kind === "word") ||
      /^(?:called|named)$/u.test(wordAt(cued.place.tokens, cued.at - 1))),
  source: isEnd,
  target: isEnd,
  text: isNew,
  time: ({ token }) => token.kind === "time",
};

function isNew({ place, token }: Cued): boolean {
  return token.kind !== "mark" && !place.toolStems.has(token.stem);
}

/** "from a.json to b.json" is for what takes files; who describes units takes none. */
function isEnd({ place, parameter, token: { kind, text }, at, hasDeterminer }: Cued): boolean {
  if (kind === "mark" || (hasDeterminer && kind === "word")) return false;
  // "in Japanese" says into what; "in" alone says where.
  if (wordAt(place.tokens, at - 1) === "in") return kind === "word" && /^\p{Lu}/u.test(text);
  return takesPlace(parameter, kind);
}

/** What ends the name of a folder in the middle of a sentence: "in src have no header". */
const behindFolder =
  /^(?:recursively|please|now|have|has|lack|lacks|that|which|is|are|without|contain|contains|do|does)$/u;

/** "in src" and "in the src folder" name a folder, "in the project" does not. */
function isFolder({ place: { tokens, toolStems }, token, at, hasDeterminer }: Cued): boolean {
  if (token.kind === "path") return !/[^/\\.]\.[a-z][a-z0-9]{0,7}$/iu.test(token.text);
  if (token.kind !== "word" || isEmptyWord(token.word) || nouns.test(token.word)) return false;
  if ([at + 1, at - 1].some((place) => /^(?:folder|directory|dir)$/u.test(wordAt(tokens, place)))) return true;
  if (/^(?:under|inside|within|below)$/u.test(wordAt(tokens, at - 1)) && !toolStems.has(token.stem)) return true;
  const isLast =
    at === tokens.findLastIndex(({ kind }) => kind !== "mark") || behindFolder.test(wordAt(tokens, at + 1));
  return isLast && !hasDeterminer && !toolStems.has(token.stem) && /^[a-z][\w.-]*$/u.test(token.text);
}
