import type { JsonValue } from "../../core/json.ts";

/** A value in a text of JSON, with where it stands. */
type Node = { readonly start: number; readonly end: number } & (
  | { readonly kind: "object"; readonly members: readonly Member[] }
  | { readonly kind: "array"; readonly items: readonly Item[] }
  | { readonly kind: "scalar"; readonly value: JsonValue }
);

/** A value of an array or an object, and the comma behind it. */
interface Item {
  readonly start: number;
  readonly node: Node;
  readonly comma: number | undefined;
}

interface Member extends Item {
  readonly key: string;
}

/** Which extensions of JSON a text may have. */
export interface JsonDialect {
  /** Line and block comments, and a comma behind the last value. */
  readonly hasComments: boolean;
}

const deepest = 200;

/**
 * Reads JSON, with comments if the dialect has them.
 *
 * @throws {SyntaxError} that says what is wrong in which line.
 */
export function parseJsonc(text: string, dialect: JsonDialect): JsonValue {
  return toValue(parse(text, dialect));
}

/**
 * Puts a value at a path of keys and leaves every other character as it is: comments, order, indentation. Missing objects on the way are
 * made. A path that ends with `append` adds to an array.
 *
 * @throws {SyntaxError} as {@link parseJsonc}, and if something on the path is not an object.
 */
export function setJsonc(text: string, path: readonly string[], value: JsonValue, dialect: JsonDialect): string {
  let node = parse(text, dialect);
  for (const [depth, key] of path.entries()) {
    const rest = path.slice(depth + 1).reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), value);
    if (node.kind === "array" && key === append) return insert(text, node, node.items, { value, depth });
    if (node.kind !== "object")
      throw new SyntaxError(`${path.slice(0, depth).join(".") || "the file"} is not an object`);
    const member = node.members.find((one) => one.key === key);
    if (member === undefined) return insert(text, node, node.members, { key, value: toArray(rest), depth });
    node = member.node;
  }
  const replaced = render(value, text, path.length - 1);
  return text.slice(0, node.start) + replaced + text.slice(node.end);
}

/** As the last key of a path: a new value behind those of an array. */
export const append = "[]";

/** `{ "[]": value }` means an array with this value. */
function toArray(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const [[key, inner] = [], ...others] = Object.entries(value);
  return key === append && others.length === 0 ? [inner as JsonValue] : value;
}

/**
 * Takes a key out, and leaves every other character as it is. A path that is not there changes nothing.
 *
 * @throws {SyntaxError} as {@link parseJsonc}.
 */
export function removeJsonc(text: string, path: readonly string[], dialect: JsonDialect): string {
  let node = parse(text, dialect);
  for (const [depth, key] of path.entries()) {
    if (node.kind !== "object") return text;
    const at = node.members.findIndex((one) => one.key === key);
    const member = node.members[at];
    if (member === undefined) return text;
    if (depth === path.length - 1) return cut(text, member, node.members[at - 1]);
    node = member.node;
  }
  return text;
}

function cut(text: string, member: Member, before: Member | undefined): string {
  const isLast = member.comma === undefined;
  let start = member.start;
  while (/[ \t]/u.test(text[start - 1] ?? "")) start -= 1;
  let end = (member.comma ?? member.node.end - 1) + 1;
  const rest = /^[ \t]*(?:\r?\n|$)/u.exec(text.slice(end));
  const isLineStart = start === 0 || text[start - 1] === "\n";
  if (rest !== null && isLineStart) end += rest[0].length;
  else if (!isLineStart) start = member.start;
  const kept = text.slice(0, start) + text.slice(end);
  // What is the last now has no comma behind it.
  if (!isLast || before?.comma === undefined) return kept;
  return kept.slice(0, before.comma) + kept.slice(before.comma + 1);
}

interface Insertion {
  readonly key?: string;
  readonly value: JsonValue;
  readonly depth: number;
}

function insert(text: string, node: Node, items: readonly Item[], { key, value, depth }: Insertion): string {
  const { newline, unit } = findStyle(text);
  const last = items.at(-1);
  const indent = last === undefined ? unit.repeat(depth + 1) : findIndent(text, last.start, unit.repeat(depth + 1));
  const outer = indent.slice(0, Math.max(0, indent.length - unit.length));
  const shown = JSON.stringify(value, null, unit).replaceAll("\n", `${newline}${indent}`);
  const member = `${newline}${indent}${key === undefined ? "" : `${JSON.stringify(key)}: `}${shown}`;
  const close = node.end - 1;
  let end = close;
  while (/\s/u.test(text[end - 1] ?? "")) end -= 1;
  const tail = text.slice(end, close).includes("\n") ? text.slice(end, close) : `${newline}${outer}`;
  const head = text.slice(0, end);
  const separated =
    last === undefined || last.comma !== undefined
      ? head
      : `${head.slice(0, last.node.end)},${head.slice(last.node.end)}`;
  return separated + member + tail + text.slice(close);
}

