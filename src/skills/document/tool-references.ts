import { readMarkdownLines } from "./markdown-lines.ts";

/** A mention of a tool in the instructions of a skill. */
export interface ToolReference {
  /** As written: `plugin:design/layout@1.2.0`. */
  readonly raw: string;
  /** `design/layout` */
  readonly address: string;
  readonly owner: string;
  readonly tool: string;
  readonly version?: string;
  /** Of the file, if the body's first line was given; else of the text. */
  readonly line: number;
  readonly column: number;
  /** It stands in a code block, where the same form may mean something else: `plugin:react/recommended` is ESLint's. */
  readonly inCodeBlock: boolean;
}

const name = "[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9_])?";
const version = String.raw`[0-9](?:[0-9A-Za-z.+-]{0,62}[0-9A-Za-z])?`;
const referenceForm = `(?<![A-Za-z0-9_.:/-])plugin:(${name})/(${name})(?![A-Za-z0-9_-])(?:@(${version})(?![A-Za-z0-9_-]))?`;

/**
 * Finds the tools that a text mentions as `plugin:<plugin>/<tool>`, with or without `@version`. Whether there is such a tool is
 * not looked at.
 */
export function findToolReferences(body: string, bodyLine = 1): ToolReference[] {
  const references: ToolReference[] = [];
  if (!body.includes("plugin:")) return references;
  for (const { text, index, fence } of readMarkdownLines(body)) {
    if (!text.includes("plugin:")) continue;
    for (const match of text.matchAll(new RegExp(referenceForm, "gu"))) {
      const [raw, owner = "", tool = "", wanted] = match;
      references.push({
        raw,
        address: `${owner}/${tool}`,
        owner,
        tool,
        ...(wanted !== undefined && { version: wanted }),
        line: bodyLine + index,
        column: match.index + 1,
        inCodeBlock: fence !== undefined,
      });
    }
  }
  return references;
}

/**
 * Replaces mentions of tools by the names that a model must use. `names` is asked for `owner/tool@version`, where a version is
 * mentioned, and then for `owner/tool`; a mention that it does not know stays as it is.
 */
export function renderToolReferences(text: string, names: ReadonlyMap<string, string>): string {
  if (names.size === 0 || !text.includes("plugin:")) return text;
  return text.replaceAll(
    new RegExp(referenceForm, "gu"),
    (raw: string, owner: string, tool: string, wanted?: string) => {
      const address = `${owner}/${tool}`;
      const exact = wanted === undefined ? undefined : names.get(`${address}@${wanted}`);
      return exact ?? names.get(address) ?? raw;
    },
  );
}
