import { stripVTControlCharacters } from "node:util";

const maxLines = 30;
const maxLineLength = 400;

/**
 * What a compiler said, for whoever wrote the source: paths relative to the skill's folder, no colours, and not more than can be
 * read. `directory` is the folder as the compiler saw it.
 */
export function toErrorLines(output: string, directory: string): string[] {
  const lines = stripVTControlCharacters(output)
    .replaceAll(`${directory}/`, "")
    .split(/\r?\n/u)
    .map((line) => toPlace(line.trimEnd()))
    .map((line) => (line.length > maxLineLength ? `${line.slice(0, maxLineLength)} …` : line));
  const first = lines.findIndex((line) => line !== "");
  const last = lines.findLastIndex((line) => line !== "");
  const said = first === -1 ? [] : lines.slice(first, last + 1);
  if (said.length <= maxLines) return said;
  return [...said.slice(0, maxLines), `… and ${said.length - maxLines} more lines`];
}

/** `./src/a.c:1` → `src/a.c:1`, and `in src/a.ts(5,23)` of AssemblyScript as everybody else writes it. */
function toPlace(line: string): string {
  return line.replace(/(^|[\s"'(])\.\/(?=\S)/gu, "$1").replace(/ in (.+)\((\d+),(\d+)\)$/u, " in $1:$2:$3");
}
