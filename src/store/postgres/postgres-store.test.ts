import { inspect } from "node:util";

import { afterEach, expect, onTestFinished, test, vi } from "vitest";

import { sharePostgres, type PostgresServer } from "../../../test/support/postgres.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { storeConformance } from "../../testing/store-conformance.ts";
import { postgresStore, type PostgresStoreOptions } from "./postgres-store.ts";

// Nothing here depends on what a loss of power would leave: no need to wait for the disk.
const findServer = sharePostgres({ fsync: "off" });
let url = "";
let schemas = 0;

const conformance = storeConformance(() => postgresStore({ url, schema: nextSchema(), timeoutMs: 20_000 }));

afterEach(() => {
  vi.useRealTimers();
});

test.for(conformance)("$name", async (check, context) => {
  ({ url } = await findServer(context));
  await check.run();
});

test.for([
  { url: undefined },
  { url: "" },
  { url: "mysql://localhost/db" },
  { url: "localhost:5432" },
  { url: "postgres://localhost/db", schema: "" },
  { url: "postgres://localhost/db", schema: "Upper" },
  { url: "postgres://localhost/db", schema: 'a"; DROP SCHEMA public; --' },
  { url: "postgres://localhost/db", schema: "x".repeat(42) },
  { url: "postgres://localhost/db", timeoutMs: 0 },
])("postgresStore() refuses the options %j", async (options) => {
  await expect(postgresStore(options as PostgresStoreOptions)).rejects.toMatchObject({ code: "option-invalid" });
});

test("postgresStore() makes its tables once, however many open it at the same time", async (context) => {
  const server = await findServer(context);
  const schema = nextSchema();

  const stores = await Promise.all(Array.from({ length: 5 }, () => open(server, { schema })));
  await Promise.all(stores.map((store) => store.kv.increment("key")));

  expect((await stores[0]?.kv.get("key"))?.value).toBe(5);
  expect(await query(server, `SELECT version FROM ${schema}.schema_version`)).toEqual([{ version: 1 }]);
});

test("postgresStore() takes a schema with a name that SQL uses itself", async (context) => {
  const store = await open(await findServer(context), { schema: "select" });

  await store.kv.set("key", 1);

  expect((await store.kv.get("key"))?.value).toBe(1);
});

test("postgresStore() refuses tables that a newer version made, and leaves them alone", async (context) => {
  const server = await findServer(context);
  const schema = nextSchema();
  await (await open(server, { schema })).kv.set("key", 1);
  await query(server, `UPDATE ${schema}.schema_version SET version = 99`);

  const opening = postgresStore({ url: server.url, schema });

  await expect(opening).rejects.toMatchObject({ code: "store-newer", details: { version: 99, newest: 1 } });
  expect(await query(server, `SELECT value FROM ${schema}.kv`)).toEqual([{ value: "1" }]);
});

test("postgresStore() makes all of its tables or none", async (context) => {
  const server = await findServer(context);
  const schema = nextSchema();
  await query(server, `CREATE SCHEMA ${schema}`);
  await query(server, `CREATE TABLE ${schema}.jobs (mine integer)`);

  await expect(postgresStore({ url: server.url, schema })).rejects.toMatchObject({
    code: "store-unavailable",
    details: { reason: 'relation "jobs" already exists', mayBeWritten: false },
  });

  const tables = await query(server, `SELECT tablename FROM pg_tables WHERE schemaname = '${schema}'`);
  expect(tables).toEqual([{ tablename: "jobs" }]);
});

test("postgresStore() refuses a database that cannot keep every text", async (context) => {
  const server = await findServer(context);
  await query(server, "CREATE DATABASE latin ENCODING LATIN1 TEMPLATE template0");

  await expect(postgresStore({ url: server.url.replace(/postgres$/u, "latin") })).rejects.toThrow(
    /^Cannot use the store "postgresql:\/\/127\.0\.0\.1:\d+\/latin": the database keeps texts as LATIN1; use a database/u,
  );
});

