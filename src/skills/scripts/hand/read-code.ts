import type { Code } from "../code/code.ts";
import { isAnyToken, isToken, type Token } from "../code/token.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { noFacts, type ArgvFacts, type CommandFact, type FlagFact, type PositionFact } from "./argv-facts.ts";
import { findLists, type ListUse } from "./argument-lists.ts";
import { namedByCalls } from "./called-with.ts";
import { findCommands, type CommandMark } from "./code-commands.ts";
import { countAt, endsSoon, type CountFact } from "./code-counts.ts";
import { findFlags } from "./code-flags.ts";
import { findLoopPlaces, type LoopPlaces } from "./code-loop-places.ts";
import { findOpenFlags } from "./code-open-flags.ts";
import { destructuredAt, positionAt, type PositionUse } from "./code-positions.ts";
import type { Dialect } from "./dialects.ts";

/** Reads what code in a language like JavaScript, Python or Ruby says about its arguments. */
export function readCode(code: Code, dialect: Dialect): ArgvFacts {
  const lists = findLists(code, dialect);
  if (lists.length === 0) return noFacts;
  const { tokens } = code;
  const found = lists.flatMap((use) => readUse(tokens, use, dialect));
  const uses = namedByCalls(code, lists, [...found, ...shiftedUses(tokens, lists)]);
  const demanded = demandedNames(tokens);
  const counts = lists.map((use) => countAt(tokens, use)).filter((count) => count !== undefined);
  const marks = findCommands(code, firstArgument(tokens, uses, lists));
  const flags = findFlags(code).map((flag) => withDemand(flag, demanded));
  const read = toPositions(outside(uses, marks), demanded, counts);
  const looped = flags.length > 0 && read.size === 0 ? findLoopPlaces(tokens) : undefined;
  return withoutUndefined<ArgvFacts>({
    readsArgv: true,
    positions: looped === undefined ? read : withDemands(looped.positions, demanded),
    rest: looped === undefined ? findRest(code, lists) : (looped.rest ?? restOf(looped, findRest(code, lists))),
    minimum: minimumOf(counts),
    flags: [...flags, ...findOpenFlags(code, flags).map((flag) => withDemand(flag, demanded))],
    commands: toCommands(marks, uses, { demanded, rests: lists.flatMap((use) => restsAt(code, use)) }),
    flagsLast: uses.some(({ index }) => isPlainUse(lists, index)) && flags.length > 0 ? true : undefined,
  });
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
function restOf({ positions }: LoopPlaces, rest: ArgvFacts["rest"]): ArgvFacts["rest"] {
  return positions.size > 0 ? undefined : rest;
}

function readUse(tokens: readonly Token[], use: ListUse, dialect: Dialect): readonly PositionUse[] {
  const single = positionAt(tokens, use, dialect);
  return single === undefined ? destructuredAt(tokens, use).uses : [single];
}

/** Places in a list that still has the flags in it are only right when the flags come after them. */
function isPlainUse(lists: readonly ListUse[], index: number): boolean {
  return lists.some((use) => use.index === index && !use.filtered);
}

/** `const file = args.shift()`, one after the other. */
function shiftedUses(tokens: readonly Token[], lists: readonly ListUse[]): readonly PositionUse[] {
  const shifts = lists.filter(
    ({ end }) => isToken(tokens[end], ".") && isToken(tokens[end + 1], "shift") && isToken(tokens[end + 2], "("),
  );
  // In a loop the same call takes them all; a loop is what has flags, so it is not looked at here.
  return shifts.flatMap((use, place): PositionUse[] => {
    const name = nameBefore(tokens, use.index);
    return name === undefined ? [] : [{ index: use.index, place, fact: { name } }];
  });
}

function nameBefore(tokens: readonly Token[], index: number): string | undefined {
  return isToken(tokens[index - 1], "=") && tokens[index - 2]?.kind === "word" ? tokens[index - 2]?.text : undefined;
}

function minimumOf(counts: readonly CountFact[]): number | undefined {
  const minimums = counts.flatMap((count) => (count.kind === "minimum" && count.count > 0 ? [count.count] : []));
  return minimums.length === 0 ? undefined : Math.min(...minimums);
}

function toPositions(
  uses: readonly PositionUse[],
  demanded: ReadonlySet<string>,
  counts: readonly CountFact[] = [],
): Map<number, PositionFact> {
  const positions = new Map<number, PositionFact>();
  for (const { place, fact } of uses) {
    const before = positions.get(place);
    positions.set(place, before === undefined ? fact : joinFacts(before, fact));
  }
  const optionalFrom = Math.min(
    ...counts.map((count) => (count.kind === "optional" ? count.from : Number.POSITIVE_INFINITY)),
  );
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

/** The names that the code does not go on without: `if (!file) { …; process.exit(1) }` */
function demandedNames(tokens: readonly Token[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [index, token] of tokens.entries()) {
    const name = tokens[index + 1];
    if (!isAnyToken(token, negations) || name?.kind !== "word") continue;
    const property = isToken(tokens[index + 2], ".") ? tokens[index + 3] : undefined;
    if (property?.kind === "word" && givesUp(tokens, index + 4)) names.add(property.text);
    else if (property === undefined && isToken(token, "!") && endsSoon(tokens, index, 45)) names.add(name.text);
    else if (property === undefined && givesUp(tokens, index + 2)) names.add(name.text);
  }
  return names;
}

const negations = new Set(["!", "not"]);
const giveUps = /^(?:exit|die|abort|throw|raise|usage|fail|fatal|(?:show|print|display)_?(?:usage|help)|SystemExit)$/iu;

/** Whether what follows a condition, and nothing but that, ends the script. */
function givesUp(tokens: readonly Token[], from: number): boolean {
  let depth = 0;
  for (let index = from; index < from + 40; index++) {
    const token = tokens[index];
    if (isToken(token, "(")) depth += 1;
    if (isToken(token, ")")) depth -= 1;
    // In the parentheses of a call "=" names an argument.
    const isOver = isToken(token, "}") || isToken(token, "else") || (isToken(token, "=") && depth <= 0);
    if (token === undefined || isOver) return false;
    if (token.kind === "word" && giveUps.test(token.text)) return true;
  }
  return false;
}

/** Tells which tokens are the first argument: `args[0]` by its closing bracket, or a variable that holds it. */
function firstArgument(
  tokens: readonly Token[],
  uses: readonly PositionUse[],
  lists: readonly ListUse[],
): (index: number) => boolean {
  const ends = new Map(lists.map((use) => [use.index, use.end]));
  const names = new Set<string>();
  const closers = new Set<number>();
  for (const { index, place, fact } of uses) {
    if (place !== 0) continue;
    if (fact.name !== undefined) names.add(fact.name);
    const end = ends.get(index);
    if (end !== undefined && isToken(tokens[end], "[")) closers.add(end + 2);
  }
  return (index) => {
    const token = tokens[index];
    return closers.has(index) || (token?.kind === "word" && names.has(token.text) && !isToken(tokens[index - 1], "."));
  };
}

/** The uses that belong to no command. */
function outside(uses: readonly PositionUse[], marks: readonly CommandMark[]): readonly PositionUse[] {
  const first = Math.min(...marks.map(({ index }) => index));
  return marks.length < 2 ? uses : uses.filter(({ index, place }) => place === 0 || index < first);
}

interface CommandSources {
  readonly demanded: ReadonlySet<string>;
  /** Where all arguments are taken at once. */
  readonly rests: readonly { readonly index: number; readonly rest: NonNullable<ArgvFacts["rest"]> }[];
}

function toCommands(
  marks: readonly CommandMark[],
  uses: readonly PositionUse[],
  { demanded, rests }: CommandSources,
): readonly CommandFact[] {
  return marks.map(({ names, index }, at) => {
    const end = marks[at + 1]?.index ?? Number.MAX_SAFE_INTEGER;
    const isInside = (use: { readonly index: number }): boolean => use.index > index && use.index < end;
    const own = uses.filter((use) => isInside(use) && use.place > 0).map((use) => ({ ...use, place: use.place - 1 }));
    const rest = rests.find((use) => isInside(use) && use.rest.from > 0)?.rest;
    const positions = toPositions(own, demanded);
    const facts = { ...noFacts, positions, ...(rest !== undefined && { rest: { ...rest, from: rest.from - 1 } }) };
    return { names, facts };
  });
}

function restsAt(code: Code, use: ListUse): CommandSources["rests"] {
  const rest = restAt(code, use);
  return rest === undefined ? [] : [{ index: use.index, rest }];
}

const loopWords = new Set(["in", "of"]);
const spreaders = new Set(["...", "*"]);
const consumers = new Set(["join", "map", "forEach", "each", "entries", "values", "filter"]);

/** Where the code takes all arguments at once. */
function findRest(code: Code, lists: readonly ListUse[]): ArgvFacts["rest"] {
  for (const use of lists) {
    const rest = destructuredAt(code.tokens, use).rest ?? restAt(code, use);
    if (rest !== undefined) return rest;
  }
  return undefined;
}

function restAt({ tokens, functions }: Code, { index, end, skip }: ListUse): ArgvFacts["rest"] {
  const from = Math.max(0, -skip);
  if (isToken(tokens[end], ".")) return isAnyToken(tokens[end + 1], consumers) ? { from } : undefined;
  if (isToken(tokens[end], "[")) return undefined;
  if (isToken(tokens[index - 1], "(") && isToken(tokens[index - 2], "join")) return { from };
  // Spread over the parameters of a function of ours, they have names.
  if (isAnyToken(tokens[index - 1], spreaders))
    return functions.has(tokens[index - 3]?.text ?? "") ? undefined : { from };
  if (!isAnyToken(tokens[index - 1], loopWords) || !isLoopHead(tokens, index)) return undefined;
  const name = tokens[index - 2]?.text;
  return withoutUndefined<NonNullable<ArgvFacts["rest"]>>({ from, name: isUsual(name) ? undefined : name });
}

function isLoopHead(tokens: readonly Token[], index: number): boolean {
  return tokens
    .slice(Math.max(0, index - 6), index)
    .some((token) => isToken(token, "for") || isToken(token, "foreach"));
}

function isUsual(name: string | undefined): boolean {
  return name === undefined || /^(?:arg|a|i|x|item|param|token|word)$/u.test(name);
}
