import { setTimeout as sleep } from "node:timers/promises";

import { expect, onTestFinished, test, type TestContext } from "vitest";

import { shareRedis } from "../../../test/support/redis.ts";
import { startTcpProxy, type TcpProxy } from "../../../test/support/tcp-proxy.ts";
import { isKitbagError } from "../../core/errors.ts";
import { combineStores } from "../combine-stores.ts";
import { memoryStore } from "../memory-store.ts";
import { redisStore, type RedisStore } from "./redis-store.ts";

const findServer = shareRedis();
let prefixes = 0;

test("redisStore() loses nothing that it acknowledged when the server is killed, and goes on without being opened anew", async (context) => {
  const server = await findServer(context);
  const { counters: kv } = await open(server.url, 10_000);
  const acknowledged: number[] = [];
  let doubtful = 0;
  const over = new AbortController();
  const writer = (async () => {
    while (!over.signal.aborted) {
      const sum = await kv.increment("count").catch(identity);
      if (typeof sum === "number") acknowledged.push(sum);
      else if (!isKitbagError(sum, "store-unavailable")) throw sum;
      else if (sum.details.mayBeWritten) doubtful += 1;
      if (typeof sum !== "number") await sleep(20);
    }
  })();
  await untilMore(acknowledged);
  for (let crash = 0; crash < 2; crash++) {
    await server.crash();
    await server.start();
    await untilMore(acknowledged);
  }
  over.abort();
  await writer;

  const count = (await kv.get("count"))?.value as number;

  expect(count).toBeGreaterThanOrEqual(acknowledged.length);
  expect(count).toBeLessThanOrEqual(acknowledged.length + doubtful);
});

test("redisStore() says that nothing was written when it could not even connect", async (context) => {
  const server = await findServer(context);
  const { counters: kv } = await open(server.url);
  await kv.set("key", "old");
  await server.crash();
  await sleep(50);

  const failures = await Promise.all(
    [kv.set("key", "new"), kv.get("key"), kv.list()].map((call) => call.catch(identity)),
  );
  await server.start();

  for (const failure of failures) {
    expect(failure).toMatchObject({ code: "store-unavailable", details: { mayBeWritten: false } });
  }
  expect((await kv.get("key"))?.value).toBe("old");
});

test("redisStore() says that a write may be kept whose answer was lost", async (context) => {
  const { store, proxy } = await openThroughProxy(context);
  await store.counters.set("key", "old");
  proxy.swallowAnswers();

  const failure = await store.counters.set("key", "new").catch(identity);
  proxy.heal();

  expect(failure).toMatchObject({ code: "store-unavailable", details: { mayBeWritten: true } });
  expect((await store.counters.get("key"))?.value).toBe("new");
});

test("redisStore() gives up on a server that has gone without a word, and goes on when it is back", async (context) => {
  const { store, proxy } = await openThroughProxy(context);
  const { counters: kv } = store;
  await kv.set("key", 1);
  proxy.blackHole();

  const failures = await Promise.all([kv.set("key", 2), kv.get("key"), kv.list()].map((call) => call.catch(identity)));
  const later = await kv.get("key").catch(identity);
  proxy.heal();

  for (const failure of [...failures, later]) expect(failure).toMatchObject({ code: "store-unavailable" });
  expect(String(failures[0])).toContain("it has not answered for 1500 ms");
  expect((await kv.get("key"))?.value).toBe(1);
});

test.for(["reset", "halfClose"] as const)(
  "redisStore() goes on after %s of its connections",
  async (fault, context) => {
    const { store, proxy } = await openThroughProxy(context);
    await store.counters.set("key", 1);

    proxy[fault]();
    await store.counters.get("key").catch(identity);

    expect((await store.counters.get("key"))?.value).toBe(1);
  },
);

test("close() ends also when the server has gone without a word", async (context) => {
  const { store, proxy } = await openThroughProxy(context);
  const writing = store.counters.set("key", 1).catch(identity);
  proxy.blackHole();

  await store.close();

  expect(await writing).toSatisfy((answer) => typeof answer === "number" || isKitbagError(answer, "store-unavailable"));
});

test("tails wake those who follow in other processes, also after the server was killed", async (context) => {
  const server = await findServer(context);
  const { log } = memoryStore();
  const prefix = `tails-${prefixes}:`;
  // Two processes that share a log without notices of its own.
  const [one, two] = await Promise.all(
    [1, 2].map(async () => {
      const redis = await redisStore({ url: server.url, prefix, timeoutMs: 10_000 });
      const store = combineStores({ ...memoryStore(), log }, { tails: redis.tails, close: redis.close });
      onTestFinished(() => store.close());
      return store;
    }),
  );
  const seen: unknown[] = [];
  const reader = (async () => {
    for await (const { value } of two?.log.tail("stream") ?? []) if (seen.push(value) === 4) break;
  })();

  await one?.log.append("stream", ["a", "b"]);
  while (seen.length < 2) await sleep(10);
  await server.crash();
  await one?.log.append("stream", ["c"]);
  await server.start();
  await one?.log.append("stream", ["d"]);
  await reader;

  expect(seen).toEqual(["a", "b", "c", "d"]);
});

async function untilMore(list: readonly unknown[]): Promise<void> {
  const { length } = list;
  while (list.length < length + 50) await sleep(10);
}

async function open(url: string, timeoutMs = 1500): Promise<RedisStore> {
  prefixes += 1;
  const store = await redisStore({ url, prefix: `faults-${prefixes}:`, timeoutMs });
  onTestFinished(() => store.close());
  return store;
}

async function openThroughProxy(context: TestContext): Promise<{ store: RedisStore; proxy: TcpProxy }> {
  const server = await findServer(context);
  const proxy = await startTcpProxy(server.port);
  onTestFinished(() => proxy.close());
  return { store: await open(server.url.replace(String(server.port), String(proxy.port))), proxy };
}

function identity<Value>(value: Value): Value {
  return value;
}
