import type { CodeNode } from "../code/node.ts";
import type { Piece } from "../code/pieces.ts";
import type { SyntaxNode } from "../syntax/parse.ts";

/** Converts nodes of the syntax tree that tree-sitter makes into `CodeNode`s, the form that all languages share. */
export interface Converter {
  textOf(node: SyntaxNode): string;
  /** Converts all children of a node. */
  all(node: SyntaxNode | undefined): CodeNode[];
  one(node: SyntaxNode | undefined): CodeNode;
  field(node: SyntaxNode, name: string): CodeNode;
  /** Converts the statements of a block, or the one statement that stands in place of a block. */
  body(node: SyntaxNode | undefined): CodeNode[];
  /** The value of a string, with its escapes undone. */
  string(node: SyntaxNode): string;
}

/** Converts one kind of syntax node. */
export type Convert = (converter: Converter, node: SyntaxNode) => CodeNode;

/** The types of nodes that are comments in the grammar. */
export const commentTypes = new Set(["comment", "hash_bang_line", "html_comment"]);

/** The comments of a script. */
export function commentsOf(source: string, root: SyntaxNode): readonly Piece[] {
  const found: Piece[] = [];
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const child of node.children) pending.push(child);
    if (!commentTypes.has(node.type)) continue;
    const raw = source.slice(node.start, node.end);
    const text = raw.startsWith("/*")
      ? raw.slice(2, raw.endsWith("*/") ? -2 : undefined)
      : raw.replace(/^\/\/|^#/u, "");
    found.push({ kind: "comment", text, start: node.start, end: node.end, line: node.line });
  }
  return found;
}

/** The children without punctuation and keywords. */
export function meaningful(node: SyntaxNode | undefined): readonly SyntaxNode[] {
  return node?.children.filter(({ named }) => named) ?? [];
}

/** The same without comments, which may stand between arguments. */
export function operandsOf(node: SyntaxNode | undefined): readonly SyntaxNode[] {
  return meaningful(node).filter(({ type }) => type !== "comment");
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "", b: "", "0": "", "\n": "" };

/** The text that an escape sequence stands for. Carriage returns, backspaces and NUL are left out. */
export function unescape(sequence: string): string {
  const rest = sequence.slice(1);
  const code = /^(?:u\{?|x)([0-9A-Fa-f]{2,6})\}?$/u.exec(rest)?.[1];
  if (code === undefined) return escapes[rest] ?? rest;
  const point = Number.parseInt(code, 16);
  return point <= 0x10_ff_ff ? String.fromCodePoint(point) : "";
}
