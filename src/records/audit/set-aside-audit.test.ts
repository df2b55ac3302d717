import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import type { JsonValue } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { AuditEntry } from "./audit-entry.ts";
import { exportAudit } from "./export-audit.ts";
import { openAudit } from "./open-audit.ts";
import { anchorAudit, setAsideAudit, verifyAudit, verifyAuditLines } from "./verify-audit.ts";

type Values = readonly JsonValue[];

const lost = { lost: true };

test.for<[what: string, damage: (values: Values) => Values, broken: number, problem: string]>([
  ["entry that was lost", (values) => values.with(4, lost), 5, "changed"],
  ["last entry that was lost", (values) => values.with(9, lost), 10, "changed"],
  ["first entry that was lost", (values) => values.with(0, lost), 1, "changed"],
  ["entry that was removed", (values) => values.toSpliced(4, 1), 5, "removed"],
  ["end that was cut off", (values) => values.slice(0, 7), 8, "cut-off"],
  ["lost entry and an end that was cut off", (values) => values.with(4, lost).slice(0, 8), 5, "changed"],
  ["chain that is gone", () => [], 1, "cut-off"],
])("setAsideAudit() goes on behind an %s, and it is told from then on", async ([, damage, broken, problem]) => {
  const { values, files } = await makeChain();
  const store = await fill(damage(values));

  const verdict = await setAsideAudit(store, files);
  await append(store, files, 2);

  const told = { setAside: [{ broken, problem, position: damage(values).length + 1 }] };
  expect(verdict).toMatchObject({ ok: true, count: damage(values).length + 1, ...told });
  expect(await verifyAudit(store, files)).toMatchObject({ ok: true, count: damage(values).length + 3, ...told });
  expect(await anchorAudit(store, files)).toMatchObject({ ok: true, ...told });
  expect(await verifyExport(store, files)).toMatchObject({ ok: true, ...told });
});

test("setAsideAudit() goes on behind entries that were written anew with the key, and behind those of another key", async () => {
  const { files } = await makeChain();
  const rewritten = memoryStore();
  await append(rewritten, { ...files, anchorFile: `${files.anchorFile}.other` }, 10, "other");
  const foreign = await fill((await makeChain()).values);

  const first = await setAsideAudit(rewritten, files);
  const second = await setAsideAudit(foreign, files);
  await append(foreign, files, 1);

  expect(first).toMatchObject({ ok: true, setAside: [{ broken: 10, problem: "rewritten" }] });
  expect(second).toMatchObject({ ok: true, setAside: [{ broken: 1 }] });
  expect(await verifyAudit(foreign, files)).toMatchObject({ ok: true, count: 12 });
});

test("setAsideAudit() makes a key where there is none any more", async () => {
  const { values, files } = await makeChain();
  const store = await fill(values);
  await Promise.all([rm(files.keyFile), rm(files.anchorFile)]);

  const verdict = await setAsideAudit(store, files);

  expect(verdict).toMatchObject({ ok: true, count: 11, setAside: [{ broken: 1, problem: "key-wrong" }] });
});

test("setAsideAudit() sets nothing aside that is good, also if only its anchor is missing", async () => {
  const { values, files } = await makeChain();
  const store = await fill(values);

  const whole = await setAsideAudit(store, files);
  await rm(files.anchorFile);
  const moved = await setAsideAudit(store, files);

  expect([whole, moved]).toMatchObject([
    { ok: true, count: 10 },
    { ok: true, count: 10 },
  ]);
  expect([whole, moved].some((verdict) => "setAside" in verdict)).toBe(false);
});

test("setAsideAudit() may be needed again", async () => {
  const { values, files } = await makeChain();
  const once = await fill(values.with(4, lost));
  await setAsideAudit(once, files);
  await append(once, files, 5);
  const twice = await fill((await readValues(once)).with(12, lost));

  await setAsideAudit(twice, files);

  expect(await verifyAudit(twice, files)).toMatchObject({
    ok: true,
    count: 17,
    setAside: [
      { broken: 5, position: 11 },
      { broken: 13, position: 17 },
    ],
  });
});

test.for<[what: string, tamper: (values: Values) => Values, position: number, problem: string]>([
  ["good entry before it", (values) => values.with(2, { ...Object(values[2]), tool: "other" }), 3, "changed"],
  ["bad entry in it", (values) => values.with(4, { lost: "all" }), 5, "changed"],
  ["entry in it that was removed", (values) => values.toSpliced(6, 1), 5, "changed"],
  ["entry that sets it aside", (values) => values.with(10, { ...Object(values[10]), broken: 9 }), 5, "changed"],
  ["entry that sets it aside and was removed", (values) => values.toSpliced(10, 1), 5, "changed"],
  ["entry behind it", (values) => values.with(11, { ...Object(values[11]), tool: "other" }), 12, "changed"],
  ["end that was cut off behind it", (values) => values.slice(0, 12), 13, "cut-off"],
])("R21: verifyAudit() sees a change of the %s after a part was set aside", async ([, tamper, position, problem]) => {
  const { values, files } = await makeChain();
  const store = await fill(values.with(4, lost));
  await setAsideAudit(store, files);
  await append(store, files, 3);

  const verdict = await verifyAudit(await fill(tamper(await readValues(store))), files);

  expect(verdict).toEqual({ ok: false, count: position - 1, position, problem });
});

test("R21: verifyAudit() takes nobody's word that a part was set aside but that of whoever has the key", async () => {
  const { values, files } = await makeChain();
  const forger = { ...files, keyFile: `${files.keyFile}.forged`, anchorFile: `${files.anchorFile}.forged` };
  await writeFile(forger.keyFile, randomBytes(32), { mode: 0o600 });
  const store = await fill(values.with(4, lost));
  await setAsideAudit(store, forger);

  expect(await verifyAudit(store, files)).toMatchObject({ ok: false, position: 5, problem: "changed" });
});

interface Files {
  readonly keyFile: string;
  readonly anchorFile: string;
}

/** What is in a chain of ten entries. */
async function makeChain(): Promise<{ readonly values: Values; readonly files: Files }> {
  const home = await mkdtemp(join(tmpdir(), "kitbag-set-aside-"));
  onTestFinished(() => rm(home, { recursive: true }));
  const files = { keyFile: join(home, "audit.key"), anchorFile: join(home, "audit.head") };
  const store = memoryStore();
  await append(store, files, 10);
  return { values: await readValues(store), files };
}

async function append(store: Store, files: Files, count: number, tool = "echo"): Promise<void> {
  const audit = await openAudit({ store, ...files });
  for (let index = 0; index < count; index++) await audit.append(toEntry(index, tool));
  await audit.close();
}

function toEntry(index: number, tool: string): AuditEntry {
  return { type: "begin", call: `c${index}`, tool, time: 1 };
}

async function readValues(store: Store): Promise<Values> {
  return (await store.log.read("audit")).map(({ value }) => value);
}

/** A store with these values in its audit. */
async function fill(values: Values): Promise<Store> {
  const store = memoryStore();
  if (values.length > 0) await store.log.append("audit", values);
  return store;
}

async function verifyExport(store: Store, { keyFile }: Files): Promise<unknown> {
  const lines: string[] = [];
  for await (const line of exportAudit(store, { keyFile })) lines.push(line);
  return verifyAuditLines(lines, { keyFile, sealed: true });
}
