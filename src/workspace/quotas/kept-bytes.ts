import { isKitbagError, KitbagError } from "../../core/errors.ts";
import type { KeyValueStore, Store, VersionedValue } from "../../core/store.ts";
import { localUser } from "../../core/scopes.ts";
import { toOwnedPrefix } from "../outputs/kept-outputs.ts";
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

  const measuring = new Map<string, Promise<number>>();

  const increment = (account: Account, by: number): Promise<number> =>
    kv.increment(toKey(account), by, { durable: false });

  /** Corrects the sum by what is there. What is counted meanwhile stays counted: it may count twice until the next measurement. */
  async function correct(account: Account): Promise<number> {
    const before = Number((await kv.get(toKey(account)))?.value ?? 0);
    const used = await measureBytes(store, account);
    await increment(account, used - before);
    measured.add(account.key);
    return used;
  }

  /** All writes that need a measurement at the same time share it. */
  function measure(account: Account): Promise<number> {
    const running = measuring.get(account.key);
    if (running !== undefined) return running;
    const started = correct(account).finally(() => measuring.delete(account.key));
    measuring.set(account.key, started);
    return started;
  }

  async function tryTake(account: Account, bytes: number, limit: number): Promise<boolean> {
    if ((await increment(account, bytes)) <= limit) return true;
    await increment(account, -bytes);
    return false;
  }

  async function take(account: Account, bytes: number): Promise<void> {
    const limit = account.limits.bytes as number;
    if (!measured.has(account.key)) await measure(account);
    if (await tryTake(account, bytes, limit)) return;
    const known = full.get(account.key);
    const isKnown = known !== undefined && known.until > performance.now();
    const used = isKnown ? known.used : await measure(account);
    if (used + bytes <= limit && (await tryTake(account, bytes, limit))) return;
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
  return {
    ...kv,
    set: (key, value, options = {}) =>
      retryOnConflict(options.ifVersion, async () => {
        const before = await kv.get(key);
        const more = sizeOf(key, value) - sizeOfFound(key, before);
        if (more > 0) await add(more);
        try {
          // What was measured is what is replaced: writes at the same time do not give the same room back twice.
          const written = await kv.set(key, value, {
            ...options,
            ifVersion: options.ifVersion ?? before?.version ?? 0,
          });
          if (more < 0) await add(more);
          return written;
        } catch (cause) {
          if (more > 0) await add(-more);
          throw cause;
        }
      }),
    delete: (key, options = {}) =>
      retryOnConflict(options.ifVersion, async () => {
        const before = await kv.get(key);
        if (before === undefined) return kv.delete(key, options);
        // With a version it is deleted or in conflict.
        const isDeleted = await kv.delete(key, { ...options, ifVersion: options.ifVersion ?? before.version });
        await add(-sizeOfFound(key, before));
        return isDeleted;
      }),
  };
}

function sizeOfFound(key: string, found: VersionedValue | undefined): number {
  return found === undefined ? 0 : sizeOf(key, found.value);
}

/** Does it again while another write came between, unless the caller asked for a version. Each conflict means that a write succeeded. */
async function retryOnConflict<Value>(asked: number | undefined, write: () => Promise<Value>): Promise<Value> {
  for (;;) {
    try {
      return await write();
    } catch (cause) {
      if (asked !== undefined || !isKitbagError(cause, "store-conflict")) throw cause;
    }
  }
}

/** How many entries are read at once: entries of state come with their values. */
const page = 100;

/** How many bytes are kept for a user now. */
export async function measureBytes({ kv, blobs }: KeptStore, { user, key: owner }: Account): Promise<number> {
  const scopes = ["tool:", "owner:", "part:"];
  const prefixes = user === localUser ? scopes.map((scope) => `state:${scope}`) : [`state:user:${owner}:`];
  let sum = 0;
  for (const prefix of prefixes) {
    for await (const [key, { value }] of listAll(kv, prefix)) sum += sizeOf(key, value);
  }
  const owned = toOwnedPrefix(owner);
  for await (const [key] of listAll(kv, owned)) {
    // An output that was deleted is not kept any more, and its note takes no room.
    sum += (await blobs.size(key.slice(owned.length))) ?? 0;
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
