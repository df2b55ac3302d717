import { isAbsolute, relative, sep } from "node:path";

import { toPrintableLine, toPrintable } from "./printable.ts";
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
  return columns === undefined ? line : cutToWidth(line, columns);
}

/** Cuts a text so that it is at most `columns` wide. */
export function cutToWidth(text: string, columns: number): string {
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

/** A fact as its name and what it is; one that is empty is not shown. */
export type Fact = readonly [name: string, value: string];

/** Lays out facts under each other. */
export function renderFacts(facts: readonly Fact[]): string {
  return facts
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name.padEnd(13)}${toPrintableLine(value)}`)
    .join("\n");
}

const styles = { "+": "green", "-": "red", "@": "cyan" } as const;

/** Writes a unified diff of text from elsewhere: harmless on a terminal, in colours if it has some. */
export function renderPatch(patch: string, terminal: Pick<Terminal, "style">): string {
  return toPrintable(patch).replaceAll(/^([+\-@]).*$/gmu, (line, mark: keyof typeof styles) =>
    terminal.style(/^(?:---|\+\+\+) /u.test(line) ? "bold" : styles[mark], line),
  );
}

/** A path as a person would type it: from the working directory if it is inside, with `/`. */
export function toShownPath(path: string, cwd: string): string {
  const inside = relative(cwd, path);
  const isOutside = inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return isOutside ? path : inside.split(sep).join("/") || ".";
}

/** A word as a shell takes it: in quotes if it must be. */
export function toShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/** A number of bytes for a person: `12.3 MiB`. */
export function showBytes(bytes: number): string {
  const step = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return step === 0 ? `${bytes} bytes` : `${(bytes / 1024 ** step).toFixed(1)} ${units[step] ?? ""}`;
}

/** A time for a person, in his own time zone: `2026-11-16 03:40:02`. */
export function showTime(time: number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "?";
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`;
}

/** A time as people say it: `0.42 ms`, `12 ms`, `3.4 s`, `2.5 min`. */
export function showDuration(durationMs: number): string {
  if (durationMs < 1) return `${trim(durationMs, 2)} ms`;
  if (durationMs < 1000) return `${trim(durationMs, durationMs < 10 ? 1 : 0)} ms`;
  if (durationMs < 60_000) return `${trim(durationMs / 1000, 1)} s`;
  return `${trim(durationMs / 60_000, 1)} min`;
}

function trim(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}

/** A number and what it counts: `1 entry`, `2 entries`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
