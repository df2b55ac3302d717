import { inspect } from "node:util";

import { expect, onTestFinished, test, vi, type TestContext } from "vitest";

import { shareRedis, type RedisServer } from "../../../test/support/redis.ts";
import { isKitbagError } from "../../core/errors.ts";
import { storeConformance } from "../../testing/store-conformance.ts";
import { redisStore, type RedisStore, type RedisStoreOptions } from "./redis-store.ts";

const findServer = shareRedis();
const findForgetful = shareRedis({ appendonly: "no", appendfsync: "everysec", "maxmemory-policy": "allkeys-lru" });
let url = "";
let prefixes = 0;

const conformance = storeConformance(
  async () => {
    const { counters, close } = await redisStore({ url, prefix: nextPrefix(), timeoutMs: 20_000 });
    return { kv: counters, close };
  },
  { parts: ["kv"] },
);

test.for(conformance)("$name", async (check, context) => {
  ({ url } = await findServer(context));
  await check.run();
});

test.for([
  { url: undefined },
  { url: "" },
  { url: "http://localhost" },
  { url: "localhost:6379" },
  { url: "redis://localhost", prefix: 5 },
  { url: "redis://localhost", prefix: "\ud800" },
  { url: "redis://localhost", mayForget: true },
  { url: "redis://localhost", timeoutMs: 0 },
])("redisStore() refuses the options %j", async (options) => {
  await expect(redisStore(options as unknown as RedisStoreOptions)).rejects.toMatchObject({ code: "option-invalid" });
});

test("redisStore() refuses a server that may forget, and says how to change it", async (context) => {
  const server = await findForgetful(context);

  const failure = await redisStore({ url: server.url }).catch((cause: unknown) => cause);

  expect(String(failure).replace(String(server.port), "PORT")).toBe(
    'KitbagError: Cannot keep anything in the store "redis://127.0.0.1:PORT": it may forget what it has acknowledged ' +
      "(appendonly is no; maxmemory-policy is allkeys-lru; appendfsync is everysec); set appendonly yes, " +
      "maxmemory-policy noeviction, appendfsync always on the server, or say with mayForget what may be lost",
  );
});

test("redisStore() takes a server that writes a little later if the last seconds may be lost", async (context) => {
  const server = await findServer(context);
  await send(server, ["CONFIG", "SET", "appendfsync", "everysec"]);
  onTestFinished(async () => void (await send(server, ["CONFIG", "SET", "appendfsync", "always"])));

  await expect(redisStore({ url: server.url })).rejects.toMatchObject({
    code: "store-unsafe",
    details: { reasons: ["appendfsync is everysec"] },
  });
  await open(server, { mayForget: "seconds" });
});

test("redisStore() takes a server that may forget everything if it is told to", async (context) => {
  const { counters: kv } = await open(await findForgetful(context), { mayForget: "everything" });

  await kv.set("key", 1);

  expect((await kv.get("key"))?.value).toBe(1);
});

test("redisStore() refuses a server that does not tell whether it forgets", async (context) => {
  const server = await findServer(context);
  const user = ["some", "body"].join("");
  await send(server, ["ACL", "SETUSER", user, "on", `>${user}`, "~*", "&*", "+@all", "-config"]);

  const opening = redisStore({ url: server.url.replace(`:${server.password}`, `${user}:${user}`) });

  await expect(opening).rejects.toMatchObject({
    code: "store-unsafe",
    details: { reasons: ["appendonly is not told", "maxmemory-policy is not told", "appendfsync is not told"] },
  });
});

test("redisStore() never shows the password", async (context) => {
  const { url: right, password, port } = await findServer(context);
  const wrong = ["quite", "secret", "too"].join("-");
  const addresses = [
    right.replace(password, wrong),
    right.replace(String(port), "1"),
    right.replace("redis:", "http:"),
  ];

  const failures = await Promise.all(addresses.map((address) => redisStore({ url: address }).catch(identity)));

  expect(failures.map((failure) => isKitbagError(failure) && failure.code)).toEqual([
    "store-unavailable",
    "store-unavailable",
    "option-invalid",
  ]);
  const shown = inspect(failures, { depth: Infinity, showHidden: true }) + JSON.stringify(failures);
  expect(shown).not.toContain(password);
  expect(shown).not.toContain(wrong);
});

test("redisStore() keeps stores with different prefixes apart", async (context) => {
  const server = await findServer(context);
  const [one, two] = [await open(server), await open(server)];

  await one.counters.set("key", 1);

  expect(await two.counters.get("key")).toBeUndefined();
  expect(await two.counters.list()).toEqual([]);
});

test("set() never gives a version again, also when the server has forgotten everything", async (context) => {
  const server = await findForgetful(context);
  const { counters: kv } = await open(server, { mayForget: "everything" });
  const before = await kv.set("key", "before");
  await send(server, ["FLUSHALL"]);

  const after = await kv.set("key", "after");

  expect(after).toBeGreaterThan(before);
  await expect(kv.set("key", "wrong", { ifVersion: before })).rejects.toMatchObject({ code: "store-conflict" });
});

test("set() takes out the names of keys that have expired", async (context) => {
  const server = await findServer(context);
  const prefix = nextPrefix();
  const { counters: kv } = await open(server, { prefix });
  for (let index = 0; index < 20; index++) await kv.set(`key-${index}`, 1, { expiresInMs: 1 });

  await vi.waitUntil(
    async () => {
      await kv.set("kept", 1);
      return (await send(server, ["ZCARD", `${prefix}keys`])) === 1;
    },
    { timeout: 20_000, interval: 10 },
  );

  expect(await send(server, ["ZCARD", `${prefix}expiring`])).toBe(0);
});

test("kv of several processes loses nothing", async (context) => {
  const server = await findServer(context);
  const prefix = nextPrefix();
  const stores = await Promise.all(Array.from({ length: 4 }, () => open(server, { prefix })));

  const versions = await Promise.all(
    stores.flatMap(({ counters: kv }, writer) =>
      Array.from({ length: 25 }, async () => {
        await kv.increment("count");
        return kv.set("key", writer);
      }),
    ),
  );

  expect((await stores[0]?.counters.get("count"))?.value).toBe(100);
  expect(new Set(versions).size).toBe(100);
});

test("redisStore() goes by the clock of the server, whatever that of the process says", async (context: TestContext) => {
  const { counters: kv } = await open(await findServer(context));
  vi.useFakeTimers({ toFake: ["Date"], now: new Date(0) });
  onTestFinished(() => void vi.useRealTimers());

  await kv.set("key", 1, { expiresInMs: 3_600_000 });
  vi.setSystemTime(new Date("2200-01-01"));

  expect((await kv.get("key"))?.value).toBe(1);
});

async function open(server: RedisServer, options: Partial<RedisStoreOptions> = {}): Promise<RedisStore> {
  const store = await redisStore({ url: server.url, prefix: nextPrefix(), timeoutMs: 10_000, ...options });
  onTestFinished(() => store.close());
  return store;
}

async function send(server: RedisServer, command: string[]): Promise<unknown> {
  const { createClient } = await import("redis");
  const client = createClient({ url: server.url });
  await client.connect();
  const answer: unknown = await client.sendCommand(command);
  await client.close();
  return answer;
}

function identity<Value>(value: Value): Value {
  return value;
}

function nextPrefix(): string {
  prefixes += 1;
  return `test-${prefixes}:`;
}
