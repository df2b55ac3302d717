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
    else if (line.includes(fileName)) {
      const sayings =
        opened === undefined
          ? [afterName(line, fileName), besideName(line, fileName)]
          : ["", "", aboveCall(lines, { index, opened }), headingAbove(lines, opened)];
      for (const [rank, saying] of sayings.entries()) if (saying !== "") found[rank]?.push(saying);
    }
  }
  return found.flat()[0] ?? "";
}

/** ``- `scripts/x.py`: what it does``, and the same in a table. */
function afterName(line: string, fileName: string): string {
  const cells = line.trim().startsWith("|") ? line.split("|").map((cell) => cell.trim()) : [];
  const cell = cells.findIndex((one) => one.includes(fileName));
  if (cell !== -1) return toSentence(cells[cell + 1] ?? "");
  const [, rest = ""] = /^\s*(?:[-*+]|\d+[.)])\s+\S[^\n]{0,200}?[`*)\]]+\s*(?:[-–—:]|→)\s*(.+)$/u.exec(line) ?? [];
  return rest === "" || rest.includes(fileName) ? "" : toSentence(rest);
}

/** "Run `scripts/x.py` to check the form." */
function besideName(line: string, fileName: string): string {
  const named = line.replaceAll(/`[^`\n]*`/gu, (code) => (code.includes(fileName) ? fileName : code.slice(1, -1)));
  const sentences = named.replace(/^\s*(?:[-*+>#|]+|\d+[.)])\s+/u, "").split(/(?<=[.!?。])\s+(?=\p{Lu}|\p{Lo})/u);
  const sentence = sentences.find((one) => one.includes(fileName)) ?? "";
  const rest = sentence.replaceAll(fileName, "").match(/\p{L}{2,}/gu) ?? [];
  return rest.length >= 4 ? toSentence(sentence) : "";
}

interface Block {
  readonly index: number;
  /** The line of the fence. */
  readonly opened: number;
}

/** The comment above the call, or the paragraph above the block. */
function aboveCall(lines: readonly string[], { index, opened }: Block): string {
  const [, comment = ""] = /^\s*(?:#|\/\/)+\s*(.+)$/u.exec(lines[index - 1] ?? "") ?? [];
  if (index - 1 > opened && comment !== "") return toSentence(comment);
  const [, beside = ""] = /\s{2,}#\s+(.+)$/u.exec(lines[index] ?? "") ?? [];
  if (beside !== "") return toSentence(beside);
  const above = lines.slice(Math.max(0, opened - 3), opened).findLast((line) => line.trim() !== "") ?? "";
  if (/^\s*(?:#|\||`{3})/u.test(above)) return "";
  const sentence =
    above
      .trim()
      .split(/(?<=[.!?。])\s+/u)
      .at(-1) ?? "";
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
