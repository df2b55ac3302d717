import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { Node, Parser } from "web-tree-sitter";

/** The grammars that are shipped. `typescript` reads JavaScript as well; `tsx` reads files with JSX in them. */
export type Grammar = "typescript" | "tsx" | "bash";

/** A node of a syntax tree, as plain data. */
export interface SyntaxNode {
  readonly type: string;
  /** False for punctuation and keywords. */
  readonly named: boolean;
  /** The role it has in its parent: `name`, `body`. */
  readonly field: string | undefined;
  readonly start: number;
  readonly end: number;
  /** Counts from 1. */
  readonly line: number;
  readonly children: SyntaxNode[];
}

/** A parsed text. */
export interface SyntaxTree {
  readonly root: SyntaxNode;
  /** Parts of the text are not of the language: what they say is missing from the tree. */
  readonly hasErrors: boolean;
}

/** Parses a text. Throws {@link ParseLimitReached} for a text that is too large, too deep or too slow to parse. */
export type Parse = (text: string, limits?: ParseLimits) => SyntaxTree;

/** How much work one text may be. */
export interface ParseLimits {
  /** @default {@link mostNodes} */
  readonly maxNodes?: number;
  /** Of the processor, not of the clock: a busy machine must not change what is found. @default 1000 */
  readonly maxCpuMs?: number;
}

/** An ordinary script of 1 MiB has about 350,000 nodes. */
const mostNodes = 500_000;

/** Code that walks a tree calls itself for each level. */
const deepestNodes = 600;

/** Parsing was ended because the text is too much work. */
export class ParseLimitReached extends Error {}

/** What text that is not of the language can make a parser take, when it tries very many readings of it at once. */
const mostBytes = 96 * 1024 * 1024;
const startBytes = 32 * 1024 * 1024;
const pageBytes = 64 * 1024;

/** A parse that runs out of memory loses what it had; after so many, nothing more is parsed in this process. */
const mostLosses = 8;

/** The parser of a grammar, or the reason why it cannot be loaded. */
export type LoadedParser = { readonly parse: Parse } | { readonly missing: string };

const loaded = new Map<Grammar, Promise<LoadedParser>>();

/** Loads the parser of a grammar, once. Never rejects. */
export function loadParser(grammar: Grammar): Promise<LoadedParser> {
  const parser = loaded.get(grammar) ?? startParser(grammar).catch((cause: unknown) => ({ missing: String(cause) }));
  loaded.set(grammar, parser);
  return parser;
}

async function startParser(grammar: Grammar): Promise<LoadedParser> {
  const { Language, Parser } = await import("web-tree-sitter");
  memory ??= createMemory();
  await Parser.init({
    wasmBinary: readWasm("web-tree-sitter", "web-tree-sitter.wasm"),
    wasmMemory: memory.own,
    printErr: () => {},
  });
  const grammarPackage = grammar === "bash" ? "tree-sitter-bash" : "tree-sitter-typescript";
  const language = await Language.load(readWasm(grammarPackage, `tree-sitter-${grammar}.wasm`));
  const create = (): Parser => new Parser().setLanguage(language);
  let parser = create();
  return {
    parse(text, limits) {
      if (isExhausted()) throw new ParseLimitReached("too many scripts before it took too much memory");
      try {
        return parseWith(parser, text, limits);
      } catch (cause) {
        if (cause instanceof ParseLimitReached) throw cause;
        // What it was doing is lost, and so is the memory for it.
        memory?.lose();
        try {
          if (!isExhausted()) parser = create();
        } catch {
          memory?.giveUp();
        }
        throw new ParseLimitReached("its text takes too much memory to read");
      }
    },
  };
}

/** The part of WebAssembly that is used here; Node's types do not have it. */
interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
const { WebAssembly: webAssembly } = globalThis as unknown as {
  readonly WebAssembly: { readonly Memory: new (size: { initial: number; maximum: number }) => WasmMemory };
};

