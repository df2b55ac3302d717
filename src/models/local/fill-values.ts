import { findCued, freeOf, give, giveNamed, openOf, type Draft } from "./draft.ts";
import type { Parameter } from "./parameters.ts";
import type { Token } from "./read-request.ts";

const beginnings = /^(?:after|begin|between|from|since|start|starting)/iu;
const ends = /^(?:and|before|end|through|till|to$|until)/iu;

/** Dates as they are written; "tomorrow" if the day is known. */
export function giveDates(draft: Draft): void {
  for (const [index, token] of draft.tokens.entries()) {
    const day = token.kind === "date" ? token.text : dayOf(token, draft.today);
    if (day === undefined || draft.used.has(token)) continue;
    const takers = openOf(draft).filter(({ takes }) => takes === "date");
    const side = [beginnings, ends].find((words) => words.test(draft.tokens[index - 1]?.text ?? ""));
    const only = takers.length === 1 ? takers[0] : takers.find(({ isRequired }) => isRequired);
    const sided = side === undefined ? undefined : takers.find(({ name }) => side.test(name));
    give(draft, sided ?? findCued(draft, takers, index) ?? only, day, [token]);
  }
}

function dayOf({ kind, text }: Token, today: string | undefined): string | undefined {
  const days = ["yesterday", "today", "tomorrow"].indexOf(text.toLowerCase()) - 1;
  const now = Date.parse(today ?? "");
  if (kind !== "word" || days < -1 || Number.isNaN(now)) return undefined;
  return new Date(now + days * 86_400_000).toISOString().slice(0, 10);
}

const most = /^(?:best|biggest|first|largest|last|latest|longest|most|newest|smallest|top|worst)$/iu;
const limits = /^(?:count|limit|lines|n|number|top|max_?(?:count|items|results)?)$/iu;
const isNumeric = ({ type }: Parameter): boolean => type === "number" || type === "integer";
/** A text that is a number: one with leading zeros, or a year. */
const isNumberText = ({ name, type }: Parameter): boolean =>
  type === "string" && /(?:code|id|no|number|year)$/iu.test(name);

/** Numbers: by the words beside them, then in order if there are as many as are needed. */
export function giveNumbers(draft: Draft): void {
  const left = freeOf(draft, "number").filter((token) => {
    const index = draft.tokens.indexOf(token);
    const next = draft.tokens[index + 1];
    const takers = openOf(draft).filter((one) => isNumeric(one) || isNumberText(one));
    const before = findCued(draft, takers, index);
    const behind = takers.find(({ words }) => next?.stems.some((stem) => words.includes(stem)) === true);
    // "A radius of 150 cm" is no radius in metres.
    if (before !== undefined && behind !== undefined && before !== behind) return false;
    const marks = [draft.tokens[index - 1], next].filter((one) => one !== undefined && most.test(one.text)) as Token[];
    const limit = takers.find(({ name, description }) => limits.test(name) || /^how many/iu.test(description));
    const parameter = before ?? behind ?? (marks.length > 0 ? limit : undefined);
    return !give(draft, parameter, token.text, parameter === limit ? [token, ...marks] : [token]);
  });
  const needed = openOf(draft).filter(({ isRequired }) => isRequired);
  const numeric = needed.filter(isNumeric);
  const takers = numeric.length === left.length ? numeric : numeric.length === 0 ? needed.filter(isNumberText) : [];
  for (const [index, token] of left.entries()) give(draft, takers[index], token.text, [token]);
}

/** What tools call files by their endings, as stems. */
const formats: readonly (readonly [word: string, endings: RegExp])[] = [
  ["archiv", /\.(?:7z|bz2|gz|jar|tar|tgz|whl|xz|zip)$/iu],
  ["audio", /\.(?:flac|mp3|ogg|wav)$/iu],
  ["excel", /\.xlsx?$/iu],
  ["imag", /\.(?:bmp|gif|jpe?g|png|svg|webp)$/iu],
  ["markdown", /\.md$/iu],
  ...["csv", "html", "json", "pdf", "tsv", "xml", "yaml"].map(
    (word) => [word, new RegExp(`\\.${word}$`, "iu")] as const,
  ),
];

function formatOf({ text }: Token): string | undefined {
  return formats.find(([, endings]) => endings.test(text))?.[0];
}

/** Whether a tool says that it reads files of another format than this one. */
function isOtherFormat(draft: Draft, { aboutWords, words }: Parameter, token: Token): boolean {
  const format = formatOf(token);
  const isNamed = (word: string): boolean =>
    aboutWords.includes(word) || words.includes(word) || draft.isOwn({ ...token, text: word, stems: [word] });
  const named = formats.map(([word]) => word).filter(isNamed);
  return format !== undefined && named.length > 0 && !named.includes(format);
}

const takesFiles = ({ takes, item }: Parameter): boolean => takes === "file" || item?.takes === "file";

/** Files and folders: by their kind, by the words before them, then in order. */
export function giveFiles(draft: Draft): void {
  const isOfFormat = (one: Parameter, token: Token): boolean => one.words.includes(formatOf(token) ?? "");
  for (const token of freeOf(draft, "file")) {
    const open = openOf(draft);
    const pattern = token.text.includes("*")
      ? open.find(({ name }) => /^(?:glob|match|pattern)/iu.test(name))
      : undefined;
    const parameter = pattern ?? open.find((one) => takesFiles(one) && isOfFormat(one, token));
    giveNamed(draft, parameter, token.text, [token]);
  }
  for (const token of freeOf(draft, "file"))
    give(draft, findCued(draft, openOf(draft).filter(takesFiles), draft.tokens.indexOf(token)), token.text, [token]);
  for (const token of freeOf(draft, "file")) {
    const parameter = findTaker(draft, token);
    if (parameter === undefined || isOtherFormat(draft, parameter, token)) continue;
    if (give(draft, parameter, token.text, [token])) draft.placed += 1;
  }
}

function findTaker(draft: Draft, token: Token): Parameter | undefined {
  const open = openOf(draft);
  const takers = open.filter(takesFiles);
  const list = draft.parameters.find((one) => one.type === "array" && takesFiles(one));
  const isAboutFiles = draft.isOwn({ ...token, text: "file", stems: ["fil"] });
  // "Compare two files" says nothing more of what it calls "before" and "after".
  const untold = open.find((one) => one.isRequired && one.description === "" && one.takes === "text");
  const optional = takers.length === 1 ? takers[0] : undefined;
  return takers.find(({ isRequired }) => isRequired) ?? list ?? (isAboutFiles ? untold : undefined) ?? optional;
}
