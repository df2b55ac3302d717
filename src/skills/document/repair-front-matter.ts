import { isMap, parseDocument } from "yaml";

import { quote } from "../../core/errors.ts";
import type { DocumentCode } from "./rules.ts";

/** One thing that was put right. Lines count from 1, from the beginning of the block. */
export interface Repair {
  readonly code: DocumentCode;
  readonly message: string;
  readonly line: number;
  readonly column: number;
  readonly cure: string;
}

/** A block that parses now, if the rest of it was right. It has as many lines as before. */
export interface RepairedBlock {
  readonly text: string;
  readonly repairs: readonly Repair[];
}

/** More keys than this are not a front matter that was written by hand. */
const mostKeys = 200;
const deepestMap = 3;

/**
 * Puts right what authors of front matter get wrong: texts that need quotes (most often because of a colon), a text behind `|`,
 * tabs, a missing space behind a colon, text that goes on without indentation. Each key is tried alone, and only those that do
 * not parse are changed.
 *
 * Contract: never throws; answers nothing when there are too many keys to try.
 */
export function repairFrontMatter(block: string): RepairedBlock | undefined {
  const repairs: Repair[] = [];
  const lines = block.split("\n").map((line, index) => expandTabs(line, index, repairs));
  const tried = { keys: 0 };
  repairMap({ lines, from: 0, to: lines.length, indent: "", depth: 0 }, repairs, tried);
  return tried.keys > mostKeys ? undefined : { text: lines.join("\n"), repairs };
}

/** Some lines of the block that belong together; `lines` is changed in place. */
interface Region {
  readonly lines: string[];
  readonly from: number;
  readonly to: number;
  /** What every key of the region starts with. */
  readonly indent: string;
  readonly depth: number;
}

function expandTabs(line: string, index: number, repairs: Repair[]): string {
  const [space = ""] = /^[ \t]*/u.exec(line) ?? [];
  if (!space.includes("\t")) return line;
  if (repairs.length === 0) {
    const message = "A line is indented with a tab, which YAML does not allow";
    repairs.push({ code: "yaml-tab", message, line: index + 1, column: 1, cure: "Indent with spaces" });
  }
  return space.replaceAll("\t", "  ") + line.slice(space.length);
}

interface KeyLine {
  readonly key: string;
  /** What stands behind the colon. */
  readonly rest: string;
  /** The space behind the colon is missing, or the colon is a full-width one. */
  readonly crowded: boolean;
}

const keyForm = /^(["']?)([\p{L}_][\p{L}\p{N}_ .-]{0,63})\1[ \t]*(:(?=\s|$)|[:：])/u;
const crowdedKeys = /^(?:name|description|license|compatibility|metadata|allowed-tools|version|author)$/u;

function parseKeyLine(content: string): KeyLine | undefined {
  const [whole = "", , key = "", colon = ""] = keyForm.exec(content) ?? [];
  if (whole === "") return undefined;
  const rest = content.slice(whole.length);
  const crowded = colon !== ":" || (rest !== "" && !/^\s/u.test(rest));
  if (crowded && !crowdedKeys.test(key)) return undefined;
  return { key, rest: rest.trim(), crowded };
}

interface Group extends KeyLine {
  readonly start: number;
  end: number;
  /** A line of it is not indented. */
  stray?: number;
}

function repairMap(region: Region, repairs: Repair[], tried: { keys: number }): void {
  for (const group of findGroups(region)) {
    if (++tried.keys > mostKeys) return;
    const text = region.lines.slice(group.start, group.end).map((line) => line.slice(region.indent.length));
    if (group.stray === undefined && !group.crowded && isFine(text.join("\n"))) continue;
    repairGroup(region, group, repairs, tried);
  }
}

function findGroups({ lines, from, to, indent }: Region): Group[] {
  const groups: Group[] = [];
  for (let index = from; index < to; index++) {
    const line = lines[index] ?? "";
    const content = line.slice(indent.length);
    const last = groups.at(-1);
    if (line.trim() === "" || !line.startsWith(indent) || /^\s/u.test(content)) {
      if (last !== undefined && line.trim() !== "") last.end = index + 1;
      continue;
    }
    if (content.startsWith("#")) continue;
    const key = parseKeyLine(content);
    if (key !== undefined) groups.push({ ...key, start: index, end: index + 1 });
    else if (last !== undefined) {
      last.end = index + 1;
      if (!content.startsWith("- ") || last.rest !== "") last.stray ??= index;
    }
  }
  return groups;
}

function isFine(text: string): boolean {
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false, logLevel: "silent" });
  return document.errors.length === 0 && isMap(document.contents) && document.contents.items.length === 1;
}

