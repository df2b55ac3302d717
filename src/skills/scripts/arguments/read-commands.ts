import { around, type Code } from "../code/code.ts";
import { dispatch, lastName, textOf, walk, type CodeNode } from "../code/node.ts";
import type { PositionUse } from "./read-positions.ts";

/** A place where the code turns to a sub-command. */
export interface CommandMark {
  /** The name, then other names for the same. */
  readonly names: readonly string[];
  readonly start: number;
  /** What belongs to the command. */
  readonly body: ReadonlySet<CodeNode>;
}

const notWords = /^(?:help|version|string|number|object|function|undefined|boolean|utf-?8)$/u;
const commandText = /^[A-Za-z][\w:-]{0,40}$/u;

/** Finds the words that code compares its first argument with. */
export function findCommands(code: Code, uses: readonly PositionUse[]): readonly CommandMark[] {
  const firsts = uses.filter(({ place }) => place === 0);
  const names = new Set(firsts.map(({ fact }) => fact.name));
  const nodes = new Set(firsts.map(({ node }) => node));
  /** The first argument, or a variable that holds it, also with `.toLowerCase()` after it. */
  const isFirst = (node: CodeNode | undefined): boolean => {
    if (node === undefined) return false;
    if (node.kind === "call" && node.callee.kind === "member" && !nodes.has(node)) return isFirst(node.callee.object);
    return nodes.has(node) || (node.kind === "name" && names.has(node.name));
  };
  const found = code.all.flatMap((node) => marksAt(code, node, isFirst));
  return joinSame(found.toSorted((left, right) => left.start - right.start));
}

type IsFirst = (node: CodeNode | undefined) => boolean;

function marksAt(code: Code, node: CodeNode, isFirst: IsFirst): readonly CommandMark[] {
  const marks = dispatch<readonly CommandMark[]>(node, {
    operation: (operation) => marksOfOperation(code, operation, isFirst),
    switch: ({ subject, cases }) => (isFirst(subject) ? cases.flatMap(markOfCase) : []),
    index: ({ index, object }) => (isFirst(index) ? marksOfTable(code, object) : []),
    call: ({ callee, args, start }) => {
      if (callee.kind !== "member" || !isFirst(args[0])) return [];
      if (callee.property === "includes") return toMark(textsIn(callee.object), start, ifAround(code, node));
      return /^(?:get|has)$/u.test(callee.property) ? marksOfTable(code, callee.object) : [];
    },
  });
  return marks ?? [];
}

function marksOfOperation(
  code: Code,
  node: CodeNode & { kind: "operation" },
  isFirst: IsFirst,
): readonly CommandMark[] {
  const [left, right] = node.operands;
  if (/^===?$/u.test(node.operator)) {
    const other = isFirst(left) ? right : isFirst(right) ? left : undefined;
    return toMark([textOf(other)], node.start, ifAround(code, node));
  }
  if (node.operator !== "in" || !isFirst(left) || right === undefined) return [];
  const words = textsIn(right);
  return words.length > 0 ? toMark(words, node.start, ifAround(code, node)) : marksOfTable(code, right);
}

function markOfCase(node: CodeNode): readonly CommandMark[] {
  return node.kind === "case" ? toMark(node.values.map(textOf), node.start, node.body) : [];
}

function textsIn(list: CodeNode): readonly (string | undefined)[] {
  return list.kind === "list" ? list.items.map(textOf) : [];
}

function toMark(
  words: readonly (string | undefined)[],
  start: number,
  body: readonly CodeNode[],
): readonly CommandMark[] {
  const names = words.filter(
    (word) => word !== undefined && commandText.test(word) && !notWords.test(word),
  ) as string[];
  return names.length === 0 ? [] : [{ names, start, body: new Set(walk(body)) }];
}

/** What runs if the comparison holds. */
function ifAround(code: Code, node: CodeNode): readonly CodeNode[] {
  for (const outer of around(code, node)) {
    if (outer.kind === "if") return outer.then;
    if (outer.kind !== "operation") return [];
  }
  return [];
}

/** The keys of a table of functions are the commands. */
function marksOfTable(code: Code, table: CodeNode): readonly CommandMark[] {
  const assign = code.assignsTo(lastName(table) ?? "").find(({ target }) => target.kind === "name");
  if (assign?.value.kind !== "object") return [];
  return assign.value.entries.flatMap((entry) =>
    entry.kind === "entry" ? toMark([entry.key], Number.MAX_SAFE_INTEGER, []) : [],
  );
}

/** Names that stand in one condition are one command; a command is only turned to once. */
function joinSame(marks: readonly CommandMark[]): readonly CommandMark[] {
  const joined: CommandMark[] = [];
  const seen = new Set<string>();
  for (const mark of marks) {
    if (mark.names.every((name) => seen.has(name))) continue;
    for (const name of mark.names) seen.add(name);
    const last = joined.at(-1);
    const [first] = mark.body;
    if (last !== undefined && first !== undefined && last.body.has(first))
      joined[joined.length - 1] = { ...last, names: [...last.names, ...mark.names] };
    else joined.push(mark);
  }
  return joined;
}
