import { around, type Code } from "../code/code.ts";
import { calledName, dispatch, type CodeNode } from "../code/node.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { findLists, type ArgumentLists, type Dialect, type ListUse } from "./argument-lists.ts";
import { noFacts, type ArgvFacts, type CommandFact, type FlagFact, type PositionFact } from "./argv-facts.ts";
import { findCommands, type CommandMark } from "./read-commands.ts";
import { findFlags } from "./read-flags.ts";
import { findLoopPlaces, findOpenFlags, type LoopPlaces } from "./read-loop.ts";
import {
  demandedNames,
  destructuredAt,
  findPositions,
  readCounts,
  spreadFunction,
  type PositionUse,
} from "./read-positions.ts";

type Rest = NonNullable<ArgvFacts["rest"]>;

/** Reads what code in JavaScript, TypeScript or Python does with its arguments. */
export function readCode(code: Code, dialect: Dialect): ArgvFacts {
  const lists = findLists(code, dialect);
  if (lists.uses.length === 0) return noFacts;
  const uses = findPositions(code, lists, dialect);
  const demanded = demandedNames(code);
  const counts = readCounts(code, lists);
  const marks = findCommands(code, uses);
  const flags = findFlags(code).map((flag) => withDemand(flag, demanded));
  const read = toPositions(outside(uses, marks), demanded, counts.optionalFrom);
  const looped = flags.length > 0 && read.size === 0 ? findLoopPlaces(code) : undefined;
  const rest = findRest(code, lists);
  return withoutUndefined<ArgvFacts>({
    readsArgv: true,
    positions: looped === undefined ? read : withDemands(looped.positions, demanded),
    rest: looped === undefined ? rest : (looped.rest ?? restOf(looped, rest)),
    minimum: counts.minimum,
    flags: [...flags, ...findOpenFlags(code, flags).map((flag) => withDemand(flag, demanded))],
    commands: marks.map((mark) => toCommand(code, mark, { uses, lists, demanded })),
    flagsLast: uses.some(({ filtered }) => !filtered) && flags.length > 0 ? true : undefined,
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
