import { readMarkdownLines } from "./markdown-lines.ts";

/** How much of a text is looked at, and how long a summary may be. */
const longestSearch = 16_384;
const longestSummary = 1024;

/**
 * Finds the sentence that says what a skill does, where its author wrote no description: the first paragraph, or else the first
 * heading. Code, tables, images, comments and rules are passed over.
 */
export function findSummary(body: string): string | undefined {
  const prose = withoutComments(body.slice(0, longestSearch));
  const summary = findParagraph(prose) || findHeading(prose);
  if (summary === "") return undefined;
  return summary.length > longestSummary ? `${summary.slice(0, longestSummary - 1).toWellFormed()}…` : summary;
}

const notProse = /^(?:#|\||!\[|\[!|<|[-*_]{3,}$)/u;
const label = /^[*_]{0,2}description[*_]{0,2}\s*:[*_]{0,2}\s*/iu;

function findParagraph(prose: string): string {
  const lines: string[] = [];
  for (const { text, fence } of readMarkdownLines(prose)) {
    const trimmed = text.trim();
    if (fence === undefined && trimmed !== "" && !notProse.test(trimmed)) lines.push(trimmed);
    else if (lines.length > 0) break;
  }
  return lines.join(" ").replace(label, "").trim();
}

function findHeading(prose: string): string {
  for (const { text, fence } of readMarkdownLines(prose)) {
    const [, heading] = /^#{1,6}\s+(\S.*)/u.exec(text) ?? [];
    if (fence === undefined && heading !== undefined) return heading.trim();
  }
  return "";
}

function withoutComments(text: string): string {
  let kept = "";
  for (let from = 0; ;) {
    const start = text.indexOf("<!--", from);
    const end = start === -1 ? -1 : text.indexOf("-->", start);
    if (end === -1) return kept + text.slice(from);
    kept += text.slice(from, start);
    from = end + 3;
  }
}
