import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import type { KeyValueStore, VersionedValue, WriteOptions } from "../core/store.ts";
import { checkKey } from "./check-key.ts";
import { checkList } from "./check-list.ts";
import { checkWhole } from "./check-whole.ts";
import { fromKept, toKept } from "./kept-value.ts";
import { createMemoryItems, type Item } from "./memory-items.ts";
import { checkOpen, type MemoryLife } from "./memory-life.ts";

/** Makes the `kv` part of a memory store. */
export function memoryKv(life: MemoryLife): KeyValueStore {
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
      checkVersion(key, items.get(key), ifVersion);
      return write(key, kept, toExpiry(life, expiresInMs));
    },
    async delete(key, options) {
      checkKey(key);
      const { ifVersion } = checkWrite(options);
      checkOpen(life, "kv.delete");
      const item = items.get(key);
      checkVersion(key, item, ifVersion);
      if (item) items.delete(key);
      return item !== undefined;
    },
    async list(options) {
      const { prefix, after, limit } = checkList(options);
      checkOpen(life, "kv.list");
      return items.list(prefix, after).take(limit).map(toListed).toArray();
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

function toListed([key, item]: readonly [string, Item]): readonly [string, VersionedValue] {
  return [key, toVersioned(item)];
}

function checkWrite(options: WriteOptions | undefined): { [Name in keyof WriteOptions]-?: number | undefined } {
  const { expiresInMs, ifVersion } = options ?? {};
  if (expiresInMs !== undefined) checkWhole("expiresInMs", expiresInMs, 1);
  if (ifVersion !== undefined) checkWhole("ifVersion", ifVersion);
  return { expiresInMs, ifVersion };
}

function toExpiry(life: MemoryLife, expiresInMs: number | undefined): number {
  return expiresInMs === undefined ? Infinity : life.now() + expiresInMs;
}

function checkVersion(key: string, item: Item | undefined, ifVersion: number | undefined): void {
  const version = item ? item.version : 0;
  if (ifVersion === undefined || ifVersion === version) return;
  throw new KitbagError("store-conflict", {
    where: key,
    expected: describeVersion(ifVersion),
    found: describeVersion(version),
  });
}

function describeVersion(version: number): string {
  return version === 0 ? "nothing" : `version ${version}`;
}

function toSum(key: string, value: Item["value"], by: number): number {
  const sum = typeof value === "number" ? value + by : Number.NaN;
  if (Number.isSafeInteger(value) && Number.isSafeInteger(sum)) return sum;
  const found = Number.isSafeInteger(value) ? `${showValue(value)} and ${by} more` : showValue(value);
  throw new KitbagError("store-conflict", { where: key, expected: "a whole number up to 2^53 - 1", found });
}
