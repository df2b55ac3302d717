import type { Field, FieldValue, ListValue, MapValue, ScalarValue } from "./front-matter.ts";

/**
 * Parses the YAML that nearly every skill has, much faster than a whole parser: `key: value` lines with plain or quoted texts,
 * one level of lists and maps, blocks of text. Answers nothing for everything else, right or wrong: that is for `parseYaml`.
 *
 * Contract: what it answers is exactly what the whole parser would; a test compares the two on random blocks.
 */
export function parsePlainYaml(block: string): readonly Field[] | undefined {
  if (block.includes("\t")) return undefined;
  const lines = toLines(block);
  const fields = new Map<string, Field>();
  for (let index = 0; index < lines.length;) {
    const line = lines[index];
    if (line === undefined || isBlank(line)) {
      index++;
      continue;
    }
    const head = line.indent === 0 ? parseHead(line) : undefined;
    if (head === undefined || fields.has(head.key)) return undefined;
    const end = findBlockEnd(lines, index + 1, head.value === "");
    const value = toFieldValue(head, lines.slice(index + 1, end));
    if (value === undefined) return undefined;
    fields.set(head.key, { key: head.key, offset: line.offset, value });
    index = end;
  }
  return fields.size === 0 ? undefined : [...fields.values()];
}

interface Line {
  /** Without indentation and without spaces at the end. */
  readonly text: string;
  /** With the spaces at the end. */
  readonly whole: string;
  readonly indent: number;
  /** Of the text. */
  readonly offset: number;
}

function toLines(block: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < block.length;) {
    const next = block.indexOf("\n", start);
    const end = next === -1 ? block.length : next;
    let offset = start;
    while (offset < end && block[offset] === " ") offset++;
    const whole = block.slice(offset, end);
    lines.push({ text: trimSpaces(whole), whole, indent: offset - start, offset });
    start = end + 1;
  }
  return lines;
}

function trimSpaces(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === " ") end--;
  return end === text.length ? text : text.slice(0, end);
}

function isBlank({ text }: Line): boolean {
  return text === "" || text.startsWith("#");
}

interface Head {
  readonly key: string;
  readonly value: string;
  readonly offset: number;
}

const keyForm = /^([A-Za-z_][A-Za-z0-9_-]{0,63}):(?: +|$)/u;
const notPlainKeys = new Set(["__proto__", "null", "Null", "NULL", "true", "True", "TRUE", "false", "False", "FALSE"]);

function parseHead({ text, offset }: Line): Head | undefined {
  const [whole, key] = keyForm.exec(text) ?? [];
  if (whole === undefined || key === undefined || notPlainKeys.has(key)) return undefined;
  return { key, value: text.slice(whole.length), offset: offset + whole.length };
}

/** The lines that belong to the key above: the indented ones, and the entries of a list that is not. */
function findBlockEnd(lines: readonly Line[], from: number, mayBeList: boolean): number {
  let end = from;
  for (let line = lines[end]; line !== undefined; line = lines[++end]) {
    const belongs = line.indent > 0 || line.text === "" || (mayBeList && line.text.startsWith("- "));
    if (!belongs) break;
  }
  return end;
}

function toFieldValue(head: Head, below: readonly Line[]): FieldValue | undefined {
  const lines = withoutBlankEnd(below);
  if (/^[|>]-?$/u.test(head.value)) {
    // A blank line may have more spaces than the text, and then they count.
    return below.some(({ text, indent }) => text === "" && indent > 0) ? undefined : toBlockText(head, lines);
  }
  if (head.value !== "") return lines.length === 0 ? toScalar(head.value, head.offset) : undefined;
  // The library puts an empty value somewhere behind the colon; nobody asks where.
  const offset = head.offset;
  if (lines.length === 0) return { kind: "scalar", value: null, text: "", offset, end: offset };
  return lines[0]?.text.startsWith("- ") === true ? toList(lines) : toMap(lines);
}

function withoutBlankEnd(lines: readonly Line[]): readonly Line[] {
  let end = lines.length;
  while (end > 0 && lines[end - 1]?.text === "") end--;
  return end === lines.length ? lines : lines.slice(0, end);
}

/** A block of text whose lines are all indented alike: no paragraphs, no lists in it. */
function toBlockText({ value: style, offset }: Head, lines: readonly Line[]): ScalarValue | undefined {
  const [first] = lines;
  const last = lines.at(-1);
  if (first === undefined || last === undefined || first.indent === 0) return undefined;
  if (lines.some(({ text, indent }) => text === "" || indent !== first.indent)) return undefined;
  const joined = lines.map(({ whole }) => whole).join(style.startsWith(">") ? " " : "\n");
  const text = style.endsWith("-") ? joined : `${joined}\n`;
  return { kind: "scalar", value: text, text, offset, end: last.offset + last.whole.length + 1 };
}

function toList(lines: readonly Line[]): ListValue | undefined {
  const items: ScalarValue[] = [];
  const [first] = lines;
  for (const { text, indent, offset } of lines) {
    const space = /^- +/u.exec(text)?.[0].length ?? 0;
    const item = space === 0 || indent !== first?.indent ? undefined : toScalar(text.slice(space), offset + space);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return { kind: "list", items, offset: first?.offset ?? 0, end: items.at(-1)?.end ?? 0 };
}

function toMap(lines: readonly Line[]): MapValue | undefined {
  const fields = new Map<string, Field>();
  const [first] = lines;
  for (const line of lines) {
    const head = line.indent === first?.indent && line.indent > 0 ? parseHead(line) : undefined;
    const value = head === undefined || head.value === "" ? undefined : toScalar(head.value, head.offset);
    if (head === undefined || value === undefined || fields.has(head.key)) return undefined;
    fields.set(head.key, { key: head.key, offset: line.offset, value });
  }
  const all = [...fields.values()];
  return { kind: "map", fields: all, offset: first?.offset ?? 0, end: all.at(-1)?.value.end ?? 0 };
}

const plainStart = /^[A-Za-z0-9_(./$+<=;^~\\\u00A1-\uFFFD]/u;
const simpleNumber = /^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?$/u;
const surelyText = /^[0-9]+(?:\.[0-9]+){2,}[A-Za-z0-9.-]*$/u;

function toScalar(text: string, offset: number): ScalarValue | undefined {
  const end = offset + text.length;
  const [first = ""] = text;
  if (first === '"' || first === "'") {
    const inner = text.slice(1, -1);
    const isSimple = text.length > 1 && text.endsWith(first) && !inner.includes(first) && !inner.includes("\\");
    return isSimple ? { kind: "scalar", value: inner, text: inner, offset, end } : undefined;
  }
  if (!plainStart.test(text) || text.includes(": ") || text.includes(" #") || text.endsWith(":")) return undefined;
  const value = toPlainValue(text);
  return value === undefined ? undefined : { kind: "scalar", value, text, offset, end };
}

/** What a plain text means in YAML 1.2; nothing when that takes more than a look. */
function toPlainValue(text: string): string | number | boolean | null | undefined {
  switch (text) {
    case "true":
    case "True":
    case "TRUE":
      return true;
    case "false":
    case "False":
    case "FALSE":
      return false;
    case "~":
    case "null":
    case "Null":
    case "NULL":
      return null;
    default:
      if (!/^[-+.]?[0-9]|^[-+]?\.(?:inf|nan)$/iu.test(text) || surelyText.test(text)) return text;
      return simpleNumber.test(text) ? Number(text) : undefined;
  }
}