/** The memory that all parsers share. What is freed in it is used again; it never shrinks. */
interface ParserMemory {
  readonly own: WasmMemory;
  losses: number;
  /** Allows as much again as a parse that failed has lost. */
  lose(): void;
  /** Nothing more can be parsed in this process. */
  giveUp(): void;
}

let memory: ParserMemory | undefined;

function isExhausted(): boolean {
  return memory !== undefined && memory.losses > mostLosses;
}

function createMemory(): ParserMemory {
  const own = new webAssembly.Memory({ initial: startBytes / pageBytes, maximum: 2 ** 30 / pageBytes });
  const grow = own.grow.bind(own);
  const shared: ParserMemory = {
    own,
    losses: 0,
    lose: () => void (shared.losses += 1),
    giveUp: () => void (shared.losses = mostLosses + 1),
  };
  own.grow = (pages) => {
    const largest = startBytes + (shared.losses + 1) * mostBytes;
    if (own.buffer.byteLength + pages * pageBytes > largest)
      throw new RangeError("The parsers may not have more memory");
    return grow(pages);
  };
  return shared;
}

/** In the built package the file lies beside this one. */
function readWasm(packageName: string, file: string): Uint8Array {
  const beside = new URL(file, import.meta.url);
  return readFileSync(fileURLToPath(existsSync(beside) ? beside : import.meta.resolve(`${packageName}/${file}`)));
}

function parseWith(
  parser: Parser,
  text: string,
  { maxNodes = mostNodes, maxCpuMs = 1000 }: ParseLimits = {},
): SyntaxTree {
  const started = performance.now();
  let counted: NodeJS.CpuUsage | undefined;
  // Asking for the CPU time costs more than most parses do, so it is counted from half of the limit on.
  const isTooSlow = (): boolean => {
    if (performance.now() - started < maxCpuMs / 2) return false;
    counted ??= process.cpuUsage();
    const { user, system } = process.cpuUsage(counted);
    return (user + system) / 1000 > maxCpuMs / 2;
  };
  const tree = parser.parse(text, null, { progressCallback: isTooSlow });
  if (tree === null) {
    parser.reset();
    throw new ParseLimitReached("its text takes too long to read");
  }
  try {
    return { root: copyTree(tree.rootNode, text, maxNodes), hasErrors: tree.rootNode.hasError };
  } finally {
    tree.delete();
  }
}

/** Copies a tree out of the parser's memory, without recursion. */
function copyTree(rootNode: Node, text: string, maxNodes: number): SyntaxNode {
  const cursor = rootNode.walk();
  const lineOf = createLineCounter(text);
  const toNode = (): SyntaxNode => {
    const start = cursor.startIndex;
    return {
      type: cursor.nodeType,
      named: cursor.nodeIsNamed,
      field: cursor.currentFieldName ?? undefined,
      start,
      end: cursor.endIndex,
      line: lineOf(start),
      children: [],
    };
  };
  const root = toNode();
  const ancestors = [root];
  let count = 1;
  try {
    for (;;) {
      if (cursor.gotoFirstChild()) {
        if (ancestors.length > deepestNodes) throw new ParseLimitReached("it is nested too deeply");
      } else {
        while (!cursor.gotoNextSibling()) {
          ancestors.pop();
          if (!cursor.gotoParent() || ancestors.length === 0) return root;
        }
        ancestors.pop();
      }
      if ((count += 1) > maxNodes) throw new ParseLimitReached("its text takes too long to read");
      const node = toNode();
      ancestors.at(-1)?.children.push(node);
      ancestors.push(node);
    }
  } finally {
    cursor.delete();
  }
}

/** Counts lines up to a place. No place may be before the one that was asked for last: nodes come in the order of the text. */
function createLineCounter(text: string): (place: number) => number {
  let line = 1;
  let next = text.indexOf("\n");
  return (place) => {
    while (next !== -1 && next < place) {
      line += 1;
      next = text.indexOf("\n", next + 1);
    }
    return line;
  };
}

/** The first child that has a role. */
export function childOf(node: SyntaxNode, field: string): SyntaxNode | undefined {
  return node.children.find((child) => child.field === field);
}
