import { setTimeout as sleep } from "node:timers/promises";

import { expect, onTestFinished, test, type TestContext } from "vitest";

import { sharePostgres, type PostgresServer } from "../../../test/support/postgres.ts";
import { startTcpProxy, type TcpProxy } from "../../../test/support/tcp-proxy.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { postgresStore } from "./postgres-store.ts";

const findServer = sharePostgres();
let schemas = 0;

test("postgresStore() loses nothing that it acknowledged when the server crashes, and goes on without being opened anew", async (context) => {
  const server = await findServer(context);
  const store = await open(server, { timeoutMs: 10_000 });
  const acknowledged: number[] = [];
  const doubtful: number[] = [];
  const over = new AbortController();
  const writer = (async () => {
    for (let value = 0; !over.signal.aborted; value++) {
      const wrote = await store.log.append("stream", [value]).catch((cause: unknown) => cause);
      if (typeof wrote === "number") acknowledged.push(value);
      else if (!isKitbagError(wrote, "store-unavailable")) throw wrote;
      else if (wrote.details.mayBeWritten) doubtful.push(value);
      if (typeof wrote !== "number") await sleep(20);
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

  const kept = (await store.log.read("stream", { limit: 1_000_000 })).map(({ position, value }) => [position, value]);

  const values = kept.map(([, value]) => value as number);
  expect(kept.map(([position]) => position)).toEqual(values.map((_, index) => index + 1));
  expect(values).toEqual(values.toSorted((left, right) => left - right));
  expect(acknowledged.filter((value) => !values.includes(value))).toEqual([]);
  expect(values.filter((value) => !acknowledged.includes(value) && !doubtful.includes(value))).toEqual([]);
});

test("postgresStore() says that a write may be kept whose answer was lost", async (context) => {
  const { store, proxy } = await openThroughProxy(context);
  await store.kv.set("key", "old");
  proxy.swallowAnswers();

  const failure = await store.kv.set("key", "new").catch((cause: unknown) => cause);
  proxy.heal();

  expect(failure).toMatchObject({ code: "store-unavailable", details: { mayBeWritten: true } });
  expect((await store.kv.get("key"))?.value).toBe("new");
});

test("postgresStore() says that nothing was written when it could not even connect", async (context) => {
  const server = await findServer(context);
  const store = await open(server);
  await store.kv.set("key", "old");
  await server.crash();

  const failures = await failuresOf(everyCall(store));
  await server.start();

  expect(failures.filter((failure) => !isKitbagError(failure, "store-unavailable"))).toEqual([]);
  expect(
    failures.map((failure) => isKitbagError(failure, "store-unavailable") && failure.details.mayBeWritten),
  ).toEqual(failures.map(() => false));
  expect((await store.kv.get("key"))?.value).toBe("old");
});

test("postgresStore() gives up on a server that has gone without a word, and goes on when it is back", async (context) => {
  const { store, proxy } = await openThroughProxy(context);
  await Promise.all(everyCall(store));
  proxy.blackHole();

  const failures = await failuresOf(everyCall(store));
  const later = await failuresOf(everyCall(store));
  proxy.heal();
  await Promise.all(everyCall(store));

  for (const failure of [...failures, ...later]) expect(failure).toMatchObject({ code: "store-unavailable" });
  expect(String(failures[0])).toContain("it has not answered for 1500 ms");
});

test("postgresStore() waits for a server that answers late", async (context) => {
  const { store, proxy } = await openThroughProxy(context);
  proxy.delay(200);

  await Promise.all(everyCall(store));

  expect(await store.log.position("stream")).toBe(1);
});

test("postgresStore() has the patience for values that take longer than it waits for a word", async (context) => {
  const { store, proxy } = await openThroughProxy(context);
  const value = "x".repeat(3_000_000);
  // They take some three seconds each way.
  proxy.trickle(50_000);

  await store.kv.set("large", value);
  const found = await store.kv.get("large");

  expect(found?.value === value).toBe(true);
});

test.for(["reset", "halfClose"] as const)(
  "postgresStore() goes on after %s of its connections",
  async (fault, context) => {
    const { store, proxy } = await openThroughProxy(context);
    await Promise.all(everyCall(store));

    proxy[fault]();
    await failuresOf(everyCall(store));
    await Promise.all(everyCall(store));

    expect(await store.log.position("stream")).toBeGreaterThanOrEqual(2);
  },
);

test("tail() goes on where it was when the server was away, and shows every entry once", async (context) => {
  const server = await findServer(context);
  const store = await open(server, { timeoutMs: 10_000 });
  const seen: unknown[] = [];
  const reader = (async () => {
    for await (const { position } of store.log.tail("stream")) if (seen.push(position) === 30) break;
  })();
  for (let round = 0; round < 3; round++) {
    if (round > 0) await server.crash();
    if (round > 0) await server.start();
    for (let count = 0; count < 10; count++) await append(store, [round]);
  }

  await reader;

  expect(seen).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
});

test("tail() shows what is appended also when the connection is cut on which it listens", async (context) => {
  const server = await findServer(context);
  const schema = nextSchema();
  const store = await open(server, { schema });
  const other = await open(server, { schema });
  const tail = store.log.tail("stream")[Symbol.asyncIterator]();
  const first = tail.next();
  await other.log.append("stream", ["a"]);
  await first;
  const second = tail.next();
  await query(
    server,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query LIKE '%ANY($1::text[])%' AND pid <> pg_backend_pid()",
  );
  await other.log.append("stream", ["b"]);

  expect(await second).toMatchObject({ value: { position: 2, value: "b" } });
});

test("tail() shows what nobody told it of", async (context) => {
  const server = await findServer(context);
  const schema = nextSchema();
  const store = await open(server, { schema });
  const tail = store.log.tail("stream")[Symbol.asyncIterator]();
  const first = tail.next();
  await store.log.append("stream", ["a"]);
  await first;
  const second = tail.next();
  // As another process would write it, but without its notice.
  await query(server, `INSERT INTO ${schema}.entries SELECT id, 2, 0, '"b"' FROM ${schema}.streams`);
  await query(server, `UPDATE ${schema}.streams SET position = 2`);

  expect(await second).toMatchObject({ value: { position: 2, value: "b" } });
});

test("tail() rejects at its beginning when the server is away", async (context) => {
  const { store, proxy } = await openThroughProxy(context);
  proxy.blackHole();

  const first = store.log.tail("stream")[Symbol.asyncIterator]().next();

  await expect(first).rejects.toMatchObject({ code: "store-unavailable", details: { mayBeWritten: false } });
});

test("close() ends also when the server has gone without a word", async (context) => {
  const { store, proxy } = await openThroughProxy(context);
  const writing = store.kv.set("key", 1).catch((cause: unknown) => cause);
  proxy.blackHole();

  await store.close();

  expect(await writing).toSatisfy((answer) => answer === 1 || isKitbagError(answer, "store-unavailable"));
});

/** One call of each kind. */
function everyCall(store: Store): Promise<unknown>[] {
  const queue = store.queue("jobs");
  return [
    store.kv.set("called", 1),
    store.kv.get("called"),
    store.kv.increment("count"),
    store.kv.list(),
    store.log.append("stream", [1]),
    store.log.read("stream"),
    store.blobs.put(Buffer.from(`blob ${Math.random()}`)),
    store.blobs.list(),
    queue.add("job"),
    queue.count(),
  ];
}

async function failuresOf(calls: readonly Promise<unknown>[]): Promise<unknown[]> {
  const results = await Promise.allSettled(calls);
  return results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
}

/** Appends, whatever it takes. */
async function append(store: Store, values: readonly string[] | readonly number[]): Promise<void> {
  for (;;) {
    const position = await store.log.position("stream").catch(() => undefined);
    if (position === undefined) continue;
    const wrote = await store.log.append("stream", values, { expectedPosition: position }).catch(() => undefined);
    if (wrote !== undefined) return;
  }
}

async function untilMore(list: readonly unknown[]): Promise<void> {
  const { length } = list;
  while (list.length < length + 20) await sleep(10);
}

async function open(server: { url: string }, options: { schema?: string; timeoutMs?: number } = {}): Promise<Store> {
  const store = await postgresStore({ url: server.url, schema: nextSchema(), ...options });
  onTestFinished(() => store.close());
  return store;
}

async function openThroughProxy(context: TestContext): Promise<{ store: Store; proxy: TcpProxy }> {
  const server = await findServer(context);
  const proxy = await startTcpProxy(server.port);
  onTestFinished(() => proxy.close());
  const store = await open({ url: server.url.replace(String(server.port), String(proxy.port)) });
  return { store, proxy };
}

async function query(server: PostgresServer, text: string): Promise<void> {
  const { Client } = await import("pg");
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query(text);
  await client.end();
}

function nextSchema(): string {
  schemas += 1;
  return `faults_${schemas}`;
}
