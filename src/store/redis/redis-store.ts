import type * as Redis from "redis";

import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { KeyValueStore, Store } from "../../core/store.ts";
import { checkWhole } from "../checks.ts";
import type { LiveTails } from "../combine-stores.ts";
import { loadPackage } from "../../platform/load-package.ts";
import { choosePlace, parseServerAddress } from "../server-connection.ts";
import { createStoreLife } from "../store-life.ts";
import { redisKv } from "./redis-kv.ts";
import {
  checkRedis,
  createRedisLink,
  destroy,
  type MayForget,
  openRedis,
  type OpenRedis,
  type RedisClient,
  type RedisLink,
  type RedisLinkOptions,
} from "./redis-link.ts";

/** What {@link redisStore} takes. */
export interface RedisStoreOptions {
  /** `redis://user:password@host:port/database`, or `rediss://` for TLS, with `?prefix=name:` if it is not said with `prefix` */
  readonly url: string;
  /** What all keys on the server begin with: each project needs its own. @default "kitbag:" */
  readonly prefix?: string;
  /**
   * What may be lost when the server crashes: `"nothing"` needs `appendonly yes`, `appendfsync always` and
   * `maxmemory-policy noeviction`; `"seconds"` does without `appendfsync always`, and may lose the last two of them; with
   * `"everything"` nothing is asked, which is right for limits and caches alone. @default "nothing"
   */
  readonly mayForget?: MayForget;
  /** How long the server may say nothing while it is expected to answer, in milliseconds. @default 1500 */
  readonly timeoutMs?: number;
}

/** The parts of a store that a Redis server can hold. */
export interface RedisStore extends Pick<Store, "close"> {
  /** For limits and caches. What must be kept belongs elsewhere: a server that is emptied has forgotten it. */
  readonly counters: KeyValueStore;
  readonly tails: LiveTails;
}

/**
 * Opens the parts of a store that a Redis server can hold: `counters`, for limits and caches that several machines share, and
 * live tails, so that those who follow a stream are woken at once. Log, blobs and queues are kept elsewhere: see
 * {@link combineStores}. Needs the package `redis`, and a server that keeps what it acknowledges, which is checked when it is
 * opened: see `mayForget`.
 *
 * When the server is away, calls reject within two seconds; when it is back they work again.
 *
 * @throws {KitbagError} (rejects) `option-invalid`; `package-missing` without `redis`; `store-unsafe` if the server may forget;
 * `store-unavailable` if it cannot be used now.
 *
 * @example
 * ```ts no-run
 * import { redisStore } from "kitbag/store";
 *
 * const redis = await redisStore({ url: process.env["REDIS_URL"] ?? "redis://localhost" });
 * const calls = await redis.counters.increment("calls:ann", 1, { expiresInMs: 60_000 });
 * console.assert(calls >= 1);
 * await redis.close();
 * ```
 */
export async function redisStore(options: RedisStoreOptions): Promise<RedisStore> {
  const { address, prefix, mayForget, timeoutMs } = checkOptions(options);
  const { createClient } = await loadPackage<typeof Redis>("redis", "redisStore");
  const linkOptions: RedisLinkOptions = {
    shown: address.shown,
    timeoutMs,
    createClient: (): RedisClient =>
      createClient({
        url: address.url,
        disableOfflineQueue: true,
        socket: { connectTimeout: timeoutMs, reconnectStrategy: false },
      }),
  };
  const link = createRedisLink(linkOptions);
  try {
    await checkRedis(link, address.shown, mayForget);
  } catch (cause) {
    await link.close();
    throw cause;
  }

  const life = createStoreLife(Date.now);
  const tails = redisTails({ ...linkOptions, link, channel: `${prefix}tails` });
  return {
    counters: redisKv({ life, link, prefix }),
    tails,
    async close() {
      life.close();
      await tails.close();
      await link.close();
    },
  };
}

function checkOptions({ url, mayForget = "nothing", timeoutMs = 1500, ...options }: RedisStoreOptions) {
  const address = parseServerAddress(url, ["redis:", "rediss:"], "prefix");
  const prefix = choosePlace("prefix", { option: options.prefix, address, usual: "kitbag:" });
  checkWhole("timeoutMs", timeoutMs, 1);
  if (typeof prefix !== "string" || !prefix.isWellFormed()) refuse("prefix", prefix, "a text");
  if (!["nothing", "seconds", "everything"].includes(mayForget)) {
    refuse("mayForget", mayForget, '"nothing", "seconds" or "everything"');
  }
  return { address, prefix, mayForget, timeoutMs };
}

function refuse(option: string, found: unknown, expected: string): never {
  throw new KitbagError("option-invalid", { option, found: showValue(found), expected });
}

/** What {@link redisTails} needs. */
interface RedisTailsOptions extends RedisLinkOptions {
  /** For what is published. */
  readonly link: RedisLink;
  readonly channel: string;
}

/** How often the connection on which is listened is looked after. */
const lookEveryMs = 1000;

/** Makes live tails over publish and subscribe. They connect with the first who subscribes. */
function redisTails(options: RedisTailsOptions): LiveTails & { close(): Promise<void> } {
  const { link, channel } = options;
  const listeners = new Set<(stream?: string) => void>();
  let open: OpenRedis | undefined;
  let timer: NodeJS.Timeout | undefined;
  let busy: Promise<void> | undefined;

  function lose(): void {
    const lost = open;
    open = undefined;
    if (lost) destroy(lost.client);
  }

  function tell(stream?: string): void {
    for (const listener of listeners) listener(stream);
  }

  async function tick(): Promise<void> {
    try {
      if (open) return void (await open.watch.expect(open.client.ping()));
      const fresh = await openRedis(options, lose);
      open = fresh;
      await fresh.watch.expect(fresh.client.subscribe(channel, tell));
      // What was published before was not heard.
      tell();
    } catch {
      lose();
    }
  }

  function look(): void {
    busy ??= tick().finally(() => (busy = undefined));
  }

  return {
    publish(stream) {
      // Followers also poll, so a lost notice loses no entries.
      link.send(["PUBLISH", channel, stream], false).catch(() => undefined);
    },
    subscribe(listener) {
      listeners.add(listener);
      if (!timer) {
        timer = setInterval(look, lookEveryMs);
        look();
      }
      return () => void listeners.delete(listener);
    },
    async close() {
      clearInterval(timer);
      await busy;
      lose();
    },
  };
}
