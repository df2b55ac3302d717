import { isName } from "../../core/names.ts";

const longestName = 64;

/** Makes the name of a tool from the name of a script and the words of a sub-command. */
export function toToolName(path: string, words: readonly string[] = []): string {
  const fileName = path.split("/").at(-1) ?? path;
  const stem = fileName.replace(/(?<=.)\.\w{1,5}$/u, "");
  return toName([stem, ...words].join("-"));
}

/** Makes a name that the grammar of names takes. */
function toName(text: string): string {
  const clean = text
    .replaceAll(/[^A-Za-z0-9_.-]+/gu, "-")
    .replaceAll(/^[^A-Za-z0-9]+|[-.]+$/gu, "")
    .slice(0, longestName)
    .replace(/[-.]+$/u, "");
  return isName(clean) ? clean : "script";
}

/** A name that `taken` does not have: the wanted one, with the ending of the file, or with a number. */
export function toFreeName(wanted: string, path: string, taken: { has(name: string): boolean }): string {
  if (!taken.has(wanted)) return wanted;
  const ending = /\.(\w{1,5})$/u.exec(path)?.[1]?.toLowerCase();
  const withEnding = ending === undefined ? wanted : withSuffix(wanted, ending);
  if (!taken.has(withEnding)) return withEnding;
  for (let count = 2; ; count++) {
    const name = withSuffix(wanted, String(count));
    if (!taken.has(name)) return name;
  }
}

function withSuffix(name: string, suffix: string): string {
  return `${name.slice(0, longestName - suffix.length - 1)}-${suffix}`;
}
