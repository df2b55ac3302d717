import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { LogEntry, Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { AuditEntry, AuditLine } from "./audit-entry.ts";
import { exportAudit, readAudit } from "./export-audit.ts";
import { openAudit, type Audit } from "./open-audit.ts";
import { anchorAudit, verifyAudit, verifyAuditLines } from "./verify-audit.ts";

test("openAudit() chains the entries: each holds the hash of the one before it", async () => {
  const { store, files } = await makeChain(3);

  const lines = await readLines(store);

  expect(lines.map(({ position }) => position)).toEqual([1, 2, 3]);
  expect(lines[0]?.previous).toBe("0".repeat(64));
  expect(lines[1]?.previous).toBe(lines[0]?.hash);
  expect(lines[2]?.previous).toBe(lines[1]?.hash);
  expect(await verifyAudit(store, files)).toEqual({ ok: true, count: 3, hash: lines[2]?.hash, anchored: 3 });
});

test("openAudit() makes a key of 32 bytes that only its owner can read, and uses it again", async () => {
  const { store, files } = await makeChain(1);
  const key = await readFile(files.keyFile);

  const again = await openAudit({ store, ...files });
  await again.append(entry(2));
  await again.close();

  expect(key.length).toBe(32);
  expect((await stat(files.keyFile)).mode & 0o777).toBe(0o600);
  expect((await stat(files.anchorFile)).mode & 0o777).toBe(0o600);
  expect(await readFile(files.keyFile)).toEqual(key);
  expect(await verifyAudit(store, files)).toMatchObject({ ok: true, count: 2 });
});

test("openAudit() makes one key when several open at once", async () => {
  const files = await makeFiles();
  const stores = Array.from({ length: 5 }, () => memoryStore());

  const audits = await Promise.all(
    stores.map((store, index) => openAudit({ store, ...files, anchorFile: `${files.anchorFile}${index}` })),
  );

  expect(new Set(audits.map((audit) => audit.digest("x"))).size).toBe(1);
  await Promise.all(audits.map((audit) => audit.close()));
});

test("openAudit() makes no new key where one was deleted that an audit was written with", async () => {
  const { store, files } = await makeChain(1);
  await rm(files.keyFile);

  await expect(openAudit({ store, ...files })).rejects.toMatchObject({ code: "audit-key-invalid" });
  await expect(stat(files.keyFile)).rejects.toMatchObject({ code: "ENOENT" });
});

test("openAudit() refuses a key that is short, or that others can read", async () => {
  const { store, files } = await makeChain(1);
  await chmod(files.keyFile, 0o644);

  await expect(openAudit({ store, ...files })).rejects.toMatchObject({ code: "audit-key-invalid" });
  await writeFile(files.keyFile, "short");
  await chmod(files.keyFile, 0o600);
  await expect(openAudit({ store, ...files })).rejects.toMatchObject({ code: "audit-key-invalid" });
  await expect(openAudit({ store, key: Buffer.alloc(5), anchorFile: files.anchorFile })).rejects.toMatchObject({
    code: "audit-key-invalid",
  });
});

test("append() keeps entries of one turn together, in their order", async () => {
  const { audit, store, files, appends } = await open();

  await Promise.all(Array.from({ length: 50 }, (_, index) => audit.append(entry(index))));
  await audit.close();

  expect(appends()).toBe(1);
  expect(await readLines(store)).toMatchObject(Array.from({ length: 50 }, (_, index) => ({ call: `c${index}` })));
  expect(await verifyAudit(store, files)).toMatchObject({ ok: true, count: 50, anchored: 50 });
});

test("append() of several writers makes one chain without a gap", async () => {
  const { store, files } = await open();
  const audits = await Promise.all(Array.from({ length: 4 }, () => openAudit({ store, ...files })));

  await Promise.all(
    audits.map(async (audit, writer) => {
      for (let count = 0; count < 50; count++) await audit.append(entry(writer * 100 + count));
    }),
  );
  await Promise.all(audits.map((audit) => audit.close()));

  const calls = (await readLines(store)).map((each) => "call" in each && each.call);
  expect(new Set(calls).size).toBe(200);
  expect(await verifyAudit(store, files)).toMatchObject({ ok: true, count: 200, anchored: 200 });
});

test("append() rejects when the store fails, and goes on when it is back", async () => {
  let isBroken = true;
  const { audit, store, files } = await open(() => {
    if (isBroken) throw new KitbagError("store-closed", { operation: "log.append" });
  });

  await expect(audit.append(entry(1))).rejects.toMatchObject({ code: "store-closed" });
  isBroken = false;
  await audit.append(entry(2));

  expect(await verifyAudit(store, files)).toMatchObject({ ok: true, count: 1 });
});

test("append() chains behind what was written although the store said that it failed", async () => {
  let isLying = true;
  const { audit, store, files } = await open(undefined, () => {
    if (isLying) throw new Error("the answer was lost");
  });

  await expect(audit.append(entry(1))).rejects.toThrow("the answer was lost");
  isLying = false;
  await audit.append(entry(2));

  expect(await verifyAudit(store, files)).toMatchObject({ ok: true, count: 2, anchored: 2 });
});

test("append() rejects when another writer is always faster", async () => {
  const { audit } = await open(() => {
    throw new KitbagError("store-conflict", { where: "audit", expected: "position 0", found: "position 1" });
  });

  await expect(audit.append(entry(1))).rejects.toMatchObject({ code: "store-conflict" });
});

test("append() takes no place in the chain from an entry", async () => {
  const { store, files, audit } = await open();

  await audit.append(Object.assign(entry(1), { position: 7, previous: "x", hash: "y" }));
  await audit.append(entry(2));
  await audit.close();

  expect((await readLines(store)).map(({ position }) => position)).toEqual([1, 2]);
  expect(await verifyAudit(store, files)).toMatchObject({ ok: true, count: 2 });
});

test.each([null, "text", [1], new Map(), new Date(0)])(
  "append() refuses %s, which is no entry, alone",
  async (value) => {
    const { store, files, audit } = await open();

    const refused = audit.append(value as never);
    await audit.append(entry(1));
    await audit.close();

    await expect(refused).rejects.toMatchObject({ code: "store-value-invalid" });
    expect(await verifyAudit(store, files)).toMatchObject({ ok: true, count: 1 });
  },
);

test("append() refuses an entry that throws when it is read", async () => {
  const { audit } = await open();
  const throwing = Object.defineProperty(entry(1), "tool", {
    enumerable: true,
    get() {
      throw new Error("no");
    },
  });

  await expect(audit.append(throwing)).rejects.toMatchObject({ code: "store-value-invalid" });
  await audit.close();
});

test("append() rejects after close()", async () => {
  const { audit } = await open();
  await audit.close();

  await expect(audit.append(entry(1))).rejects.toMatchObject({ code: "store-closed" });
});

test("append() rejects if somebody changed the end of the chain meanwhile", async () => {
  const { audit, store } = await open();
  await audit.append(entry(1));
  await store.log.append("audit", [{ forged: true }]);

  await expect(audit.append(entry(2))).rejects.toMatchObject({ code: "audit-broken", details: { position: 2 } });
});

test("append() acknowledges nothing before the anchor knows it: whatever is cut off later is seen", async () => {
  const { audit, store, files } = await open();

  for (let count = 1; count <= 200; count++) {
    await audit.append(entry(count));
    if (count % 20 > 0) continue;
    const cut = withEntries(store, (lines) => lines.slice(0, -1));

    expect(await verifyAudit(cut, files)).toEqual({ ok: false, count: count - 1, position: count, problem: "cut-off" });
  }
  await audit.close();
});

test("digest() tells values apart, whatever the order of their keys, and says nothing without the key", async () => {
  const { audit } = await open();
  const other = await open();

  expect(audit.digest({ a: 1, b: [2, { c: 3, d: null }] })).toBe(audit.digest({ b: [2, { d: null, c: 3 }], a: 1 }));
  expect(audit.digest({ a: 1 })).not.toBe(audit.digest({ a: 2 }));
  expect(audit.digest("yes")).toMatch(/^hmac-sha256:[\da-f]{64}$/u);
  expect(other.audit.digest("yes")).not.toBe(audit.digest("yes"));
});

type Lines = readonly AuditLine[];

const tampering: readonly (readonly [
  what: string,
  tamper: (lines: Lines) => readonly unknown[],
  position: number,
  problem: string,
])[] = [
  ["changed entry", (lines) => lines.with(4, { ...line(lines, 4), tool: "other" } as AuditLine), 5, "changed"],
  ["changed first entry", (lines) => lines.with(0, { ...line(lines, 0), time: 1 }), 1, "changed"],
  ["changed last entry", (lines) => lines.with(9, { ...line(lines, 9), time: 1 }), 10, "changed"],
  ["changed hash", (lines) => lines.with(4, { ...line(lines, 4), hash: "0".repeat(64) }), 5, "changed"],
  ["changed position", (lines) => lines.with(4, { ...line(lines, 4), position: 6 }), 5, "changed"],
  ["entry with a new field", (lines) => lines.with(4, { ...line(lines, 4), ...{ extra: 1 } }), 5, "changed"],
  ["entry that is no entry", (lines) => [...lines.slice(0, 4), "text", ...lines.slice(5)], 5, "changed"],
  ["entry that is a list", (lines) => [...lines.slice(0, 4), [], ...lines.slice(5)], 5, "changed"],
  ["removed entry", (lines) => lines.toSpliced(4, 1), 5, "removed"],
  ["removed first entry", (lines) => lines.slice(1), 1, "removed"],
  ["three removed entries", (lines) => lines.toSpliced(4, 3), 5, "removed"],
  ["two entries in the wrong order", (lines) => lines.with(4, line(lines, 5)).with(5, line(lines, 4)), 5, "reordered"],
  ["entry that was moved to the end", (lines) => [...lines.toSpliced(2, 1), line(lines, 2)], 3, "reordered"],
  ["inserted entry", (lines) => lines.toSpliced(4, 0, { ...line(lines, 4), hash: "f".repeat(64) }), 5, "inserted"],
  ["repeated entry", (lines) => lines.toSpliced(6, 0, line(lines, 2)), 7, "inserted"],
  ["end that is cut off", (lines) => lines.slice(0, 7), 8, "cut-off"],
  ["chain that is gone", () => [], 1, "cut-off"],
];

test.for(tampering)("R21: verifyAudit() sees a %s", async ([, tamper, position, problem]) => {
  const { store, files } = await makeChain(10);

  const verdict = await verifyAudit(withEntries(store, tamper), files);

  expect(verdict).toEqual({ ok: false, count: position - 1, position, problem });
});

test.for(tampering)("R21: verifyAuditLines() sees a %s in an export", async ([, tamper, position, problem]) => {
  const { store, files } = await makeChain(10);
  const lines = await collect(exportAudit(withEntries(store, tamper)));

  expect(await verifyAuditLines(lines, files)).toEqual({ ok: false, count: position - 1, position, problem });
});

test.for(tampering)("R21: verifyAuditLines() sees a %s in a sealed export, without the anchor", async (row) => {
  const [, tamper, position, problem] = row;
  const { store, files } = await makeChain(10);
  const lines = await collect(exportAudit(store, { keyFile: files.keyFile }));
  const entries = lines.slice(0, -1).map((text) => JSON.parse(text) as AuditLine);
  const tampered = [...tamper(entries).map((value) => JSON.stringify(value)), ...lines.slice(-1)];

  expect(await verifyAuditLines(lines, { keyFile: files.keyFile, sealed: true })).toMatchObject({
    ok: true,
    count: 10,
  });
  expect(await verifyAuditLines(tampered, { keyFile: files.keyFile })).toEqual({
    ok: false,
    count: position - 1,
    position,
    problem,
  });
});

test.for<[what: string, tamper: (lines: string[]) => string[]]>([
  ["has lost its last line", (lines) => lines.slice(0, -1)],
  ["has lost its end", (lines) => lines.slice(0, 2)],
  ["has nothing in it", () => []],
  ["ends with a line of another key", (lines) => lines.map((text) => text.replace(/"seal":"./u, '"seal":"x'))],
  ["ends with a line that counts less", (lines) => lines.map((text) => text.replace('"count":3', '"count":2'))],
])("R21: verifyAuditLines() of a sealed export sees that it %s", async ([, tamper]) => {
  const { store, files } = await makeChain(3);
  const lines = tamper(await collect(exportAudit(store, { keyFile: files.keyFile })));

  const verdict = await verifyAuditLines(lines, { keyFile: files.keyFile, sealed: true });

  expect(verdict).toMatchObject({ ok: false, problem: "cut-off" });
});

test("exportAudit() wants the key that it was told of", async () => {
  const lines = exportAudit(memoryStore(), await makeFiles());

  await expect(lines.next()).rejects.toMatchObject({ code: "audit-key-invalid" });
});

test("R21: verifyAudit() sees every single byte that is flipped in an export", async () => {
  const { store, files } = await makeChain(2);
  const text = (await collect(exportAudit(store))).join("");

  for (let index = 0; index < text.length; index++) {
    const flipped = text.slice(0, index) + String.fromCharCode(text.charCodeAt(index) ^ 1) + text.slice(index + 1);
    const verdict = await verifyAuditLines(flipped.split("\n"), files);

    expect(verdict.ok, `byte ${index}`).toBe(text[index] === "\n" && verdict.ok);
  }
});

test("R21: verifyAudit() sees a chain that was written anew with the key", async () => {
  const { store, files } = await makeChain(5);
  const other = memoryStore();
  const forger = await openAudit({ store: other, keyFile: files.keyFile, anchorFile: `${files.anchorFile}.other` });
  for (let count = 0; count < 6; count++) await forger.append(entry(count + 100));
  await forger.close();

  expect(await verifyAudit(store, files)).toMatchObject({ ok: true });
  expect(await verifyAudit(other, files)).toEqual({ ok: false, count: 4, position: 5, problem: "rewritten" });
});

test("verifyAudit() says that the key is another one", async () => {
  const { store, files } = await makeChain(3);
  const key = randomBytes(32);

  expect(await verifyAudit(store, { key })).toEqual({ ok: false, count: 0, position: 1, problem: "key-wrong" });
  expect(await verifyAudit(memoryStore(), { key, anchorFile: files.anchorFile })).toMatchObject({
    problem: "key-wrong",
  });
});

test("verifyAudit() wants the anchor that it was told of", async () => {
  const { store, files } = await makeChain(3);
  await rm(files.anchorFile);

  expect(await verifyAudit(store, files)).toEqual({ ok: false, count: 3, position: 4, problem: "anchor-missing" });
  expect(await verifyAudit(store, { keyFile: files.keyFile })).toMatchObject({ ok: true, count: 3 });
  expect(await verifyAudit(memoryStore(), files)).toMatchObject({ ok: true, count: 0 });
});

test("verifyAudit() makes no key", async () => {
  const files = await makeFiles();

  await expect(verifyAudit(memoryStore(), files)).rejects.toMatchObject({ code: "audit-key-invalid" });
});

test("verifyAudit() counts entries behind the anchor as good: nobody was told that they are kept", async () => {
  const { store, files } = await makeChain(3);
  const anchor = await readFile(files.anchorFile);
  const audit = await openAudit({ store, ...files });
  await audit.append(entry(4));
  await audit.close();
  await writeFile(files.anchorFile, anchor);

  expect(await verifyAudit(store, files)).toMatchObject({ ok: true, count: 4, anchored: 3 });
});

test("openAudit() goes on behind entries that the anchor does not know yet, after a crash", async () => {
  const { store, files } = await makeChain(3);
  const anchor = await readFile(files.anchorFile);
  const before = await openAudit({ store, ...files });
  await before.append(entry(4));
  await before.close();
  await writeFile(files.anchorFile, anchor);

  const audit = await openAudit({ store, ...files });
  await audit.append(entry(5));
  await audit.close();

  expect(await verifyAudit(store, files)).toMatchObject({ ok: true, count: 5, anchored: 5 });
});

test("openAudit() goes on after a line of the anchor was torn", async () => {
  const { store, files } = await makeChain(3);
  const anchor = await readFile(files.anchorFile, "latin1");
  await writeFile(files.anchorFile, anchor.replace(/^(3 .{20}).{10}/mu, "$1          "), "latin1");

  expect(await verifyAudit(store, files)).toMatchObject({ ok: true, anchored: 2 });
});

test.for<[string, (store: Store, files: Files) => Promise<Store>]>([
  ["whose end is cut off", async (store) => withEntries(store, (lines) => lines.slice(0, -1))],
  ["without its anchor", async (store, { anchorFile }) => rm(anchorFile).then(() => store)],
  ["whose anchor was emptied", async (store, { anchorFile }) => writeFile(anchorFile, "").then(() => store)],
  [
    "whose last entry was changed",
    async (store) => withEntries(store, (lines) => lines.with(4, { ...line(lines, 4), time: 1 })),
  ],
  ["that the anchor does not know", async (store, files) => rewrite(store, files)],
])("R21: openAudit() appends nothing to a chain %s", async ([, tamper]) => {
  const { store, files } = await makeChain(5);

  const tampered = await tamper(store, files);

  await expect(openAudit({ store: tampered, ...files })).rejects.toMatchObject({ code: "audit-broken" });
});

test("anchorAudit() accepts the end as it is, if the chain is good in itself", async () => {
  const { store, files } = await makeChain(5);
  const restored = withEntries(store, (lines) => lines.slice(0, 3));
  const changed = withEntries(store, (lines) => lines.with(1, { ...line(lines, 1), time: 1 }));

  expect(await anchorAudit(changed, files)).toMatchObject({ ok: false, position: 2 });
  expect(await verifyAudit(restored, files)).toMatchObject({ ok: false, problem: "cut-off" });
  expect(await anchorAudit(restored, files)).toMatchObject({ ok: true, count: 3 });
  expect(await verifyAudit(restored, files)).toMatchObject({ ok: true, anchored: 3 });
});

test("readAudit() reads a part", async () => {
  const { store } = await makeChain(5);

  const part = await collect(readAudit(store, { after: 1, limit: 2 }));

  expect(part.map(({ position }) => position)).toEqual([2, 3]);
});

test("R20: exportAudit() writes one line for each entry, whatever is in it", async () => {
  const { audit, store, files } = await open();
  const nasty = 'x\n{"type":"begin","position":2}\r\n\u001b[31m\u2028';

  await audit.append({ ...entry(1), tool: nasty } as AuditEntry);
  await audit.append(entry(2));
  const text = (await collect(exportAudit(store))).join("");

  expect(text.split("\n").length).toBe(3);
  expect(await verifyAuditLines(text.split("\n"), files)).toMatchObject({ ok: true, count: 2 });
});

test("verifyAudit() goes through a long chain page by page", async () => {
  const { store, files } = await makeChain(2500);
  let largest = 0;
  const watched: Store = {
    ...store,
    log: {
      ...store.log,
      async read(stream, options) {
        const page = await store.log.read(stream, options);
        largest = Math.max(largest, page.length);
        return page;
      },
    },
  };

  expect(await verifyAudit(watched, files)).toMatchObject({ ok: true, count: 2500 });
  expect(largest).toBe(1000);
});

interface Files {
  readonly keyFile: string;
  readonly anchorFile: string;
}

function entry(count: number): AuditEntry {
  return { type: "begin", call: `c${count}`, tool: "echo", time: 1_700_000_000_000 + count };
}

function line(lines: Lines, index: number): AuditLine {
  return lines[index] as AuditLine;
}

async function makeFiles(): Promise<Files> {
  const home = await mkdtemp(join(tmpdir(), "kitbag-audit-"));
  onTestFinished(() => rm(home, { recursive: true }));
  return { keyFile: join(home, "home", "audit.key"), anchorFile: join(home, "home", "audit.head") };
}

/** An audit on a store that calls `before` and `after` around each append. */
async function open(
  before: () => void = () => {},
  after: () => void = () => {},
): Promise<{ audit: Audit; store: Store; files: Files; appends: () => number }> {
  const files = await makeFiles();
  const store = memoryStore();
  let appends = 0;
  const log: Store["log"] = {
    ...store.log,
    async append(stream, values, options) {
      appends += 1;
      before();
      const position = await store.log.append(stream, values, options);
      after();
      return position;
    },
  };
  const audit = await openAudit({ store: { ...store, log }, ...files });
  return { audit, store, files, appends: () => appends };
}

async function makeChain(count: number): Promise<{ store: Store; files: Files }> {
  const { audit, store, files } = await open();
  for (let first = 0; first < count; first += 1000) {
    const size = Math.min(1000, count - first);
    if (count > 100) await Promise.all(Array.from({ length: size }, (_, index) => audit.append(entry(first + index))));
    else for (let index = 0; index < size; index++) await audit.append(entry(first + index));
  }
  await audit.close();
  return { store, files };
}

/** The store, with other entries in its audit. */
function withEntries(store: Store, tamper: (lines: Lines) => readonly unknown[]): Store {
  const read = async (): Promise<LogEntry[]> => {
    const entries = await store.log.read("audit", { limit: 10_000 });
    const values = tamper(entries.map(({ value }) => value as unknown as AuditLine)) as readonly JsonValue[];
    return values.map((value, index) => ({ position: index + 1, time: 0, value }));
  };
  return {
    ...store,
    log: {
      ...store.log,
      position: async () => (await read()).length,
      read: async (_, { after = 0, limit = 1000 } = {}) => (await read()).slice(after, after + limit),
    },
  };
}

/** Another chain with the same key. */
async function rewrite(_: Store, { keyFile, anchorFile }: Files): Promise<Store> {
  const other = memoryStore();
  const forger = await openAudit({ store: other, keyFile, anchorFile: `${anchorFile}.other` });
  for (let count = 0; count < 6; count++) await forger.append(entry(count + 100));
  await forger.close();
  return other;
}

async function readLines(store: Store): Promise<AuditLine[]> {
  return collect(readAudit(store));
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
