import type { PatternNode } from "./pattern-tree.ts";

/** How many ways lead to a character of the pattern, by its number. */
export type Ways = ReadonlyMap<number, number>;

/**
 * A pattern as its characters and the ways between them. Two ways between the same characters are counted as two: a matcher
 * that fails tries both.
 */
export interface PatternPaths {
  /** The source of each character: `a`, `\d`, `[^@]`. */
  readonly characters: readonly string[];
  /** Where a match can go on after each character. */
  readonly follow: readonly Ways[];
  /** Where a match can begin at the start of the text. */
  readonly begin: Ways;
  /** Where a match can begin anywhere else. */
  readonly beginLater: Ways;
  /** The characters after which the pattern can be at its end. */
  readonly end: Ways;
  /** Whether the pattern matches no text at all. */
  readonly matchesNothing: boolean;
}

/** A pattern that can be read in more ways than this at one place of the text is refused. */
export const mostWays = 64;

/** A larger pattern is refused: a person cannot read it, and it costs more to examine than to refuse. */
const limits = { characters: 1500, connections: 200_000, copies: 600 };

/** Finds the ways through `tree`; `undefined` if there are too many. */
export function findPatternPaths(tree: PatternNode): PatternPaths | undefined {
  const builder: PathBuilder = { characters: [], follow: [], connections: 0 };
  const whole = build(builder, tree);
  if (isFull(builder)) return undefined;
  const { characters, follow } = builder;
  const { begin, beginLater, end, emptyAtStart } = whole;
  return { characters, follow, begin, beginLater, end, matchesNothing: emptyAtStart > 0 };
}

interface PathBuilder {
  readonly characters: string[];
  readonly follow: Map<number, number>[];
  connections: number;
}

/** A part of a pattern. `empty` is the number of ways to match no text: inside the text, and at its start. */
interface Part {
  readonly empty: number;
  readonly emptyAtStart: number;
  readonly begin: Ways;
  readonly beginLater: Ways;
  readonly end: Ways;
}

const none: Ways = new Map();
const nothing: Part = { empty: 1, emptyAtStart: 1, begin: none, beginLater: none, end: none };

function isFull(builder: PathBuilder): boolean {
  return builder.characters.length > limits.characters || builder.connections > limits.connections;
}

function build(builder: PathBuilder, node: PatternNode): Part {
  if (isFull(builder)) return nothing;
  const part = buildNode(builder, node);
  const counts = [part.emptyAtStart, ...part.begin.values(), ...part.end.values()];
  if (counts.some((count) => count > mostWays)) builder.connections = Infinity;
  return part;
}

function buildNode(builder: PathBuilder, node: PatternNode): Part {
  switch (node.kind) {
    case "character":
      return buildCharacter(builder, node.source);
    case "pass":
      return nothing;
    case "start":
      return { ...nothing, empty: 0 };
    case "look-ahead":
      // It is tried where it stands, and nothing goes on after it: the text goes on in its place.
      return { ...build(builder, node.part), empty: 1, emptyAtStart: 1, end: none };
    case "sequence":
      return node.parts.reduce<Part>((left, part) => join(builder, left, build(builder, part)), nothing);
    case "choice":
      return node.parts.map((part) => build(builder, part)).reduce(choose);
    case "repeat":
      return buildRepeat(builder, node);
  }
}

function buildCharacter(builder: PathBuilder, source: string): Part {
  const only: Ways = new Map([[builder.characters.length, 1]]);
  builder.characters.push(source);
  builder.follow.push(new Map());
  return { empty: 0, emptyAtStart: 0, begin: only, beginLater: only, end: only };
}

function buildRepeat(builder: PathBuilder, { part, min, max }: PatternNode & { kind: "repeat" }): Part {
  const copies = max === Infinity ? min : max;
  // With very many copies, a repeat without an end stands in for them: it has all their ways and more.
  if (copies > limits.copies) return loop(builder, build(builder, part), min);
  const needed = max === Infinity ? Math.max(0, min - 1) : min;
  let whole = nothing;
  for (let copy = 0; copy < needed && !isFull(builder); copy++) whole = join(builder, whole, build(builder, part));
  if (max === Infinity) return join(builder, whole, loop(builder, build(builder, part), min));
  let rest = nothing;
  for (let copy = min; copy < max && !isFull(builder); copy++) {
    rest = { ...join(builder, build(builder, part), rest), empty: 1, emptyAtStart: 1 };
  }
  return join(builder, whole, rest);
}

/** A round that matches no text ends a repeat, unless it is one that is needed. */
function loop(builder: PathBuilder, part: Part, min: number): Part {
  connect(builder, part.end, part.beginLater);
  if (min === 0) return { ...part, empty: 1, emptyAtStart: 1 };
  return {
    ...part,
    begin: scale(part.begin, 1 + part.emptyAtStart),
    beginLater: scale(part.beginLater, 1 + part.empty),
  };
}

function join(builder: PathBuilder, left: Part, right: Part): Part {
  connect(builder, left.end, right.beginLater);
  return {
    empty: left.empty * right.empty,
    emptyAtStart: left.emptyAtStart * right.emptyAtStart,
    begin: add(left.begin, scale(right.begin, left.emptyAtStart)),
    beginLater: add(left.beginLater, scale(right.beginLater, left.empty)),
    end: add(right.end, scale(left.end, right.empty)),
  };
}

function choose(left: Part, right: Part): Part {
  return {
    empty: left.empty + right.empty,
    emptyAtStart: left.emptyAtStart + right.emptyAtStart,
    begin: add(left.begin, right.begin),
    beginLater: add(left.beginLater, right.beginLater),
    end: add(left.end, right.end),
  };
}

function connect(builder: PathBuilder, ends: Ways, begins: Ways): void {
  builder.connections += ends.size * begins.size;
  if (isFull(builder)) return;
  for (const [from, ways] of ends) {
    const follow = builder.follow[from] as Map<number, number>;
    for (const [to, more] of begins) {
      const count = (follow.get(to) ?? 0) + ways * more;
      follow.set(to, count);
      if (count > mostWays) builder.connections = Infinity;
    }
  }
}

function add(left: Ways, right: Ways): Ways {
  if (left.size === 0) return right;
  if (right.size === 0) return left;
  const sum = new Map(left);
  for (const [character, ways] of right) sum.set(character, (sum.get(character) ?? 0) + ways);
  return sum;
}

function scale(ways: Ways, by: number): Ways {
  if (by === 0) return none;
  return by === 1 ? ways : new Map([...ways].map(([character, count]) => [character, count * by]));
}
