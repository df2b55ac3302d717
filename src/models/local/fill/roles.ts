import type { TokenKind } from "../text/token.ts";
import type { Parameter } from "./parameter.ts";

/** What part a parameter plays in a sentence, by its name. */
export type Role =
  | "command"
  | "company"
  | "date"
  | "email"
  | "expression"
  | "folder"
  | "host"
  | "limit"
  | "name"
  | "path"
  | "person"
  | "phone"
  | "place"
  | "query"
  | "regex"
  | "selector"
  | "source"
  | "sql"
  | "target"
  | "text"
  | "time"
  | "unit"
  | "url";

const namesOf: Readonly<Record<Role, string>> = {
  command: "command cmd commandline shell",
  company: "company organization organisation employer firm vendor",
  date: "date day since until due deadline when start end begin birthday before after",
  email: "email mail recipient recipients",
  expression: "expression formula equation calculation math expr",
  folder: "folder directory dir root cwd repo repository workspace",
  host: "host hostname domain ip server machine",
  limit: "limit max maximum top count n results amount most size",
  name: "name title label called",
  path: "file files filename path paths filepath archive pdf document image photo picture csv attachment json zip src entry",
  person:
    "author holder owner assignee user person who by attendee attendees participants guests invitees members customer client employee patient student supplier doctor teacher trainer driver",
  phone: "phone telephone mobile tel fax cell",
  place: "city location place country where region town room venue restaurant hotel",
  query: "query q search term terms keyword keywords pattern needle question topic substring",
  regex: "regex regexp",
  selector: "selector jsonpath xpath pointer",
  source: "from source origin original departure pickup old before first left base",
  sql: "sql",
  target:
    "to target into destination arrival dropoff output dest new after second right replacement language lang locale",
  text: "text content contents body message string input value note sentence phrase words data title task item todo subject description comment summary headline caption details reason prompt",
  time: "time at hour clock",
  unit: "unit units currency",
  url: "url uri link href website site endpoint homepage address",
};

const rolesByWord = new Map<string, Role[]>();
for (const [role, words] of Object.entries(namesOf)) {
  for (const word of words.split(" ")) rolesByWord.set(word, [...(rolesByWord.get(word) ?? []), role as Role]);
}

const roles = new WeakMap<Parameter, ReadonlySet<Role>>();

/** The parts that a parameter may play. */
export function rolesOf(parameter: Parameter): ReadonlySet<Role> {
  let found = roles.get(parameter);
  if (found === undefined) {
    found = toRoles(parameter);
    roles.set(parameter, found);
  }
  return found;
}

const roleOfFormat = new Map<unknown, Role>([
  ["date", "date"],
  ["date-time", "date"],
  ["email", "email"],
  ["time", "time"],
  ["uri", "url"],
  ["uri-reference", "url"],
  ["url", "url"],
]);

function toRoles(parameter: Parameter): Set<Role> {
  const found = new Set(parameter.words.flatMap((word) => rolesByWord.get(word) ?? []));
  const byFormat = roleOfFormat.get(parameter.schema["format"]);
  if (byFormat !== undefined) found.add(byFormat);
  const kinds = sampleKinds(parameter);
  if (kinds.has("selector")) {
    found.delete("path");
    found.add("selector");
  }
  if (kinds.has("url")) found.add("url");
  // What a document is called is no file.
  if (/^(?:the )?(?:title|name) of\b/iu.test(parameter.description) && !kinds.has("path")) {
    if (found.delete("path")) found.add("name");
  }
  // "before" and "after" of two files are no dates.
  const isEnd = found.has("source") !== found.has("target");
  if (isEnd && byFormat === undefined && !kinds.has("date")) found.delete("date");
  addPlaces(parameter, kinds, found);
  return found;
}

