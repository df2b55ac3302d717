import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { sqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { toAuditFiles, type AuditFiles } from "./audit-files.ts";
import type { StoreChoice } from "./choose-store.ts";
import { findLostHeads, openAudited } from "./open-audited.ts";
import { openStore, openStoreToRead } from "./open-store.ts";

test("openAudited() makes the store in .kitbag, and hides it from git but for skills", async () => {
  const place = createPlace();

  await record(place);

  const ignored = readFileSync(join(place.choice.folder, ".gitignore"), "utf8");
  expect(ignored.split("\n").slice(1)).toEqual(["/*", "!/skills/", "!/skill-versions/", "!/tools/", ""]);
  expect([place.choice.file, place.files.keyFile].map((path) => statSync(path).mode & 0o077)).toEqual([0, 0]);
});

test("openAudited() may be called by several at once the first time", async () => {
  const place = createPlace();

  await Promise.all(Array.from({ length: 8 }, () => record(place)));

  const store = await openStoreToRead(place.choice);
  expect(await store.log.position("audit")).toBe(8);
  await store.close();
});

test("openAudited() begins anew where the store was deleted, and keeps the head of the old audit", async () => {
  const place = createPlace();
  await record(place);
  rmSync(place.choice.folder, { recursive: true });
  let told = 0;

  await record(place, () => (told += 1));
  await record(place, () => (told += 1));

  expect(told).toBe(1);
  expect(findLostHeads(place.files.anchorFile)).toHaveLength(1);
});

test("openAudited() refuses a store of a project that was not made here, and changes nothing", async () => {
  const place = createPlace();
  const planted = await sqliteStore({ file: place.choice.file });
  await planted.kv.set("state:tool:x:key", "planted");
  await planted.close();

  await expect(record(place)).rejects.toMatchObject({
    code: "store-unavailable",
    details: { reason: "it was not made here: it was moved, or came with the project" },
  });
  expect(existsSync(place.files.anchorFile)).toBe(false);
});

test("openAudited() refuses a store of a project that is empty, and does not open it", async () => {
  const place = createPlace();
  await (await sqliteStore({ file: place.choice.file })).close();
  const before = readFileSync(place.choice.file);

  await expect(record(place)).rejects.toMatchObject({
    code: "store-unavailable",
    details: { reason: "it was not made here: it was moved, or came with the project" },
  });
  expect(readFileSync(place.choice.file).equals(before)).toBe(true);
});

test("openAudited() takes a store that was named", async () => {
  const place = createPlace();
  const other = await sqliteStore({ file: place.choice.file });
  await other.kv.set("key", "value");
  await other.close();

  await record({ ...place, choice: { ...place.choice, isNamed: true } });

  expect(existsSync(place.files.anchorFile)).toBe(true);
});

test("openAudited() refuses a store whose audit is longer than what is known here", async () => {
  const place = createPlace();
  await record(place);
  renameSync(place.files.anchorFile, `${place.files.anchorFile}.away`);

  await expect(record({ ...place, choice: { ...place.choice, isNamed: true } })).rejects.toMatchObject({
    code: "audit-broken",
  });
});

test("openStore() follows no link, also one that leads nowhere", async () => {
  const { choice } = createPlace();
  const target = join(choice.folder, "..", "target");
  mkdirSync(choice.folder);
  symlinkSync(target, choice.file);

  await expect(openStore(choice)).rejects.toMatchObject({
    code: "store-unavailable",
    details: { reason: "it is a link" },
  });
  expect(existsSync(target)).toBe(false);
});

test("openStore() says what to do about a .kitbag that is a file", async () => {
  const root = realpathSync(createFolder({ ".kitbag": "a file" }));
  const folder = join(root, ".kitbag");

  await expect(
    openStore({ kind: "sqlite", file: join(folder, "kitbag.db"), folder, isNamed: false }),
  ).rejects.toMatchObject({
    code: "store-unavailable",
  });
});

test("openStoreToRead() makes nothing: what is not there is empty", async () => {
  const { choice } = createPlace();

  const store = await openStoreToRead(choice);
  const found = await store.kv.list();
  await store.close();

  expect([found, existsSync(choice.folder)]).toEqual([[], false]);
});

interface Place {
  readonly choice: Extract<StoreChoice, { kind: "sqlite" }> & { readonly folder: string };
  readonly files: AuditFiles;
}

function createPlace(): Place {
  const root = realpathSync(createFolder());
  const folder = join(root, ".kitbag");
  const choice = { kind: "sqlite", file: join(folder, "kitbag.db"), folder, isNamed: false } as const;
  const files = toAuditFiles(choice, join(root, "home"));
  if (files === undefined) throw new Error("A file has an audit");
  return { choice, files };
}

/** Opens the store, appends one entry to its audit, and closes it. */
async function record({ choice, files }: Place, onDeleted = (): void => {}): Promise<void> {
  const { store, audit } = await openAudited(choice, files, onDeleted);
  onTestFinished(() => store.close());
  await audit.append({ type: "begin", call: "a-1", tool: "add", time: 0 });
  await audit.close();
  await store.close();
}
