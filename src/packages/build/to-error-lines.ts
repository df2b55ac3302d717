import { stripVTControlCharacters } from "node:util";

const maxLines = 30;
const linesBefore = 3;
const maxLineLength = 400;

/** Where a compiler worked. */
export interface CompilerPlace {
  /** The skill's folder, as the compiler saw it. */
  readonly directory: string;
  /** What paths in messages are relative to, if not to that folder: a folder in it. */
  readonly folder?: string;
}

/**
 * What a compiler said, for whoever wrote the source: paths relative to the skill's folder, no colours, and not more than can be
 * read, with the first error in it.
 */
export function toErrorLines(output: string, { directory, folder }: CompilerPlace): string[] {
  const lines = stripVTControlCharacters(output)
    .replaceAll(`${directory}/`, "")
    .split(/\r?\n/u)
    .map((line) => toPlace(line.trimEnd(), folder))
    .map((line) => (line.length > maxLineLength ? `${line.slice(0, maxLineLength)} …` : line));
  const first = lines.findIndex((line) => line !== "");
  const last = lines.findLastIndex((line) => line !== "");
  const said = first === -1 ? [] : lines.slice(first, last + 1);
  if (said.length <= maxLines) return said;
  // What leads to an error may be long; the error is what counts.
  const error = said.findIndex((line) => /\berror\b/iu.test(line));
  const start = error < maxLines - 1 ? 0 : error - linesBefore;
  const shown = said.slice(start, start + maxLines);
  return [
    ...(start > 0 ? [`… ${start} lines before`] : []),
    ...shown,
    ...(start + maxLines < said.length ? [`… and ${said.length - start - maxLines} more lines`] : []),
  ];
}

/** `./src/a.c:1` → `src/a.c:1`, and `in src/a.ts(5,23)` of AssemblyScript as everybody else writes it. */
function toPlace(line: string, folder: string | undefined): string {
  const plain = line.replace(/(^|[\s"'(])\.\/(?=\S)/gu, "$1").replace(/ in (.+)\((\d+),(\d+)\)$/u, " in $1:$2:$3");
  return folder === undefined ? plain : plain.replace(/^(\s*(?:-->|:::) )(?!\/)/u, `$1${folder}/`);
}
