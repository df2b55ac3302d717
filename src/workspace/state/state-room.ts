import type { JsonValue } from "../../core/json.ts";
import type { KeyValueStore } from "../../core/store.ts";

/** How much one state may hold. */
export interface StateLimits {
  readonly maxKeys: number;
  readonly maxBytes: number;
}

/** Knows how full one state is. */
export interface StateRoom {
  /**
   * Does `write` if `bytes` under `key` have room; answers with `undefined` if not. What it lets through is counted as if it
   * were new, and the store is looked into only when that leaves no room: most writes replace something.
   */
  writeIfFits<Value>(key: string, bytes: number, write: () => Promise<Value>): Promise<{ value: Value } | undefined>;
}

interface Amount {
  readonly keys: number;
  readonly bytes: number;
}

const nothing: Amount = { keys: 0, bytes: 0 };
const unknown: Amount = { keys: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };

/** How many entries are counted at a time: each comes with its value. */
const page = 100;

/** Makes the count of what is in `kv` under `prefix`. */
export function createStateRoom(kv: KeyValueStore, prefix: string, limits: StateLimits): StateRoom {
  /** What is kept, at the most. */
  let kept = unknown;
  /** What is being written. */
  let writing = nothing;
  let counting: Promise<void> | undefined;

  function reserve(more: Amount): boolean {
    const total = plus(plus(kept, writing), more);
    if (total.keys > limits.maxKeys || total.bytes > limits.maxBytes) return false;
    writing = plus(writing, more);
    return true;
  }

  async function count(): Promise<void> {
    // A write that ends meanwhile adds to this, and may be found as well: too much is counted, never too little.
    kept = nothing;
    try {
      const found = await measure(kv, prefix);
      kept = plus(kept, found);
    } catch (cause) {
      kept = unknown;
      throw cause;
    }
  }

  async function findRoom(key: string, bytes: number): Promise<Amount | undefined> {
    const asNew = { keys: 1, bytes };
    // While a count is under way, how much is kept is unknown.
    if (counting === undefined && reserve(asNew)) return asNew;
    counting ??= count().finally(() => (counting = undefined));
    await counting;
    if (reserve(asNew)) return asNew;
    const before = await kv.get(prefix + key);
    const asReplaced = { keys: 0, bytes: before === undefined ? bytes : bytes - sizeOf(key, before.value) };
    return before !== undefined && reserve(asReplaced) ? asReplaced : undefined;
  }

  return {
    async writeIfFits(key, valueBytes, write) {
      const room = await findRoom(key, Buffer.byteLength(key) + valueBytes);
      if (room === undefined) return undefined;
      try {
        const value = await write();
        kept = plus(kept, room);
        return { value };
      } finally {
        writing = plus(writing, { keys: -room.keys, bytes: -room.bytes });
      }
    },
  };
}

async function measure(kv: KeyValueStore, prefix: string): Promise<Amount> {
  let found = nothing;
  for (let after = "", length = page; length === page;) {
    const entries = await kv.list({ prefix, after, limit: page });
    for (const [key, { value }] of entries) {
      found = plus(found, { keys: 1, bytes: sizeOf(key.slice(prefix.length), value) });
      after = key;
    }
    length = entries.length;
  }
  return found;
}

function plus(left: Amount, right: Amount): Amount {
  return { keys: left.keys + right.keys, bytes: left.bytes + right.bytes };
}

/** How much of its room a value takes. */
export function sizeOf(key: string, value: JsonValue): number {
  return Buffer.byteLength(key) + Buffer.byteLength(JSON.stringify(value));
}
