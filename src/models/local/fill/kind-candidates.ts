import type { JsonValue } from "../../../core/json.ts";
import { toExtensionStems } from "../text/file-endings.ts";
import { toStems } from "../text/stems.ts";
import { isCode, isSlashName, isValueToken, type Token, type TokenKind, wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import { convertToken, hasStrictPattern, plainText } from "./convert-token.ts";
import { findChoices } from "./match-choice.ts";
import type { Parameter } from "./parameter.ts";
import { readAmount, type ReadValue, skipJoints } from "./read-value.ts";
import { hasForm, rolesOf, sampleKinds, type Role } from "./roles.ts";
import { isUnitName } from "./unit-names.ts";

/** Values that are of the kind that a parameter takes, by their form alone. */
export function kindCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  if (parameter.choices.length > 0) {
    return findChoices(parameter, place).flatMap(({ choice, from, to, score }) => {
      if (!isChoiceMeant(place, parameter, from)) return [];
      // "68 fahrenheit in celsius": the unit of the amount is not what it is to become.
      const isSource = place.tokens[from - 1]?.kind === "number" && rolesOf(parameter).has("target");
      const cues = nameBehind(place, parameter, from, to);
      return [{ parameter, value: choice, from, to, ...cues, score: isSource ? score - 20 : score }];
    });
  }
  if (parameter.type === "array") return listCandidates(place, parameter);
  return place.tokens.flatMap((token, at) => {
    const isOwn = token.kind === "word" && place.ownStems.has(token.stem);
    const isWrong = token.kind === "mark" || isOwn || isOtherPlace(place, parameter, token);
    const score = isWrong ? 0 : kindScore(parameter, token, place.tokens[at + 1]) || fileScore(place, parameter, token);
    const found = score > 0 ? readKind(place, parameter, at) : undefined;
    if (found === undefined) return [];
    // "250 euros": the unit is no part of a text.
    const isMeasured = token.kind === "number" && isUnitName(wordAt(place.tokens, found.to));
    const cues = isMeasured ? { cueFrom: at, cueTo: found.to + 1 } : {};
    return [{ parameter, value: found.value, from: at, to: found.to, ...cues, score }];
  });
}

/** "rename a.txt" for `source` and `destination` of what is about files: which of the two, the order tells. */
function fileScore({ about }: FillPlace, parameter: Parameter, { kind }: Token): number {
  const { type, isRequired, description } = parameter;
  const isPlace = kind === "path" && type === "string" && isRequired && description === "";
  const isEnd = isPlace && (rolesOf(parameter).has("source") || rolesOf(parameter).has("target"));
  return isEnd && /\b(?:files?|folders?|director(?:y|ies)|images?|documents?|archives?)\b/iu.test(about) ? 41 : 0;
}

/** "night shift": the name behind the choice leads to it. */
function nameBehind(
  { tokens }: FillPlace,
  { stems }: Parameter,
  from: number,
  to: number,
): Pick<Candidate, "cueFrom" | "cueTo"> {
  return stems.includes(tokens[to]?.stem ?? "-") ? { cueFrom: from, cueTo: to + 1 } : {};
}

function readKind(place: FillPlace, parameter: Parameter, at: number): ReadValue | undefined {
  if (parameter.type === "number" || parameter.type === "integer") return readAmount(place, parameter, at);
  const value = convertToken(parameter, place.tokens[at] as Token);
  return value === undefined ? undefined : { value, to: at + 1 };
}

/** `src/` is a folder, and nothing for a tool that reads a file. */
function isOtherPlace({ about }: FillPlace, parameter: Parameter, token: Token): boolean {
  const isFolder = token.kind === "path" && /[\w.]\/$/u.test(token.text);
  return (
    isFolder &&
    !/folder|director|repositor|project|path/iu.test(`${about} ${parameter.description}`) &&
    !rolesOf(parameter).has("folder")
  );
}

/** A format or an order that may be left out is named on purpose: not by a word that says what the tool works on. */
function isChoiceMeant({ tokens, toolStems }: FillPlace, parameter: Parameter, at: number): boolean {
  if (parameter.isRequired || listsChoices(parameter, toolStems)) return true;
  const token = tokens[at] as Token;
  const isLed = /^(?:as|in|by|to|into|with|using)$/u.test(wordAt(tokens, at - 1));
  return isLed || !toolStems.has(token.stem) || parameter.stems.includes(tokens[at + 1]?.stem ?? "-");
}

