import { toWords } from "../../core/text-search.ts";

/** Words of a request that do not have to be accounted for. */
const fillers = new Set(
  (
    "a an and any anything are as at be been being by can could current currently did do does for from gave give given had has have " +
    "he her here him his how i i'd i'm id in into is it it's its just kindly let let's lets like may me my need now of ok okay on one " +
    "or our out over please quickly really she so some something such tell than that that's the their them then there there's these they " +
    "thing this those to too us use using very want was we were what what's whats which who who's will with you your yours about called named up right result output same tool tools whether"
  ).split(/\s+/u),
);

/** With one of these, something else is meant than to do it now. */
const blockers = new Set(
  (
    "after avoid because before don't dont except how's if imagine instead maybe might nearly never no not nothing perhaps pretend " +
    "prevent should shouldn't stop suppose unless until when whenever why without won't wouldn't would yesterday"
  ).split(" "),
);

/** Words that mean the same when something is only read. A word may stand in several rows. */
const groups = [
  "count many number total-number",
  "sum total",
  "average mean avg",
  "find search look locate",
  "show display view see print read",
  "list contain content inside",
  "compare diff difference differ",
  "change changed differ",
  "check verify validate valid correct",
  "dangerous danger safe unsafe risk risky harmful",
  "frequent common often frequently",
  "repeat frequent",
  "compute calculate",
  "hash checksum digest",
  "summary summarise summarize overview",
  "largest biggest large big size",
  "smallest small",
  "hard difficult easy",
  "wrote author write",
  "folder directory",
  "lack missing without miss",
  "broken dead",
  "loud loudness",
  "temperature warm hot",
  "record entry",
  "identical same equal",
];

const sameAs = new Map<string, string[]>();
for (const group of groups) {
  const stems = stemsOf(group.replaceAll("-", ""));
  for (const stem of stems) sameAs.set(stem, [...(sameAs.get(stem) ?? []), ...stems]);
}

/** Words that begin a parameter's value in other words than its name. */
const cues = new Map([
  ["per", "by"],
  ["total", "sum"],
  ["average", "mean"],
]);

/** Verbs of requests that fit too many tools to tell for one of them. */
export const genericVerbs = new Set(
  stemsOf(
    "show find list get tell give make create look read see check display compute print write run open fetch return",
  ),
);

/** Verbs of tools that change nothing. */
export const readingVerbs = new Set(
  stemsOf(
    "analyse analyze answer calculate check compare compute convert count decode describe detect diff digest double echo encode estimate " +
      "explain extract fetch filter find get group hash inspect list locate look lookup measure monitor ping preview query rate read " +
      "resolve return search show split summarise summarize tell translate validate verify view what",
  ),
);

/** Verbs that make a tool one that changes things wherever they stand in what it says of itself. */
const changing = new Set(
  stemsOf("cancel create delete install move overwrite remove rename replace restart save send update upload write"),
);

/** The words of a text as they are compared: without endings, with British and American spelling the same, and "SHA-256" also as "sha256". */
export function stemsOf(text: string): string[] {
  const joined = [...text.slice(0, 20_000).matchAll(/\b([A-Za-z]{2,10})-(\d{1,4}[a-z]?)\b/gu)].map(
    ([, letters = "", digits = ""]) => `${letters.toLowerCase()}${digits}`,
  );
  return [...toWords(text).map(toAmerican), ...joined];
}

function toAmerican(stem: string): string {
  if (stem.startsWith("licenc")) return stem.replace("licenc", "licens");
  if (stem.length > 4 && stem.endsWith("ss")) return stem.slice(0, -1);
  if (stem.length > 5 && stem.endsWith("is")) return `${stem.slice(0, -2)}iz`;
  return stem.length > 4 && stem.endsWith("our") ? `${stem.slice(0, -3)}or` : stem;
}

/** A word without what is not a letter or a digit. */
export function squash(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}

/** Tells whether a word is in a list, however its case and its apostrophe are written. */
const isListed = (words: ReadonlySet<string>, word: string): boolean =>
  words.has(word.toLowerCase().replaceAll("’", "'"));

/** Tells whether a word of a request does not have to be accounted for. */
export const isFiller = (word: string): boolean => isListed(fillers, word);

/** Tells whether a word says that something else is meant than to do it now. */
export const isBlocker = (word: string): boolean => isListed(blockers, word);

/** The name of the parameter whose value may follow `word`. */
export function cueOf(word: string): string {
  const lower = word.toLowerCase();
  return cues.get(lower) ?? lower;
}

/** Whether `stem` is among `words`; for a tool that only reads, or a word that means the same. */
export function isAmong(words: ReadonlySet<string>, stem: string, isRead: boolean): boolean {
  return words.has(stem) || (isRead && sameAs.get(stem)?.some((same) => words.has(same)) === true);
}

/** Whether a tool only reads, as far as its name and the first sentences of its description tell. */
export function isReading(name: string, description: string): boolean {
  const [verb = ""] = stemsOf(description.slice(0, 100));
  const nameStems = stemsOf(name);
  if (nameStems.some((stem) => changing.has(stem))) return false;
  if (stemsOf(description.slice(0, 300)).some((stem) => changing.has(stem))) return false;
  return readingVerbs.has(verb) || (nameStems[0] !== undefined && readingVerbs.has(nameStems[0]));
}
