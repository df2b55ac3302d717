import { around, type Code } from "../code/code.ts";
import { calledName, type CodeNode, dispatch, lastName, textOf, walk } from "../code/node.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { type ArgumentLists, type Dialect, findLists, type ListUse } from "./argument-lists.ts";
import { type ArgvFacts, type CommandFact, type FlagFact, noFacts, type PositionFact } from "./argv-facts.ts";
import { findFlags } from "./read-flags.ts";
import { findLoopPlaces, findOpenFlags, type LoopPlaces } from "./read-loop.ts";
import {
  demandedNames,
  destructuredAt,
  findPositions,
  type PositionUse,
  readCounts,
  spreadFunction,
} from "./read-positions.ts";

type Rest = NonNullable<ArgvFacts["rest"]>;

/** Reads what code in JavaScript, TypeScript or Python does with its arguments. */
export function readCode(code: Code, dialect: Dialect): ArgvFacts {
  const lists = findLists(code, dialect);
  if (lists.uses.length === 0) return noFacts;
  const all = findPositions(code, lists, dialect);
  const placed = findPlacedFlags(code, all);
  const uses = withoutSwitches(code, withoutPlaced(all, placed));
  const demanded = demandedNames(code);
  const counts = readCounts(code, lists);
  const marks = findCommands(code, uses);
  const flags = findFlags(code).map((flag) => withPlace(withDemand(flag, demanded), placed));
  const read = toPositions(outside(uses, marks), demanded, counts.optionalFrom);
  const looped = flags.length > 0 && read.size === 0 ? findLoopPlaces(code) : undefined;
  const rest = findRest(code, lists);
  return withoutUndefined<ArgvFacts>({
    readsArgv: true,
    positions: looped === undefined ? read : withDemands(looped.positions, demanded),
    rest: looped === undefined ? rest : (looped.rest ?? restOf(looped, rest)),
    minimum: counts.minimum === undefined ? undefined : Math.max(0, counts.minimum - 2 * placed.length),
    flags: [...flags, ...findOpenFlags(code, flags).map((flag) => withDemand(flag, demanded))],
    commands: marks.map((mark) => toCommand(code, mark, { uses, lists, demanded })),
    flagsLast: uses.some((use) => mustComeFirst(use, flags)) ? true : undefined,
  });
}

/** Whether flags in front would be taken for the argument at a place; where words with dashes are skipped, their values would be. */
function mustComeFirst({ filtered }: PositionUse, flags: readonly FlagFact[]): boolean {
  return flags.some(({ takesValue }) => !filtered || takesValue);
}

/** A flag that must stand at a place of its own, with its value after it: `if sys.argv[2] != "--path"`, then `sys.argv[3]`. */
interface PlacedFlag {
  readonly flag: string;
  readonly place: number;
}

function findPlacedFlags(code: Code, uses: readonly PositionUse[]): readonly PlacedFlag[] {
  return uses.flatMap(({ node, place }): PlacedFlag[] => {
    const outer = code.parentOf(node);
    if (outer?.kind !== "operation" || !/^!==?$/u.test(outer.operator)) return [];
    const flag = outer.operands.map((operand) => textOf(operand) ?? "").find((text) => /^--?[A-Za-z]/u.test(text));
    const hasValue = uses.some((use) => use.place === place + 1);
    return flag === undefined || !hasValue ? [] : [{ flag, place }];
  });
}

/** The places that are left, counted without those of flags and their values. */
function withoutPlaced(uses: readonly PositionUse[], placed: readonly PlacedFlag[]): readonly PositionUse[] {
  const taken = new Set(placed.flatMap(({ place }) => [place, place + 1]));
  const before = (place: number): number => [...taken].filter((one) => one < place).length;
  return uses.filter(({ place }) => !taken.has(place)).map((use) => ({ ...use, place: use.place - before(use.place) }));
}

/**
 * The places that are left without those that are only compared with a flag: `argv[2] === "--profile"`. Where the next place is used,
 * the flag has a value.
 */
function withoutSwitches(code: Code, uses: readonly PositionUse[]): readonly PositionUse[] {
  const byPlace = Map.groupBy(uses, ({ place }) => place);
  const isSwitch = (place: number, found: readonly PositionUse[]): boolean => {
    const others = found.filter(({ node }) => !isComparedWithFlag(code, node));
    const isCompared = others.length < found.length && others.every(({ node }) => isTested(code, node));
    return isCompared && !byPlace.has(place + 1);
  };
  const switches = new Set([...byPlace].flatMap(([place, found]) => (isSwitch(place, found) ? [place] : [])));
  return uses.filter(({ place }) => !switches.has(place));
}

function isComparedWithFlag(code: Code, node: CodeNode): boolean {
  const outer = code.parentOf(node);
  if (outer?.kind !== "operation" || !/^[!=]==?$/u.test(outer.operator)) return false;
  return outer.operands.some((operand) => /^--?[A-Za-z]/u.test(textOf(operand) ?? ""));
}

/** It is only asked whether it is there: `if (argv[2])`, `argv[2] && …` */
function isTested(code: Code, node: CodeNode): boolean {
  const outer = code.parentOf(node);
  if (outer?.kind === "if") return outer.test === node;
  return outer?.kind === "operation" && /^(?:&&|and|!|not)$/u.test(outer.operator);
}

