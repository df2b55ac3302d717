import { toPlainText } from "../../document/to-plain-text.ts";

const mostLines = 20_000;
const longestLine = 2000;
const longestDescription = 300;
const fence = /^\s*(?:`{3}|~{3})/u;

/**
 * What the instructions of a skill say about a script that says nothing about itself: the words after its name in a list or a table,
 * the sentence that names it, or what stands above its call in a block of code. Empty if there is nothing of the kind.
 */
export function describeFromText(text: string, path: string): string {
  const fileName = path.split("/").at(-1) ?? path;
  if (!text.includes(fileName)) return "";
  const lines = text.split("\n", mostLines).map((line) => line.slice(0, longestLine));
  const found: string[][] = [[], [], [], []];
  let opened: number | undefined;
  for (const [index, line] of lines.entries()) {
    if (fence.test(line)) opened = opened === undefined ? index : undefined;
    else if (namesFile(line, fileName)) {
      const sayings =
        opened === undefined
          ? [afterName(line, fileName), besideName(line, fileName) || aboveCommand(lines, index, fileName)]
          : ["", "", aboveCall(lines, { index, opened }, fileName), headingAbove(lines, opened)];
      for (const [rank, saying] of sayings.entries()) if (saying !== "") found[rank]?.push(saying);
    }
  }
  return found.flat()[0] ?? "";
}

/** ``- `scripts/x.py`: what it does``, and the same in a table. */
function afterName(line: string, fileName: string): string {
  const cells = line.trim().startsWith("|") ? line.split("|").map((cell) => cell.trim()) : [];
  const cell = cells.findIndex((one) => one.includes(fileName));
  if (cell !== -1) return toSentence(cells[cell + 1] ?? "") || toSentence(cells[cell - 1] ?? "");
  const [, rest = ""] = /^\s*(?:[-*+]|\d+[.)])\s+\S[^\n]{0,200}?[`*)\]]+\s*(?:[-–—:]|→)\s*(.+)$/u.exec(line) ?? [];
  return rest === "" || rest.includes(fileName) ? "" : toSentence(rest);
}

/** Stands for the name of the script in a sentence, and for what begins other code. */
const [own, other] = ["\uE000", "\uE001"] as const;

