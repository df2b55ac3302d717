// Reads the headings and links of Markdown, and makes anchors as GitHub does.
import { readFileSync } from "node:fs";

// Wrong flags end here, with one line.
process.on("uncaughtException", (cause) => fail(`cannot go on: ${cause.message}`));

/** Ends the program: what is wrong goes to standard error. */
export function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** The text of a file, with line feeds only. */
export function readMarkdown(path) {
  try {
    return readFileSync(path, "utf8")
      .replace(/^\uFEFF/u, "")
      .replaceAll("\r\n", "\n");
  } catch (cause) {
    return fail(`${path}: ${cause.message}`);
  }
}

/** The lines that are prose: no code, no front matter, no comments; each with its number, counted from 1. */
export function proseLines(text) {
  const lines = text.split("\n");
  const prose = [];
  let start = 0;
  if (lines[0] === "---") {
    const end = lines.indexOf("---", 1);
    start = end === -1 ? 0 : end + 1;
  }
  let fence;
  for (let index = start; index < lines.length; index++) {
    const line = lines[index];
    const mark = /^ {0,3}(?:> ?|[-*+] +|\d+[.)] +)*\s*(`{3,}|~{3,})/u.exec(line)?.[1];
    if (fence === undefined && mark !== undefined) fence = mark;
    else if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined;
    } else prose.push({ line, number: index + 1 });
  }
  return prose;
}

/** The headings, with level, text, anchor and line. */
export function findHeadings(text) {
  const taken = new Map();
  const headings = [];
  const lines = proseLines(text);
  for (const [index, { line, number }] of lines.entries()) {
    const match = /^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/u.exec(line);
    const underline = /^ {0,3}(=+|-+)[ \t]*$/u.exec(lines[index + 1]?.line ?? "");
    const isUnderlined =
      underline !== null && lines[index + 1]?.number === number + 1 && /^ {0,3}[^\s#>|*+-]/u.test(line);
    if (match !== null) headings.push(toHeading(match[1].length, match[2], number, taken));
    else if (isUnderlined) headings.push(toHeading(underline[1][0] === "=" ? 1 : 2, line.trim(), number, taken));
  }
  return headings;
}

function toHeading(level, source, line, taken) {
  const text = source
    .replaceAll(/!\[([^\]]*)\]\([^)]*\)/gu, "$1")
    .replaceAll(/\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/gu, "$1")
    .replaceAll(/<[^>]*>/gu, "")
    .trim();
  const base = toAnchor(text);
  const count = taken.get(base) ?? 0;
  taken.set(base, count + 1);
  return { level, text, line, anchor: count === 0 ? base : `${base}-${count}` };
}

/** The anchor of a heading: `What's new?` → `whats-new`. */
export function toAnchor(text) {
  return text
    .replaceAll(/[`*]|(?<!\p{L})_|_(?!\p{L})/gu, "")
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\s-]/gu, "")
    .replaceAll(/\s/gu, "-");
}
