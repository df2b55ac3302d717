import type { JsonValue } from "../core/json.ts";
import type { KeyValueStore, ListedValue, VersionedValue } from "../core/store.ts";
import { checkKey, checkList, checkVersion, checkWhole, checkWrite, toSum } from "./checks.ts";
import { fromKept, toKept } from "./kept-value.ts";
import { compareCodePoints, createSortedKeys } from "./sorted-keys.ts";
import { checkOpen, type StoreLife } from "./store-life.ts";

/** Makes the `kv` part of a memory store. */
export function memoryKv(life: StoreLife): KeyValueStore {
  const items = createMemoryItems(life.now);
  // One counter for all keys, so that a key which is made again never gets a version that it had before.
  let lastVersion = 0;

  function write(key: string, value: Item["value"], expiresAt: number): number {
    lastVersion += 1;
    items.set(key, { value, version: lastVersion, expiresAt });
    return lastVersion;
  }

  return {
    async get(key) {
      checkKey(key);
      checkOpen(life, "kv.get");
      const item = items.get(key);
      return item && toVersioned(item);
    },
    async set(key, value, options) {
      checkKey(key);
      const { expiresInMs, ifVersion } = checkWrite(options);
      const kept = toKept(key, value);
      checkOpen(life, "kv.set");
      checkVersion(key, items.get(key)?.version ?? 0, ifVersion);
      return write(key, kept, toExpiry(life, expiresInMs));
    },
    async delete(key, options) {
      checkKey(key);
      const { ifVersion } = checkWrite(options);
      checkOpen(life, "kv.delete");
      const item = items.get(key);
      checkVersion(key, item?.version ?? 0, ifVersion);
      if (item) items.delete(key);
      return item !== undefined;
    },
    async list(options) {
      const { prefix, after, limit } = checkList(options);
      checkOpen(life, "kv.list");
      return items.list(prefix, after).take(limit).map(toListed(life.now())).toArray();
    },
    async increment(key, by = 1, options) {
      checkKey(key);
      checkWhole("by", by, Number.MIN_SAFE_INTEGER);
      const { expiresInMs } = checkWrite(options);
      checkOpen(life, "kv.increment");
      const item = items.get(key);
      const sum = toSum(key, item ? item.value : 0, by);
      write(key, sum, item ? item.expiresAt : toExpiry(life, expiresInMs));
      return sum;
    },
  };
}

function toVersioned({ value, version }: Item): VersionedValue {
  return { value: fromKept(value), version };
}

function toListed(now: number): (item: readonly [string, Item]) => readonly [string, ListedValue] {
  return ([key, item]) => {
    const time = item.expiresAt === Infinity ? {} : { expiresInMs: Math.max(item.expiresAt - now, 1) };
    return [key, { ...toVersioned(item), ...time }];
  };
}

function toExpiry(life: StoreLife, expiresInMs: number | undefined): number {
  return expiresInMs === undefined ? Infinity : life.now() + expiresInMs;
}

/** A value as {@link memoryKv} keeps it. */
interface Item {
  readonly value: JsonValue;
  readonly version: number;
  /** By the clock of the store; `Infinity` for never. */
  readonly expiresAt: number;
}

/** Items by key. One that has expired is not there. */
interface MemoryItems {
  get(key: string): Item | undefined;
  set(key: string, item: Item): void;
  delete(key: string): void;
  /** In order: those that begin with `prefix` and come after `after`. */
  list(prefix: string, after: string): IteratorObject<readonly [key: string, item: Item]>;
}

/** How many items each write checks for expiry: more than one, so that expired items cannot pile up. */
const sweptPerWrite = 2;

/** Makes an empty collection of items, which expire by the clock `now`. */
function createMemoryItems(now: () => number): MemoryItems {
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