/** "Run `scripts/x.py` to check the form." */
function besideName(line: string, fileName: string): string {
  const sentence = line
    .replace(/^\s*(?:[-*+>#|]+|\d+[.)])\s+/u, "")
    .replaceAll(/`[^`\n]*`/gu, (code) => (namesFile(code, fileName) ? own : other + code.slice(1, -1)))
    .split(/(?<=[.!?。])\s+(?=[\p{Lu}\p{Lo}\uE000\uE001])/u)
    .find((one) => one.includes(own) || namesFile(one, fileName));
  if (sentence === undefined) return "";
  const words = toClause(sentence.replaceAll(/\S*[\w/.-]+/gu, (word) => (namesFile(word, fileName) ? own : word)));
  const spoken = words.replaceAll(own, "").match(/\p{L}{2,}|\p{Lo}/gu) ?? [];
  if (spoken.length < (/^\W*(?:see|read|run|use|call|execute|then|e\.?g)\b/iu.test(words) ? 4 : 3)) return "";
  const purpose =
    /^(?:then )?(?:run|use|call|execute|invoke)(?: the)?(?: script)? \uE000(?: script)? to (.+)$/iu.exec(words)?.[1] ??
    /^\uE000 (\p{Ll}+s .+)$/u.exec(words)?.[1];
  const text = toSentence((purpose ?? words).replaceAll(own, fileName).replaceAll(other, ""));
  return purpose === undefined && words.startsWith(own)
    ? text
    : text.replace(/^\p{Ll}/u, (first) => first.toUpperCase());
}

/** Of a sentence that names other scripts too, what it says about this one. */
function toClause(sentence: string): string {
  if (!/\uE001[^\uE001]*?\/?[\w-]+\.(?:py|[cm]?[jt]s|sh|rb|pl|php|lua|ps1|r)\b/iu.test(sentence)) return sentence;
  const clauses = sentence.split(/[,;]\s+(?:(?:and|or|then)\s+)?|\s+(?:and|or|then)\s+/u);
  const clause = clauses.find((one) => one.includes(own)) ?? sentence;
  return /[.!?。]$/u.test(clause) ? clause : `${clause}.`;
}

/** Names this file, and not another one whose name ends like it. */
function namesFile(text: string, fileName: string): boolean {
  for (let at = text.indexOf(fileName); at !== -1; at = text.indexOf(fileName, at + 1)) {
    if (!/[\w-]/u.test(text[at - 1] ?? "") && !/[\w-]/u.test(text[at + fileName.length] ?? "")) return true;
  }
  return false;
}

/** "This checks the form:", above a line that is nothing but the call. */
function aboveCommand(lines: readonly string[], index: number, fileName: string): string {
  return /^\s*`[^`]+`[.:]?\s*$/u.test(lines[index] ?? "") ? aboveLine(lines, index, fileName) : "";
}

interface Block {
  readonly index: number;
  /** The line of the fence. */
  readonly opened: number;
}

/** The comment above the call, or the paragraph above the block. */
function aboveCall(lines: readonly string[], { index, opened }: Block, fileName: string): string {
  const [, comment = ""] = /^\s*(?:#|\/\/)+\s*(.+)$/u.exec(lines[index - 1] ?? "") ?? [];
  if (index - 1 > opened && comment !== "") return toSentence(comment);
  const [, beside = ""] = /\s{2,}#\s+(.+)$/u.exec(lines[index] ?? "") ?? [];
  if (beside !== "") return toSentence(beside);
  return aboveLine(lines, opened, fileName);
}

/** A file that a program runs; the name of a product, as Node.js, is in no folder and in no code. */
const scriptName = /(?:`[^`\n]{0,200}?|\/)[\w-]+\.(?:py|[cm]?[jt]s|sh|rb|pl|php|lua|ps1|r)\b/iu;

/** The last sentence of the paragraph that introduces a line or a block. One that names another script is about that script. */
function aboveLine(lines: readonly string[], index: number, fileName: string): string {
  const above = lines.slice(Math.max(0, index - 3), index).findLast((line) => line.trim() !== "") ?? "";
  if (/^\s*(?:#|\||`{3})/u.test(above)) return "";
  const sentence =
    above
      .trim()
      .split(/(?<=[.!?。])\s+/u)
      .at(-1) ?? "";
  if (scriptName.test(sentence) && !namesFile(sentence, fileName)) return "";
  return toSentence(sentence.replace(/^(?:[-*+]|\d+[.)])\s+/u, ""));
}

function headingAbove(lines: readonly string[], opened: number): string {
  const heading = lines.slice(Math.max(0, opened - 12), opened).findLast((line) => /^#{2,6}\s/u.test(line)) ?? "";
  return toSentence(heading.replace(/^#+\s+(?:step )?(?:[\d.]+[.):]?\s+)?/iu, ""));
}

/** What says nothing about one script. */
const empty =
  /^(?:usage|examples?|basic usage|quick ?start|run(?: it| this)?|commands?|scripts?|bash|tools?|how to use|getting started|workflow|options?|resources?|see|then|or|step \d+)\b[^\p{L}]*(?:the (?:following )?(?:command|script|below)s?)?[^\p{L}]*$/iu;

function toSentence(text: string): string {
  const plain = toPlainText(
    text.replaceAll(/\[([^\]\n]{1,200})\]\([^()\s]{0,300}\)/gu, "$1").replaceAll(/[*`]|(?<!\w)_|_(?!\w)/gu, ""),
  )
    .replaceAll(/\s+/gu, " ")
    .trim()
    .replace(/[\s:：|]+$/u, "");
  const isWords = (plain.match(/\p{L}{2,}|\p{Lo}/gu) ?? []).length >= 2;
  return isWords && !empty.test(plain) && plain.length <= longestDescription ? plain : "";
}