test("postgresStore() never shows the password", async (context) => {
  const { url: right, password, port } = await findServer(context);
  const wrong = ["quite", "secret", "too"].join("-");
  const addresses = [
    right.replace(password, wrong),
    right.replace(/postgres$/u, "nothing"),
    right.replace(String(port), "1"),
    right.replace("127.0.0.1", "not a host"),
    right.replace("postgresql:", "mysql:"),
    `${right}?sslmode=verify-full`,
  ];

  const failures = await Promise.all(addresses.map((address) => postgresStore({ url: address }).catch(identity)));

  expect(failures.map((failure) => isKitbagError(failure) && failure.code)).toEqual([
    "store-unavailable",
    "store-unavailable",
    "store-unavailable",
    "option-invalid",
    "option-invalid",
    "store-unavailable",
  ]);
  const shown = inspect(failures, { depth: Infinity, showHidden: true }) + JSON.stringify(failures);
  expect(shown).not.toContain(password);
  expect(shown).not.toContain(wrong);
});

test("postgresStore() goes by the clock of the server, whatever that of the process says", async (context) => {
  const store = await open(await findServer(context));
  vi.useFakeTimers({ toFake: ["Date"], now: new Date(0) });

  await store.kv.set("key", 1, { expiresInMs: 3_600_000 });
  await store.log.append("stream", ["a"]);
  await store.queue("jobs").add("job");
  vi.setSystemTime(new Date("2200-01-01"));
  const [entry] = await store.log.read("stream");

  expect((await store.kv.get("key"))?.value).toBe(1);
  expect(entry?.time).toBeGreaterThan(Date.UTC(2024));
  expect(entry?.time).toBeLessThan(Date.UTC(2150));
  expect(await store.queue("jobs").claim({ leaseMs: 1000 })).toHaveLength(1);
});

test("postgresStore() takes out what has expired", async (context) => {
  const server = await findServer(context);
  const schema = nextSchema();
  const store = await open(server, { schema });
  for (const key of ["a", "b", "c"]) await store.kv.set(key, 1, { expiresInMs: 1 });

  await vi.waitUntil(
    async () => {
      await store.kv.set("kept", 1);
      return (await query(server, `SELECT key FROM ${schema}.kv`)).length === 1;
    },
    { timeout: 20_000, interval: 200 },
  );

  expect(await query(server, `SELECT key FROM ${schema}.kv`)).toEqual([{ key: "kept" }]);
});

test("collect() takes out the pieces of blobs that were collected, and of uploads that were never finished", async (context) => {
  const server = await findServer(context);
  const schema = nextSchema();
  const store = await open(server, { schema });
  await store.blobs.put(Buffer.alloc(600_000, "a"));
  await query(server, `INSERT INTO ${schema}.blob_uploads VALUES (999, 0)`);
  await query(server, `INSERT INTO ${schema}.blob_pieces VALUES (999, 0, 'left behind')`);

  const count = await store.blobs.collect(new Set());

  expect(count).toBe(1);
  expect(await query(server, `SELECT * FROM ${schema}.blob_pieces`)).toEqual([]);
});

test("slice() reads across the pieces in which a blob is kept", async (context) => {
  const { blobs } = await open(await findServer(context));
  const bytes = Uint8Array.from({ length: 700_000 }, (_, index) => index % 253);
  const digest = await blobs.put(bytes);

  for (const [offset, length] of [
    [262_143, 2],
    [262_144, 262_144],
    [100, 650_000],
    [524_287, 1_000_000],
  ] as const) {
    const part = await blobs.slice(digest, offset, length);
    expect(Buffer.compare(part ?? Buffer.of(), bytes.slice(offset, offset + length))).toBe(0);
  }
});

async function open(server: PostgresServer, options: Partial<PostgresStoreOptions> = {}): Promise<Store> {
  const store = await postgresStore({ url: server.url, schema: nextSchema(), timeoutMs: 10_000, ...options });
  onTestFinished(() => store.close());
  return store;
}

async function query(server: PostgresServer, text: string): Promise<unknown[]> {
  const { Client } = await import("pg");
  const client = new Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(text);
  await client.end();
  return rows;
}

function identity<Value>(value: Value): Value {
  return value;
}

function nextSchema(): string {
  schemas += 1;
  return `test_${schemas}`;
}
