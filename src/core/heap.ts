/** A priority queue: the least item is found at once. Each item is in it at most once. */
export interface Heap<Item> {
  readonly size: number;
  add(item: Item): void;
  has(item: Item): boolean;
  /** The least item; it stays. */
  first(): Item | undefined;
  /** Takes out an item wherever it is; one that is not there is left alone. */
  remove(item: Item): void;
}

/**
 * Makes an empty heap. Adding and removing take time in proportion to the logarithm of its size. What `compare` looks at must not
 * change while an item is in the heap.
 */
export function createHeap<Item>(compare: (left: Item, right: Item) => number): Heap<Item> {
  const items: Item[] = [];
  const places = new Map<Item, number>();

  function put(item: Item, place: number): void {
    items[place] = item;
    places.set(item, place);
  }

  /** Moves an item from `place` towards the top for as long as the one above is greater. */
  function rise(item: Item, from: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = items[parent] as Item;
      if (compare(above, item) <= 0) break;
      put(above, place);
      place = parent;
    }
    put(item, place);
  }

  /** Moves an item from `place` down for as long as one below is less. */
  function sink(item: Item, from: number): void {
    let place = from;
    for (;;) {
      let child = place * 2 + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && compare(items[child + 1] as Item, items[child] as Item) < 0) child += 1;
      const below = items[child] as Item;
      if (compare(item, below) <= 0) break;
      put(below, place);
      place = child;
    }
    rise(item, place);
  }

  return {
    get size() {
      return items.length;
    },
    add(item) {
      rise(item, items.length);
    },
    has: (item) => places.has(item),
    first: () => items[0],
    remove(item) {
      const place = places.get(item);
      if (place === undefined) return;
      places.delete(item);
      const last = items.pop() as Item;
      if (last !== item) sink(last, place);
    },
  };
}