/** A description that names several of the choices tells what there is to choose from. */
function listsChoices({ choices }: Parameter, toolStems: ReadonlySet<string>): boolean {
  return choices.filter((choice) => toStems(String(choice)).every((stem) => toolStems.has(stem))).length > 1;
}

const kindOfRole: Readonly<Partial<Record<Role, TokenKind>>> = {
  command: "command",
  date: "date",
  email: "email",
  expression: "expression",
  folder: "path",
  host: "url",
  path: "path",
  person: "email",
  phone: "reference",
  regex: "regex",
  selector: "selector",
  sql: "sql",
  time: "time",
  url: "url",
};

function kindScore(parameter: Parameter, token: Token, next: Token | undefined): number {
  const { isRequired, type } = parameter;
  if (type === "number" || type === "integer") return token.kind === "number" && isRequired ? numberScore(token) : 0;
  if (type === "object" || type === "any") return token.kind === "json" ? 60 : 0;
  return type === "string" ? textScore(parameter, token, next) : 0;
}

function textScore(parameter: Parameter, token: Token, next: Token | undefined): number {
  const { isRequired } = parameter;
  const role = [...rolesOf(parameter)].find((role) => kindOfRole[role] === token.kind);
  if (role === "path" || role === "folder") return placeScore(parameter, role, token, next);
  const own = role === undefined ? (looksRight(parameter, token) ? 51 : 0) : 52;
  if (own > 0) return isRequired ? own : 43;
  if (token.kind === "json") return isBody(parameter) ? 61 : 0;
  if (token.kind === "range" && takesRange(parameter)) return 55;
  return isRequired && (canBePlace(token) || !hasForm(parameter))
    ? plainScore(rolesOf(parameter), parameter, token)
    : 0;
}

function takesRange({ words }: Parameter): boolean {
  return /^(?:pages?|lines?|rows?|range|years?)$/u.test(words.at(-1) ?? "");
}

/** What is sent along is more likely a body than anything else. */
function isBody({ words }: Parameter): boolean {
  return /^(?:body|payload|data|json)$/u.test(words.at(-1) ?? "");
}

/** By the pattern of the schema, or by what the parameter is shown with. */
function looksRight(parameter: Parameter, token: Token): boolean {
  if (hasStrictPattern(parameter) && convertToken(parameter, token) !== undefined) return true;
  return sampleKinds(parameter).has(token.kind) || hasSampleShape(parameter, token);
}

/** A text with spaces and without a dot is no file, and neither is the number of a telephone. */
function canBePlace(token: Token): boolean {
  if (isCode(token) || token.kind === "reference" || token.kind === "expression" || token.kind === "time") return false;
  return token.kind !== "quoted" || /^\S+$|[./\\]/u.test(plainText(token));
}

/** A year is no amount if there is another number. */
function numberScore(token: Token): number {
  return /^(?:19|20)\d\d$/u.test(token.text) ? 39 : 40;
}

/** A statement is no name of anything. */
const formalKinds = /^(?:command|regex|sql)$/u;

function plainScore(roles: ReadonlySet<Role>, parameter: Parameter, token: Token): number {
  if (token.kind === "code") return 44;
  if (formalKinds.test(token.kind)) return roles.has("query") ? 44 : 0;
  if (token.kind === "quoted") return roles.has("text") || roles.has("query") ? 40 : 38;
  if (token.kind === "reference" || isCode(token)) return 42;
  const isName = isSlashName(token) ? roles.has("name") : token.kind === "number" && isNumberName(parameter);
  if (isName) return 38;
  if (token.kind === "expression" && roles.has("query")) return 30;
  return 0;
}

function isNumberName({ words }: Parameter): boolean {
  return /^(?:number|id|index|code|key|version|year|zip|phone|task|issue)$/u.test(words.at(-1) ?? "");
}