function repairGroup(region: Region, group: Group, repairs: Repair[], tried: { keys: number }): void {
  const { lines, depth } = region;
  const below = lines.slice(group.start + 1, group.end);
  const first = below.findIndex((line) => line.trim() !== "");
  const [indent = ""] = /^ */u.exec(below[first] ?? "") ?? [];
  const content = (below[first] ?? "").slice(indent.length);
  if (group.rest === "" && first !== -1 && !group.crowded && depth < deepestMap) {
    const inner = { lines, from: group.start + 1, to: group.end, indent, depth: depth + 1 };
    if (content.startsWith("- ")) return repairList(inner, repairs);
    if (indent.length > region.indent.length && parseKeyLine(content) !== undefined)
      return repairMap(inner, repairs, tried);
  }
  writeText(region, group, below, repairs);
}

function repairList({ lines, from, to, indent }: Region, repairs: Repair[]): void {
  for (let index = from; index < to; index++) {
    const line = lines[index] ?? "";
    if (!line.startsWith(`${indent}- `)) continue;
    const item = line.slice(indent.length + 2).trim();
    if (isFine(`item: ${item}`)) continue;
    lines[index] = `${indent}- ${JSON.stringify(withoutQuotes(item))}`;
    repairs.push(unquoted("an entry of a list", index, indent.length + 3, JSON.stringify(withoutQuotes(item))));
  }
}

const inlineBlock = /^([|>])[-+0-9]*[ \t]+(?=[^\s#])/u;

/** Replaces the lines of a group by one line with the text in quotes; the others stay, empty, so that line numbers are right. */
function writeText({ lines, indent }: Region, group: Group, below: readonly string[], repairs: Repair[]): void {
  const [indicator = "", style] = inlineBlock.exec(group.rest) ?? [];
  const parts = [group.rest.slice(indicator.length), ...below.map((line) => line.trim()).filter((line) => line !== "")];
  const joined = parts.filter((part) => part !== "").join(style === "|" ? "\n" : " ");
  const value = JSON.stringify(indicator === "" ? withoutQuotes(joined) : joined);
  repairs.push(describeRepair(group, indicator !== "", indent.length + group.key.length + 3, value));
  lines[group.start] = `${indent}${group.key}: ${value}`;
  for (let index = group.start + 1; index < group.end; index++) lines[index] = "";
}

function describeRepair(group: Group, inline: boolean, column: number, value: string): Repair {
  const name = quote(group.key);
  const line = group.start + 1;
  const cure = `Write: ${group.key}: ${quote(JSON.parse(value) as string)}`;
  if (inline) {
    const message = `The text of ${name} stands on the line of the "|" or ">" that should start it; it is read as plain text`;
    return { code: "yaml-block-inline", message, line, column, cure };
  }
  if (group.crowded) {
    const message = `A space is missing behind the colon of ${name}`;
    return { code: "yaml-space-missing", message, line, column: column - 1, cure };
  }
  if (group.stray !== undefined) {
    const message = `This line has no key and is not indented; it is read as part of ${name}`;
    return { code: "yaml-stray-line", message, line: group.stray + 1, column: 1, cure: "Indent the line" };
  }
  return unquoted(`the text of ${name}`, group.start, column, cure);
}

function unquoted(what: string, index: number, column: number, cure: string): Repair {
  const message = `YAML cannot read ${what}: it needs quotes, because of a colon or another sign; it is read as plain text`;
  return { code: "yaml-unquoted", message, line: index + 1, column, cure };
}

/** Takes off quotes around the whole text that did not work, because there are more of them inside. */
function withoutQuotes(text: string): string {
  const [first = ""] = text;
  if (text.length < 2 || !`"'`.includes(first) || !text.endsWith(first)) return text;
  const inner = text.slice(1, -1);
  return first === '"' ? inner.replaceAll('\\"', '"') : inner.replaceAll("''", "'");
}
