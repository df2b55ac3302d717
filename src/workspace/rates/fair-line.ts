/** Something that can stand in a line. */
export interface Standing {
  /** Whoever has the smaller number goes first. */
  readonly turn: number;
  /** Among equals, who came first: no two have the same. */
  readonly arrival: number;
  /** Where in the line it stands; only the line looks at it. */
  index: number;
}

/** Those who wait, in the order of their turns, also if one has to stand in line again. A heap: nothing takes longer than log n. */
export interface Line<Item extends Standing> {
  isEmpty(): boolean;
  size(): number;
  /** The one whose turn it is. */
  first(): Item | undefined;
  add(item: Item): void;
  /** Takes out the one whose turn it is. */
  shift(): Item | undefined;
  /** Takes out one that stands in this line. */
  remove(item: Item): void;
}

/** Makes an empty line. */
export function createLine<Item extends Standing>(): Line<Item> {
  const items: Item[] = [];

  function remove(item: Item): void {
    const last = items.pop() as Item;
    if (last === item) return;
    put(items, last, item.index);
    moveUp(items, last);
    moveDown(items, last);
  }

  return {
    isEmpty: () => items.length === 0,
    size: () => items.length,
    first: () => items[0],
    add(item) {
      put(items, item, items.length);
      moveUp(items, item);
    },
    shift() {
      const [first] = items;
      if (first !== undefined) remove(first);
      return first;
    },
    remove,
  };
}

function put<Item extends Standing>(items: Item[], item: Item, index: number): void {
  items[index] = item;
  item.index = index;
}

function moveUp<Item extends Standing>(items: Item[], item: Item): void {
  let { index } = item;
  while (index > 0) {
    const above = items[(index - 1) >> 1] as Item;
    if (isBefore(above, item)) break;
    const free = above.index;
    put(items, above, index);
    index = free;
  }
  put(items, item, index);
}

function moveDown<Item extends Standing>(items: Item[], item: Item): void {
  let { index } = item;
  for (;;) {
    const left = items[2 * index + 1];
    const right = items[2 * index + 2];
    const first = right !== undefined && left !== undefined && isBefore(right, left) ? right : left;
    if (first === undefined || isBefore(item, first)) break;
    const free = first.index;
    put(items, first, index);
    index = free;
  }
  put(items, item, index);
}

function isBefore(left: Standing, right: Standing): boolean {
  return left.turn < right.turn || (left.turn === right.turn && left.arrival < right.arrival);
}

/** Numbers for those who wait, so that nobody is held up by one who asks a lot. */
export interface Turns {
  /** The number of one more call of `who`: the smaller it is, the sooner it goes. Higher priorities go before all lower ones. */
  next(who: string, priority: number): number;
  /** Must be told of the number of each that goes. */
  went(turn: number): void;
  /** Must be told when nobody waits any more. */
  reset(): void;
}

/** More than calls that can wait at the same time. */
const stepOfPriority = 1_000_000_000;

/**
 * Makes numbers that go round: the first call of each who waits, then the second of each, whoever came first and with how many. Among
 * calls of one it is first come, first served.
 */
export function createTurns(): Turns {
  const last = new Map<string, number>();
  let round = 0;

  return {
    next(who, priority) {
      const turn = Math.max(round, last.get(who) ?? 0) + 1;
      last.set(who, turn);
      return turn - priority * stepOfPriority;
    },
    went(turn) {
      const inRound = ((turn % stepOfPriority) + stepOfPriority) % stepOfPriority;
      round = Math.max(round, inRound - 1);
    },
    reset() {
      last.clear();
      round = 0;
    },
  };
}