function placeScore(parameter: Parameter, role: Role, token: Token, next: Token | undefined): number {
  const extension = /[^/\\.*]\.([a-z][a-z0-9]{0,7})$/iu.exec(token.text)?.[1] ?? "";
  // An archive or a document is no folder.
  if (role === "folder" && toExtensionStems(extension).length > 1) return 0;
  let score = parameter.isRequired ? 50 : 41;
  score += folderScore(parameter, role, extension !== "" || token.text.includes("*"));
  // A .zip is the archive, a .pdf is the document.
  if (namesExtension(parameter, extension)) score += 6;
  if (token.text.includes("*")) score += sampleWith(parameter, "*") ? 8 : -14;
  const isInside =
    parameter.words.includes("entry") && next !== undefined && /^(?:inside|in|of|from)$/u.test(next.word);
  return isInside ? score + 4 : score;
}

function folderScore(parameter: Parameter, role: Role, isFile: boolean): number {
  const roles = rolesOf(parameter);
  if (role === "folder" && !roles.has("path")) return isFile ? -12 : 4;
  return roles.has("folder") && isFile ? -12 : 0;
}

function sampleWith({ samples, description, words }: Parameter, text: string): boolean {
  return (
    samples.some((sample) => sample.includes(text)) ||
    description.includes(text) ||
    words.includes("pattern") ||
    words.includes("glob")
  );
}

function namesExtension(parameter: Parameter, extension: string): boolean {
  const stems = toExtensionStems(extension);
  return stems.some((stem) => parameter.stems.includes(stem) || parameter.descriptionStems.has(stem));
}

/** `main..HEAD` looks like `v1.0..v1.1`, "USD" like "EUR", "2020-2024" like "2019-2021". */
export function hasSampleShape({ samples }: Parameter, token: Token): boolean {
  if (/^(?:quoted|code|selector)$/u.test(token.kind) || token.text.length > 60) return false;
  if (token.kind === "path") return token.text.includes("*") && samples.some((sample) => sample.includes("*"));
  const shape = shapeOf(token.text);
  // A word with a capital is any word, at the beginning of a sentence.
  if (!/[^Aa9]/u.test(shape) && !/^\p{Lu}{2,}$/u.test(token.text)) return false;
  return samples.some(
    (sample) => shapeOf(sample) === shape || (sample.includes("..") && /[^.]\.\.[^.]/u.test(token.text)),
  );
}

function shapeOf(text: string): string {
  return text
    .slice(0, 60)
    .replaceAll(/\p{Lu}+/gu, "A")
    .replaceAll(/\p{Ll}+/gu, "a")
    .replaceAll(/\d+(?:\.\d+)?/gu, "9");
}

/** "oat milk and cinnamon", where both are choices. */
function choiceLists(place: FillPlace, parameter: Parameter, item: Parameter): Candidate[] {
  const found = findChoices(item, place).filter(({ score }) => score >= 58);
  const [first] = found;
  const last = found.at(-1);
  if (first === undefined || last === undefined) return [];
  const value = [...new Set(found.map(({ choice }) => choice))];
  return [{ parameter, value, from: first.from, to: last.to, score: 62 }];
}

/** All values of the kind that the items of a list have: "a.md and b.md", "3, 5 and 10". */
function listCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  const { item } = parameter;
  if (item === undefined) return [];
  if (item.choices.length > 0) return choiceLists(place, parameter, item);
  const { tokens } = place;
  const json = tokens.findIndex((token) => token.kind === "json" && Array.isArray(token.value));
  if (json !== -1) return [{ parameter, value: tokens[json]?.value as JsonValue, from: json, to: json + 1, score: 60 }];
  const fits = (token: Token): boolean =>
    isValueToken(token) && kindScore({ ...item, isRequired: parameter.isRequired }, token, undefined) > 0;
  const first = tokens.findIndex(fits);
  if (first === -1) return [];
  const values: JsonValue[] = [];
  let to = first;
  for (let at = first; at < tokens.length && fits(tokens[at] as Token); at = skipJoints(tokens, at + 1)) {
    const value = convertToken(item, tokens[at] as Token);
    if (value === undefined) break;
    values.push(value);
    to = at + 1;
  }
  return values.length === 0
    ? []
    : [{ parameter, value: values, from: first, to, score: parameter.isRequired ? 48 : 30 }];
}
