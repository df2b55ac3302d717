import type { JsonValue } from "../core/json.ts";
import { compareCodePoints, createSortedKeys } from "./sorted-keys.ts";

/** A value as {@link memoryKv} keeps it. */
export interface Item {
  readonly value: JsonValue;
  readonly version: number;
  /** By the clock of the store; `Infinity` for never. */
  readonly expiresAt: number;
}

/** Items by key. One that has expired is not there. */
export interface MemoryItems {
  get(key: string): Item | undefined;
  set(key: string, item: Item): void;
  delete(key: string): void;
  /** In order: those that begin with `prefix` and come after `after`. */
  list(prefix: string, after: string): IteratorObject<readonly [key: string, item: Item]>;
}

/** How many items that may have expired are looked at with each write: more than one, so that they cannot pile up. */
const sweptPerWrite = 2;

/** Makes an empty collection of items, which expire by the clock `now`. */
export function createMemoryItems(now: () => number): MemoryItems {
  const items = new Map<string, Item>();
  const sorted = createSortedKeys(items);
  const expiring = new Set<string>();
  let sweeper = expiring.values();

  function remove(key: string): void {
    items.delete(key);
    expiring.delete(key);
    sorted.changed(key);
  }

  function get(key: string): Item | undefined {
    const item = items.get(key);
    if (!item || item.expiresAt === Infinity || item.expiresAt > now()) return item;
    // Removed at once: a clock that goes back must not bring back what was seen to be gone.
    remove(key);
    return undefined;
  }

  function sweep(): void {
    for (let count = 0; count < sweptPerWrite; count++) {
      const { done, value: key } = sweeper.next();
      if (!done) get(key);
      else if (expiring.size === 0) return;
      else sweeper = expiring.values();
    }
  }

  return {
    get,
    set(key, item) {
      if (!items.has(key)) sorted.changed(key);
      items.set(key, item);
      if (item.expiresAt === Infinity) expiring.delete(key);
      else expiring.add(key);
      sweep();
    },
    delete: remove,
    *list(prefix, after) {
      const keys = sorted.all();
      const first = compareCodePoints(after, prefix) > 0 ? after : prefix;
      for (let index = sorted.indexOf(first); index < keys.length; index++) {
        const key = keys[index] as string;
        if (!key.startsWith(prefix)) return;
        const item = key === after ? undefined : get(key);
        if (item) yield [key, item];
      }
    },
  };
}