/** A value as it stands at a depth. */
function render(value: JsonValue, text: string, depth: number): string {
  const { newline, unit } = findStyle(text);
  return JSON.stringify(value, null, unit).replaceAll("\n", `${newline}${unit.repeat(depth + 1)}`);
}

function findStyle(text: string): { readonly newline: string; readonly unit: string } {
  const unit = /\n([ \t]+)["'/[{]/u.exec(text)?.[1] ?? "  ";
  return { newline: text.includes("\r\n") ? "\r\n" : "\n", unit };
}

function findIndent(text: string, start: number, usual: string): string {
  return /(?:^|\n)([ \t]*)$/u.exec(text.slice(0, start))?.[1] ?? usual;
}

function toValue(node: Node): JsonValue {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "array") return node.items.map((item) => toValue(item.node));
  return Object.fromEntries(node.members.map(({ key, node: inner }) => [key, toValue(inner)]));
}

function parse(text: string, dialect: JsonDialect): Node {
  const scanner = createScanner(text, dialect);
  const node = readNode(scanner, 0);
  scanner.skip();
  if (scanner.next !== undefined) scanner.fail("the end of the file");
  return node;
}

/** A place in a text of JSON that moves on. */
interface Scanner {
  at: number;
  readonly hasComments: boolean;
  /** The character at this place; nothing at the end. */
  readonly next: string | undefined;
  /** Moves over blanks and comments. */
  skip(): void;
  readScalar(): JsonValue;
  /** @throws {SyntaxError} always */
  fail(expected: string): never;
}

function createScanner(text: string, { hasComments }: JsonDialect): Scanner {
  const gap = hasComments ? /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/uy : /\s*/uy;
  const word = /"(?:[^"\\\u0000-\u001F]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/uy;
  return {
    at: text.startsWith("\uFEFF") ? 1 : 0,
    hasComments,
    get next() {
      return text[this.at];
    },
    skip() {
      gap.lastIndex = this.at;
      this.at += gap.exec(text)?.[0].length ?? 0;
    },
    readScalar() {
      word.lastIndex = this.at;
      const found = word.exec(text)?.[0] ?? this.fail("a value");
      let value: JsonValue;
      try {
        value = JSON.parse(found) as JsonValue;
      } catch {
        return this.fail("a value");
      }
      this.at += found.length;
      return value;
    },
    fail(expected) {
      const line = text.slice(0, this.at).split("\n").length;
      const found = this.next === undefined ? "the end of the file" : JSON.stringify(this.next);
      throw new SyntaxError(`in line ${line}: expected ${expected}, found ${found}`);
    },
  };
}

function readNode(scanner: Scanner, depth: number): Node {
  scanner.skip();
  if (depth > deepest) scanner.fail(`at most ${deepest} levels`);
  const start = scanner.at;
  if (scanner.next === "[") {
    const items = readItems(scanner, "]", () => ({ start: scanner.at, node: readNode(scanner, depth + 1) }));
    return { kind: "array", items, start, end: scanner.at };
  }
  if (scanner.next !== "{") return { kind: "scalar", value: scanner.readScalar(), start, end: scanner.at };
  const members = readItems(scanner, "}", () => readMember(scanner, depth + 1));
  const seen = new Set<string>();
  const twice = members.find(({ key }) => seen.size === seen.add(key).size);
  if (twice === undefined) return { kind: "object", members, start, end: scanner.at };
  scanner.at = twice.start;
  return scanner.fail("each key once");
}

function readItems<One extends object>(
  scanner: Scanner,
  close: string,
  readOne: () => One,
): (One & Pick<Item, "comma">)[] {
  const items: (One & Pick<Item, "comma">)[] = [];
  scanner.at += 1;
  for (scanner.skip(); scanner.next !== close; scanner.skip()) {
    if (items.length > 0 && items.at(-1)?.comma === undefined) scanner.fail(`"," or ${JSON.stringify(close)}`);
    const one = readOne();
    scanner.skip();
    const comma = scanner.next === "," ? scanner.at : undefined;
    if (comma !== undefined) scanner.at += 1;
    items.push({ ...one, comma });
  }
  if (!scanner.hasComments && items.at(-1)?.comma !== undefined) scanner.fail("a value");
  scanner.at += 1;
  return items;
}

function readMember(scanner: Scanner, depth: number): Omit<Member, "comma"> {
  const start = scanner.at;
  const key = scanner.next === '"' ? (scanner.readScalar() as string) : scanner.fail("a key in double quotes");
  scanner.skip();
  if (scanner.next !== ":") scanner.fail('":"');
  scanner.at += 1;
  return { key, start, node: readNode(scanner, depth) };
}
