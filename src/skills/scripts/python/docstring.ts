/** What a docstring says about the parameters of its function, by their name. In the styles of Google, NumPy and Sphinx. */
export function readDocstring(doc: string | null): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (doc === null) return found;
  const lines = doc.split("\n").slice(0, 500);
  for (const [, name = "", text = ""] of doc
    .slice(0, 20_000)
    .matchAll(/^[ \t]*:param (?:[\w[\], |.]+ )?(\w+):[ \t]*(.*)$/gmu)) {
    found.set(name, text.trim());
  }
  const start = lines.findIndex((line) => /^\s*(?:args|arguments|parameters|params)\s*:?\s*$/iu.test(line));
  if (start === -1) return found;
  const isNumpy = /^\s*-{3,}\s*$/u.test(lines[start + 1] ?? "");
  readSection(found, lines.slice(start + (isNumpy ? 2 : 1)), isNumpy);
  return found;
}

const row = /^\s*\*{0,2}(\w+)\s*(?:\([^)]{0,80}\))?\s*:[ \t]*(.*)$/u;

function readSection(found: Map<string, string>, lines: readonly string[], isNumpy: boolean): void {
  const written = lines.filter((line) => line.trim() !== "");
  const indent = indentOf(written[0] ?? "");
  let name: string | undefined;
  for (const line of written) {
    const own = indentOf(line);
    if (own > indent && name !== undefined) {
      found.set(name, `${found.get(name) ?? ""} ${line.trim()}`.trim());
      continue;
    }
    const [, word, text = ""] = own === indent ? (row.exec(line) ?? []) : [];
    if (word === undefined) return;
    name = word;
    // NumPy has the type after the colon and the words below.
    found.set(name, isNumpy ? "" : text.trim());
  }
}

function indentOf(line: string): number {
  const indent = line.search(/\S/u);
  return indent === -1 ? 0 : indent;
}
