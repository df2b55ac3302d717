import { toPrintableLine } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

const gap = "  ";

/**
 * Lays out rows under headings, in columns. The last column is cut where the screen ends; a pipe gets it whole. Cells are other
 * people's text and are made harmless.
 */
export function renderTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  terminal: Pick<Terminal, "style" | "columns">,
): string {
  const cells = rows.map((row) => row.map(toPrintableLine));
  const widths = headings.map((heading, column) =>
    cells.reduce((widest, row) => Math.max(widest, textWidth(row[column] ?? "")), textWidth(heading)),
  );
  const lines = cells.map((row) => renderLine(row, widths, terminal.columns));
  return [terminal.style("bold", renderLine(headings, widths, terminal.columns)), ...lines].join("\n");
}

function renderLine(cells: readonly string[], widths: readonly number[], columns: number | undefined): string {
  const padded = cells.map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - textWidth(cell))));
  const line = padded.join(gap).trimEnd();
  return columns === undefined ? line : cutText(line, columns);
}

/** Cuts a text so that it is at most `columns` wide. */
export function cutText(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let width = 0;
  let cut = "";
  for (const character of text) {
    width += characterWidth(character);
    if (width > columns - 1) break;
    cut += character;
  }
  return `${cut}…`;
}

/** How many columns of a screen a text takes. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** East Asian and emoji characters take two columns, marks that sit on another character none. */
const wide =
  /^[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;

function characterWidth(character: string): number {
  if (character < "\u0300") return 1;
  if (/^\p{Mark}/u.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
