import { toStem } from "./stems.ts";

/** Words that people use for one another. General ones only: what a tool is about it says itself. */
const groupTexts = [
  "count number many length tally",
  "sum total plus add",
  "average mean",
  "max maximum largest highest biggest greatest",
  "min minimum smallest lowest",
  "definition define mean meaning dictionary",
  "add create new insert append put remember note",
  "delete remove erase drop discard",
  "list show display print enumerate see view",
  "show read view open print display",
  "find search look locate lookup grep seek discover",
  "fetch download retrieve request load pull",
  "read load open cat content contents",
  "write save store put",
  "convert change turn transform conversion",
  "calculate compute evaluate solve calculator work math arithmetic",
  "check verify validate test valid inspect examine correct",
  "hash checksum digest fingerprint",
  "compare diff difference differ versus change same identical equal",
  "summarize summary overview report recap digest",
  "repository repo git",
  "file document",
  "folder directory",
  "todo task reminder remind item chore",
  "finish complete done tick close mark",
  "extract pull text read say",
  "translate say translation",
  "toc contents outline",
  "image picture photo",
  "mail email message send",
  "weather forecast temperature rain snow sunny",
  "time clock hour now",
  "date day calendar",
  "upper uppercase capital",
  "lower lowercase small",
  "reverse backwards backward flip",
  "multiply times product",
  "divide quotient split",
  "subtract minus difference deduct",
  "archive zip tar",
  "unpack unzip untar decompress",
  "frequent common often repeated top popular",
  "shape structure schema outline",
  "group per category breakdown",
  "size large big biggest largest",
  "dangerous safe risky malicious suspicious danger harmful",
  "readability readable easy hard difficult",
  "word phrase term",
  "commit history log",
  "random dice pick generate",
  "http web url website page internet",
  "broken dead invalid wrong",
  "header copyright spdx",
  "rename move",
  "update change edit modify",
  "copy duplicate clone",
  "sort order rank arrange",
  "run execute start",
  "left remaining open outstanding pending",
  "who author person people contributor",
  "author wrote",
  "metadata info facts details property",
  "price cost charge",
  "invoice bill",
  "meeting appointment event",
  "parcel package shipment delivery",
  "film movie",
  "song music",
  "route way direction journey trip",
  "distance far away",
  "light lamp bulb",
  "begin start launch",
  "booking reservation reserve book",
  "phone telephone mobile",
  "expense spend spent cost",
  "alarm wake",
  "note memo idea",
  "recipe cook dish meal",
  "remember memory recall memorize",
];

const groups = groupTexts.map((group) => group.split(" ").flatMap(toStem));

const synonyms = new Map<string, Set<string>>();
for (const group of groups) {
  for (const word of group) {
    const others = synonyms.get(word) ?? new Set();
    for (const other of group) if (other !== word) others.add(other);
    synonyms.set(word, others);
  }
}

const none: ReadonlySet<string> = new Set();

/** Stems of words that are often used instead of the word with this stem. */
export function synonymsOf(stem: string): ReadonlySet<string> {
  return synonyms.get(stem) ?? none;
}

/** The same words as people write them, and other forms of the word itself. */
export function synonymWordsOf(stem: string): string[] {
  const own = groupTexts.filter((_, index) => groups[index]?.includes(stem) === true);
  return [...new Set(own.flatMap((group) => group.split(" ")))];
}