function withPlace(fact: FlagFact, placed: readonly PlacedFlag[]): FlagFact {
  return placed.some(({ flag }) => fact.flags.includes(flag)) ? { ...fact, takesValue: true, required: true } : fact;
}

/** A flag that the code does not go on without: `if (!options.title) { …; process.exit(1) }` */
function withDemand(flag: FlagFact, demanded: ReadonlySet<string>): FlagFact {
  const name = flag.flags[0]?.replace(/^-+/u, "") ?? "";
  const camel = name.replaceAll(/[-_](\w)/gu, (_, letter: string) => letter.toUpperCase());
  const isNeeded = [name, camel, name.replaceAll("-", "_")].some((spelling) => demanded.has(spelling));
  return isNeeded && flag.takesValue && flag.default === undefined ? { ...flag, required: true } : flag;
}

function withDemands(
  positions: ReadonlyMap<number, PositionFact>,
  demanded: ReadonlySet<string>,
): ReadonlyMap<number, PositionFact> {
  return new Map(
    [...positions].map(([place, fact]) => [place, { ...fact, required: demanded.has(fact.name ?? "") }] as const),
  );
}

/** The loop itself goes over all arguments; what it keeps of them is what counts. */
function restOf({ positions }: LoopPlaces, rest: Rest | undefined): Rest | undefined {
  return positions.size > 0 ? undefined : rest;
}

function toPositions(
  uses: readonly PositionUse[],
  demanded: ReadonlySet<string>,
  optionalFrom = Number.POSITIVE_INFINITY,
): Map<number, PositionFact> {
  const positions = new Map<number, PositionFact>();
  for (const { place, fact } of uses) {
    const before = positions.get(place);
    positions.set(place, before === undefined ? fact : joinFacts(before, fact));
  }
  for (const [place, fact] of positions) {
    const isNeeded = fact.required === undefined && demanded.has(fact.name ?? "");
    const required = place >= optionalFrom ? false : isNeeded ? true : fact.required;
    positions.set(place, withoutUndefined<PositionFact>({ ...fact, required }));
  }
  return positions;
}

function joinFacts(left: PositionFact, right: PositionFact): PositionFact {
  const required = left.required === false || right.required === false ? false : (left.required ?? right.required);
  return withoutUndefined<PositionFact>({ ...right, ...left, name: left.name ?? right.name, required });
}

/** The uses that belong to no command. */
function outside(uses: readonly PositionUse[], marks: readonly CommandMark[]): readonly PositionUse[] {
  const first = Math.min(...marks.map(({ start }) => start));
  return marks.length < 2 ? uses : uses.filter(({ node, place }) => place === 0 || node.start < first);
}

interface CommandSources {
  readonly uses: readonly PositionUse[];
  readonly lists: ArgumentLists;
  readonly demanded: ReadonlySet<string>;
}

/** What a command takes after its name. */
function toCommand(code: Code, { names, body }: CommandMark, { uses, lists, demanded }: CommandSources): CommandFact {
  const own = uses.filter(({ node, place }) => body.has(node) && place > 0);
  const rest = lists.uses
    .filter(({ node }) => body.has(node))
    .map((use) => restAt(code, use))
    .find((found) => found !== undefined && found.from > 0);
  const positions = toPositions(
    own.map((use) => ({ ...use, place: use.place - 1 })),
    demanded,
  );
  return {
    names,
    facts: { ...noFacts, positions, ...(rest !== undefined && { rest: { ...rest, from: rest.from - 1 } }) },
  };
}

/** Where the code takes all arguments at once. */
function findRest(code: Code, lists: ArgumentLists): Rest | undefined {
  for (const use of lists.uses) {
    const rest = destructuredAt(code, use).rest ?? restAt(code, use);
    if (rest !== undefined) return rest;
  }
  return undefined;
}

const consumers = new Set(["join", "map", "forEach", "entries", "values", "filter"]);

function restAt(code: Code, { node, skip }: ListUse): Rest | undefined {
  const from = Math.max(0, -skip);
  const outer = code.parentOf(node);
  if (outer === undefined) return undefined;
  return dispatch<Rest | undefined>(outer, {
    member: ({ property }) => (consumers.has(property) ? { from } : undefined),
    call: (call) => (calledName(call) === "join" && call.args[0] === node ? { from } : undefined),
    // Spread over the parameters of a function of the script, they have names.
    spread: (spread) => (isArgument(code, spread) && !spreadFunction(code, node) ? { from } : undefined),
    loop: ({ over, variable }) => {
      const name = variable?.kind === "name" ? variable.name : undefined;
      return over === node ? withoutUndefined<Rest>({ from, name: isUsual(name) ? undefined : name }) : undefined;
    },
  });
}

function isArgument(code: Code, spread: CodeNode): boolean {
  const [outer] = around(code, spread);
  return outer?.kind === "call" || outer?.kind === "list";
}

function isUsual(name: string | undefined): boolean {
  return name === undefined || /^(?:arg|a|i|x|item|param|token|word)$/u.test(name);
}

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
function findCommands(code: Code, uses: readonly PositionUse[]): readonly CommandMark[] {
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
