import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A piece of TypeScript that stands in the documentation. */
export interface Example {
  /** The file it stands in, from the root. */
  readonly source: string;
  /** The line of `source` that its first line is. */
  readonly line: number;
  readonly code: string;
  /** Marked `no-run`: only its types are checked. */
  readonly typesOnly: boolean;
}

/** Finds every example there is: fences in Markdown, `@example`s in the comments of `src/`, and whole files in `examples/`. */
export function findExamples(root: string): Example[] {
  const read = (file: string): string => readFileSync(join(root, file), "utf8");
  const find = (pattern: string): string[] => globSync(pattern, { cwd: root }).toSorted();
  return [
    ...find("*.md").flatMap((file) => findFences(file, read(file))),
    ...find("docs/**/*.md").flatMap((file) => findFences(file, read(file))),
    ...find("src/**/*.ts").flatMap((file) => findCommentFences(file, read(file))),
    ...find("examples/**/*.ts").map((source) => ({ source, line: 1, code: read(source), typesOnly: false })),
  ];
}

/** Finds the `ts` fences of a Markdown text; indented ones too. */
export function findFences(source: string, text: string): Example[] {
  const examples: Example[] = [];
  let open: { fence: string; indent: string; mark: string; line: number; code: string[] } | undefined;
  for (const [index, row] of text.split("\n").entries()) {
    const [, indent = "", fence = "", mark = ""] = /^(\s*)(`{3,})\s*([^`]*)$/u.exec(row) ?? [];
    if (open === undefined) {
      if (fence !== "") open = { fence, indent, mark: mark.trim(), line: index + 2, code: [] };
    } else if (fence.startsWith(open.fence) && mark.trim() === "") {
      const [language, ...words] = open.mark.split(/\s+/u);
      if (language === "ts") {
        examples.push({ source, line: open.line, code: open.code.join("\n"), typesOnly: words.includes("no-run") });
      }
      open = undefined;
    } else {
      open.code.push(row.startsWith(open.indent) ? row.slice(open.indent.length) : row);
    }
  }
  if (open !== undefined) throw new Error(`Cannot read ${source}: the fence before line ${open.line} is never closed`);
  return examples;
}

/** Finds the `ts` fences of the comments in a TypeScript text. */
export function findCommentFences(source: string, text: string): Example[] {
  return [...text.matchAll(/^ *\/\*\*.*?\*\//gmsu)].flatMap(({ 0: comment, index }) => {
    const linesBefore = text.slice(0, index).split("\n").length - 1;
    const content = comment.replace(/\*\/$/u, "").replaceAll(/^ *\/?\*{1,2} ?/gmu, "");
    return findFences(source, content).map((example) => ({ ...example, line: example.line + linesBefore }));
  });
}
