import { isKitbagError, KitbagError } from "../../core/errors.ts";
import type { KeyValueStore, Store } from "../../core/store.ts";
import { localUser } from "../../core/users.ts";
import { sizeOf } from "../state/state-room.ts";
import type { Account } from "../../core/quotas.ts";

/** Counts the bytes that are kept for users: state of tools and skills, and large outputs. */
export interface KeptBytes {
  /**
   * Takes room for so many more bytes; a negative number gives room back. What expires is found when there is no room left.
   *
   * @throws {KitbagError} `quota-reached`
   */
  add(account: Account, bytes: number): Promise<void>;
  /** A view of the store whose writes and deletions of state are counted. */
  count(account: Account): KeyValueStore;
  /** Forgets what it knows: writes may not have been counted meanwhile. */
  forget(): void;
}

/** For so long a user for whom there was no room is refused without measuring again, unless something is deleted here. */
const fullMs = 1000;

type KeptStore = Pick<Store, "kv" | "blobs">;

/** Makes the count. The sum is in the store, for all processes; each measures once what is there before it relies on it. */
export function createKeptBytes(store: KeptStore): KeptBytes {
  const { kv } = store;
  const measured = new Set<string>();
  const full = new Map<string, { readonly used: number; readonly until: number }>();
  const toKey = ({ key }: Account): string => `quota-bytes:${key}`;

  async function measure(account: Account): Promise<number> {
    for (;;) {
      const before = await kv.get(toKey(account));
      const used = await measureBytes(store, account);
      try {
        await kv.set(toKey(account), used, { ifVersion: before?.version ?? 0, durable: false });
        measured.add(account.key);
        return used;
      } catch (cause) {
        // Another write was counted meanwhile.
        if (!isKitbagError(cause, "store-conflict")) throw cause;
      }
    }
  }

  const increment = (account: Account, by: number): Promise<number> =>
    kv.increment(toKey(account), by, { durable: false });

  async function take(account: Account, bytes: number): Promise<void> {
    const limit = account.limits.bytes as number;
    if (!measured.has(account.key)) await measure(account);
    if ((await increment(account, bytes)) <= limit) return;
    await increment(account, -bytes);
    const known = full.get(account.key);
    const isKnown = known !== undefined && known.until > performance.now();
    const used = isKnown ? known.used : await measure(account);
    if (used + bytes <= limit) return void (await increment(account, bytes));
    if (!isKnown) full.set(account.key, { used, until: performance.now() + fullMs });
    throw new KitbagError("quota-reached", { user: account.user, quota: "bytes", limit, used });
  }

  async function add(account: Account, bytes: number): Promise<void> {
    if (bytes > 0) return take(account, bytes);
    full.delete(account.key);
    if (measured.has(account.key)) await increment(account, bytes);
  }

  return {
    add,
    count: (account) => countWrites(kv, (bytes) => add(account, bytes)),
    forget: () => measured.clear(),
  };
}

function countWrites(kv: KeyValueStore, add: (bytes: number) => Promise<void>): KeyValueStore {
  const sizeAt = async (key: string): Promise<number> => {
    const found = await kv.get(key);
    return found === undefined ? 0 : sizeOf(key, found.value);
  };
  return {
    ...kv,
    async set(key, value, options) {
      const more = sizeOf(key, value) - (await sizeAt(key));
      if (more > 0) await add(more);
      try {
        const version = await kv.set(key, value, options);
        if (more < 0) await add(more);
        return version;
      } catch (cause) {
        if (more > 0) await add(-more);
        throw cause;
      }
    },
    async delete(key, options) {
      const less = await sizeAt(key);
      const isDeleted = await kv.delete(key, options);
      if (isDeleted) await add(-less);
      return isDeleted;
    },
  };
}

/** How many entries are looked at in one go: those of state come with their values. */
const page = 100;

/** How many bytes are kept for a user now. */
export async function measureBytes({ kv, blobs }: KeptStore, { user, key: owner }: Account): Promise<number> {
  const scopes = ["tool:", "owner:", "part:"];
  const prefixes = user === localUser ? scopes.map((scope) => `state:${scope}`) : [`state:user:${owner}:`];
  let sum = 0;
  for (const prefix of prefixes) {
    for await (const [key, { value }] of listAll(kv, prefix)) sum += sizeOf(key, value);
  }
  for await (const [key] of listAll(kv, "output-owner:")) {
    const end = key.lastIndexOf(":");
    if (key.slice(end + 1) !== owner) continue;
    // An output that was deleted is not kept any more, and its note takes no room.
    sum += (await blobs.size(key.slice("output-owner:".length, end))) ?? 0;
  }
  return sum;
}

async function* listAll(
  kv: KeyValueStore,
  prefix: string,
): AsyncGenerator<Awaited<ReturnType<KeyValueStore["list"]>>[number]> {
  for (let after = "", length = page; length === page;) {
    const entries = await kv.list({ prefix, after, limit: page });
    yield* entries;
    after = entries.at(-1)?.[0] ?? after;
    length = entries.length;
  }
}
