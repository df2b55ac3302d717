import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, onTestFinished, test } from "vitest";

import type { LogStore, Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { sqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { type AuditEntry, emptyHead } from "./audit-entry.ts";
import { type AuditKeys, loadAuditKeys } from "./audit-keys.ts";
import { readAudit } from "./export-audit.ts";
import { type AuditAppender, createAppender, openAudit } from "./open-audit.ts";
import { verifyAudit } from "./verify-audit.ts";

test("append() on SQLite writes the entries with everything else of the same turn, in one transaction", async () => {
  const { file, store, audit } = await openSqlite();
  const watcher = new DatabaseSync(file, { readOnly: true });
  const readCounts = watcher.prepare("SELECT count(*) AS count FROM entries");
  const counts: unknown[] = [];
  const look = (): void => void counts.push(readCounts.get()?.["count"]);

  await Promise.all([
    store.log.append("calls", ["a"]).then(look),
    audit.append(entry(1)).then(look),
    audit.append(entry(2)).then(look),
    store.log.append("calls", ["b"]).then(look),
  ]);
  watcher.close();

  expect(counts).toEqual([4, 4, 4, 4]);
});

test("append() on SQLite makes one chain with other connections to the file", async () => {
  const { file, files, store, audit } = await openSqlite();
  const others = await Promise.all([sqliteStore({ file }), sqliteStore({ file })]);
  const audits = [audit, ...(await Promise.all(others.map((other) => openAudit({ store: other, ...files }))))];

  await Promise.all(
    audits.map(async (one, writer) => {
      for (let count = 0; count < 30; count++) await one.append(entry(writer * 100 + count));
    }),
  );

  expect(new Set(await callsOf(store)).size).toBe(90);
  expect(await verifyAudit(store, files)).toMatchObject({ ok: true, count: 90, anchored: 90 });
  await Promise.all(others.map((other) => other.close()));
});

test("append() on SQLite rejects alone if somebody changed the end of the chain", async () => {
  const { store, audit } = await openSqlite();
  await audit.append(entry(1));
  await store.log.append("audit", [{ forged: true }]);

  const [audited, other] = await Promise.allSettled([audit.append(entry(2)), store.log.append("calls", ["a"])]);

  expect(audited).toMatchObject({ status: "rejected", reason: { code: "audit-broken", details: { position: 2 } } });
  expect(other).toMatchObject({ status: "fulfilled", value: 1 });
  expect(await store.log.position("audit")).toBe(2);
});

test("append() on SQLite goes on behind no end that was cut off", async () => {
  const { file, store, audit } = await openSqlite();
  await Promise.all([1, 2, 3].map((count) => audit.append(entry(count))));
  const knife = new DatabaseSync(file);
  knife.exec("DELETE FROM entries WHERE position = 3");
  knife.close();

  await expect(audit.append(entry(4))).rejects.toMatchObject({ code: "audit-broken", details: { position: 3 } });
  expect(await callsOf(store)).toEqual(["c1", "c2"]);
});

test("append() on SQLite goes on behind no end that was cut off, though only another process knew it", async () => {
  const { file, files, store, audit } = await openSqlite();
  const other = await sqliteStore({ file });
  const second = await openAudit({ store: other, ...files });
  for (const count of [1, 2, 3]) await second.append(entry(count));
  await second.close();
  await other.close();
  const knife = new DatabaseSync(file);
  knife.exec("DELETE FROM entries WHERE position > 1");
  knife.close();

  await expect(audit.append(entry(4))).rejects.toMatchObject({ code: "audit-broken", details: { position: 2 } });
  expect(await verifyAudit(store, files)).toMatchObject({ ok: false, problem: "cut-off" });
});

test("append() of two audits on one SQLite store goes on after a transaction that came to nothing", async () => {
  const { file, files, store, audit } = await openSqlite();
  const second = await openAudit({ store, ...files });
  const breaker = new DatabaseSync(file);
  breaker.exec(
    `CREATE TRIGGER broken BEFORE INSERT ON entries WHEN new.value LIKE '%"c3"%' BEGIN SELECT RAISE(ABORT, 'x'); END`,
  );

  const settled = await Promise.allSettled([audit.append(entry(1)), second.append(entry(2)), audit.append(entry(3))]);
  breaker.exec("DROP TRIGGER broken");
  breaker.close();
  await Promise.all([second.append(entry(4)), audit.append(entry(5))]);

  expect(settled.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
  expect(await callsOf(store)).toHaveLength(3);
  expect(await verifyAudit(store, files)).toMatchObject({ ok: true, count: 3, anchored: 3 });
});

test("append() on a log that is only a log goes on behind no end that was cut off", async () => {
  const stores = [memoryStore(), memoryStore()] as const;
  let log = stores[0].log;
  const around: LogStore = {
    ...log,
    position: (...options) => log.position(...options),
    read: (...options) => log.read(...options),
    append: (...options) => log.append(...options),
  };
  const key = randomBytes(32);
  const appender = createAppender(await toParts(around, key), emptyHead);
  await appender.append(entry(1));
  const [first] = await log.read("audit");
  await appender.append(entry(2));
  await stores[1].log.append("audit", [first?.value ?? null]);
  log = stores[1].log;

  await expect(appender.append(entry(3))).rejects.toMatchObject({ code: "audit-broken", details: { position: 2 } });
  expect(await callsOf(stores[1])).toEqual(["c1"]);
});

test("append() on SQLite waits while another connection holds the file", async () => {
  const { file, files, store, audit } = await openSqlite();
  const holder = new DatabaseSync(file);
  holder.exec("BEGIN IMMEDIATE");

  const first = audit.append(entry(1));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const second = audit.append(entry(2));
  holder.exec("COMMIT");
  holder.close();
  await Promise.all([first, second]);

  expect(await callsOf(store)).toEqual(["c1", "c2"]);
  expect(await verifyAudit(store, files)).toMatchObject({ ok: true, count: 2, anchored: 2 });
});

test("append() on SQLite rejects when the store is closed", async () => {
  const { store, audit } = await openSqlite();
  await store.close();

  await expect(audit.append(entry(1))).rejects.toMatchObject({ code: "store-closed" });
});

test("append() on SQLite chains behind what was written although it failed", async () => {
  let isLying = true;
  const { appender, store, keys } = await openChained(async (append, ...given) => {
    const position = await append(...given);
    if (isLying) throw new Error("the answer was lost");
    return position;
  });

  await expect(appender.append(entry(1))).rejects.toThrow("the answer was lost");
  isLying = false;
  await appender.append(entry(2));

  expect(await callsOf(store)).toEqual(["c1", "c2"]);
  expect(await verifyAudit(store, { key: keys })).toMatchObject({ ok: true, count: 2 });
});

test("append() that cannot be written rejects those of its turn, and tries the later ones", async () => {
  let tries = 0;
  const { appender, store } = await openChained(async (append, ...given) => {
    tries += 1;
    if (tries > 1) return append(...given);
    await new Promise((resolve) => setTimeout(resolve, 20));
    throw new Error("the file was locked for too long");
  });

  const early = [appender.append(entry(1)), appender.append(entry(2))];
  await new Promise(setImmediate);
  const late = appender.append(entry(3));
  const settled = await Promise.allSettled([...early, late]);

  expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  expect(await callsOf(store)).toEqual(["c3"]);
});

test.for<[string, () => Promise<AuditAppender & { readonly store: Store }>]>([
  ["SQLite", async () => openChained().then(({ appender, store }) => ({ ...appender, store }))],
  ["a log that is only a log", async () => openPlain()],
])("append() on %s refuses an entry that is not JSON, and keeps those of the same turn", async ([, open]) => {
  const { append, store } = await open();
  const cycle: Record<string, unknown> = { ...entry(3) };
  cycle["self"] = cycle;

  const settled = await Promise.allSettled([
    append(entry(1)),
    append({ ...entry(2), time: Number.NaN }),
    append(cycle as unknown as AuditEntry),
    append(JSON.parse('{"type":"begin","__proto__":1}') as AuditEntry),
    append(entry(5)),
  ]);

  const refused = { status: "rejected", reason: { code: "store-value-invalid" } };
  expect(settled).toMatchObject([{ status: "fulfilled" }, refused, refused, refused, { status: "fulfilled" }]);
  expect(await callsOf(store)).toEqual(["c1", "c5"]);
});

test("append() takes 1,000 entries at a time", async () => {
  const { appender, store, keys, inOneWrite } = await openChained();

  await Promise.all(Array.from({ length: 2500 }, (_, index) => appender.append(entry(index))));

  expect(inOneWrite).toEqual([1000, 1000, 500]);
  expect(await verifyAudit(store, { key: keys })).toMatchObject({ ok: true, count: 2500 });
});

test("append() chains entries whose keys JavaScript puts into an order of its own", async () => {
  const { appender, store, keys } = await openChained();
  const odd = { ...entry(2), permissions: { 10: "a", 9: "b" } } as unknown as AuditEntry;

  await Promise.all([entry(1), odd, entry(3)].map(appender.append));

  expect(await verifyAudit(store, { key: keys })).toMatchObject({ ok: true, count: 3 });
});

function entry(count: number): AuditEntry {
  return { type: "begin", call: `c${count}`, tool: "echo", time: 1_700_000_000_000 + count };
}

async function makePlace(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "kitbag-audit-"));
  onTestFinished(() => rm(home, { recursive: true }));
  return home;
}

async function openSqlite() {
  const home = await makePlace();
  const file = join(home, "kitbag.db");
  const files = { keyFile: join(home, "audit.key"), anchorFile: join(home, "audit.head") };
  const store = await sqliteStore({ file });
  onTestFinished(() => store.close());
  return { file, files, store, audit: await openAudit({ store, ...files }) };
}

type Append = LogStore["append"];
type Around = (append: Append, ...parameters: Parameters<Append>) => ReturnType<Append>;

/** An appender without an anchor on SQLite, with something around what writes. `inOneWrite` says how many entries went together. */
async function openChained(around: Around = (append, ...given) => append(...given)) {
  const store = await sqliteStore({ file: join(await makePlace(), "kitbag.db") });
  onTestFinished(() => store.close());
  const inOneWrite: number[] = [];
  const { append } = store.log;
  const log: LogStore = {
    ...store.log,
    append(...given) {
      inOneWrite.push(given[1].length);
      return around(append, ...given);
    },
  };
  const key = randomBytes(32);
  return { store, keys: key, inOneWrite, appender: createAppender(await toParts(log, key), emptyHead) };
}

async function openPlain(): Promise<AuditAppender & { readonly store: Store }> {
  const store = memoryStore();
  return { ...createAppender(await toParts(store.log, randomBytes(32)), emptyHead), store };
}

async function toParts(
  log: LogStore,
  key: Uint8Array,
): Promise<{ readonly log: LogStore; readonly keys: AuditKeys; readonly anchor: undefined }> {
  return { log, keys: await loadAuditKeys({ key }, false), anchor: undefined };
}

async function callsOf(store: Store): Promise<string[]> {
  const calls: string[] = [];
  for await (const line of readAudit(store)) if (line.type !== "set-aside") calls.push(line.call);
  return calls;
}