/** A description may say that it is a file or a folder, or in which language it is written. */
function addPlaces({ description, type, words }: Parameter, kinds: ReadonlySet<TokenKind>, found: Set<Role>): void {
  if (/\bregular expression\b|\bregexp?\b/iu.test(description)) found.add("regex");
  if (/\bISO(?: 8601)? date\b|\bYYYY-MM-DD\b/iu.test(description)) found.add("date");
  if (/\bSQL\b/u.test(description)) found.add("sql");
  if (/\b(?:shell|terminal) command\b/iu.test(description)) found.add("command");
  if (/\b(?:phone|fax|mobile) number\b/iu.test(description)) found.add("phone");
  if (/\b(?:senders?|authors?|assignees?|recipients?|user ?names?|person)\b/iu.test(description)) found.add("person");
  if (found.has("selector") || found.has("limit") || type === "boolean" || takesEndings(words)) return;
  if (kinds.has("path") || /\b(?:file|files|path (?:of|to)|archive)\b/iu.test(description)) found.add("path");
  if (/\b(?:folder|directory)\b/iu.test(description)) found.add("folder");
}

/** Tells whether something by this name takes endings of files (`ts,py`), and so no file. */
export function takesEndings(words: readonly string[]): boolean {
  return /^(?:ext|extension|extensions|suffix|suffixes)$/u.test(words.at(-1) ?? "");
}

const roleForms: readonly Role[] = ["path", "folder", "url", "email", "date", "time", "selector"];
const roleTexts: readonly Role[] = ["text", "query", "name", "place", "source", "target"];

/** Tells whether the values of a parameter have a form of their own (a file, an address, a date), so that plain words are none. */
export function hasForm(parameter: Parameter): boolean {
  const roles = rolesOf(parameter);
  return roleForms.some((role) => roles.has(role)) && !roleTexts.some((role) => roles.has(role));
}

/** Tells whether a parameter takes a unit or a currency: a word that is left over is none. */
export function takesUnit(parameter: Parameter): boolean {
  return rolesOf(parameter).has("unit") || /\b(?:units?|currency|currencies)\b/iu.test(parameter.description);
}

/** Tells whether a file or an address may be a value: who describes units or pages takes none; who describes nothing may. */
export function takesPlace(parameter: Parameter, kind: TokenKind): boolean {
  if (kind === "selector") return (["selector", "text", "query"] as const).some((role) => rolesOf(parameter).has(role));
  if (kind !== "path" && kind !== "url") return true;
  if (kind === "path" && parameter.samples.some((sample) => /^[\p{L}_-]+\/[\p{L}_-]+$/u.test(sample))) return true;
  return parameter.description === "" || rolesOf(parameter).has(kind) || sampleKinds(parameter).has(kind);
}

const kindPatterns: readonly (readonly [TokenKind, RegExp])[] = [
  ["url", /^https?:/iu],
  ["selector", /\[[^\]]{0,60}\]|^\$\.|^\.\.\w/u],
  ["date", /^\d{4}-\d{2}-\d{2}|\bago$/u],
  ["range", /^\d+-\d*(?:,\d+)*$/u],
  ["path", /^[~.]{0,2}\/|^[\w./-]{1,100}\.[a-z][a-z0-9]{0,4}$/iu],
];

const kinds = new WeakMap<Parameter, ReadonlySet<TokenKind>>();

/** The kinds of values that a parameter is shown with. */
export function sampleKinds(parameter: Parameter): ReadonlySet<TokenKind> {
  let found = kinds.get(parameter);
  if (found === undefined) {
    const samples = [...parameter.samples, ...(parameter.item?.samples ?? [])];
    found = new Set(samples.flatMap((sample) => kindPatterns.find(([, pattern]) => pattern.test(sample))?.[0] ?? []));
    kinds.set(parameter, found);
  }
  return found;
}

/** Words that stand before a value in this part. */
export const cuesOf: Readonly<Partial<Record<Role, readonly string[]>>> = {
  company: ["at", "from", "of", "with"],
  date: ["on", "since", "until", "till", "from", "by", "due", "after", "before"],
  email: ["to"],
  folder: ["in", "under", "inside", "within", "at", "below"],
  host: ["on", "at"],
  limit: ["top", "first", "limit", "maximum", "max", "most", "than", "to", "only", "just"],
  name: ["called", "named", "titled", "labelled", "labeled"],
  person: ["by", "for", "from", "of", "with"],
  place: ["in", "at", "near", "for"],
  query: ["called", "named", "for", "matching", "containing", "about", "mentioning", "like"],
  source: ["from"],
  target: ["to", "into", "as", "with", "in"],
  text: ["saying", "says", "reading"],
  time: ["at"],
};
