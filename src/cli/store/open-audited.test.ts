import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { updateTrust, loadTrust } from "../../skills/trust/trust-file.ts";
import { openAudit } from "../../records/audit/open-audit.ts";
import { sqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { keepStoreId, storeIdKey } from "../../store/store-id.ts";
import { anchorStore, takeStore } from "./accept-store.ts";
import { toAuditFiles, toPlaceId } from "./audit-files.ts";
import type { SqliteChoice } from "./choose-store.ts";
import { findLostHeads, identifyStore, openAudited } from "./identify-store.ts";
import { knownStoresPath, loadKnownStores } from "./known-stores.ts";
import { openStore, openStoreToRead } from "./open-store.ts";

test("openAudited() makes the store in .kitbag, and hides it from git but for skills", async () => {
  const place = createPlace();

  await record(place);

  const ignored = readFileSync(join(place.choice.folder, ".gitignore"), "utf8");
  expect(ignored.split("\n").slice(1)).toEqual(["/*", "!/skills/", "!/skill-versions/", "!/tools/", ""]);
  const own = [place.choice.file, join(place.home, "audit.key"), knownStoresPath(place.home)];
  expect(own.map((path) => statSync(path).mode & 0o077)).toEqual([0, 0, 0]);
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
  expect(findLostHeads(place.choice, place.home, await idOf(place))).toHaveLength(1);
});

test("openAudited() refuses a store of a project that was not made here, and changes nothing", async () => {
  const place = createPlace();
  const planted = await sqliteStore({ file: place.choice.file });
  await planted.kv.set("state:tool:x:key", "planted");
  await planted.close();

  await expect(record(place)).rejects.toMatchObject({
    code: "store-unaccepted",
    details: { reason: expect.stringContaining("has never used it: it came with the project") },
  });
  expect(listHeads(place)).toEqual([]);
});

test("openAudited() refuses a store of a project that is empty, and does not change it", async () => {
  const place = createPlace();
  await (await sqliteStore({ file: place.choice.file })).close();
  const before = readFileSync(place.choice.file);

  await expect(record(place)).rejects.toMatchObject({ code: "store-unaccepted" });
  expect(readFileSync(place.choice.file).equals(before)).toBe(true);
});

test("openAudited() takes a store that was named", async () => {
  const place = createPlace();
  const other = await sqliteStore({ file: place.choice.file });
  await other.kv.set("key", "value");
  await other.close();

  await record({ ...place, choice: { ...place.choice, isNamed: true } });

  expect(listHeads(place)).toHaveLength(1);
});

test("openAudited() refuses a store whose audit is longer than what is known here", async () => {
  const place = createPlace();
  await record(place);
  for (const head of listHeads(place)) rmSync(join(place.home, "audit", head));

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

test("openAudited() goes on with a store whose project was moved, and what is trusted in it follows", async () => {
  const place = createPlace();
  const skill = join(place.root, ".kitbag/skills/greet");
  await updateTrust(place.home, ({ folders }) => folders.set(skill, new Map([["SKILL.md", digest]])));
  await record(place);

  const moved = move(place, "moved");
  await record(moved);

  expect(await countEntries(moved)).toBe(2);
  expect(listHeads(place)).toHaveLength(1);
  expect([...loadTrust(place.home).folders.keys()]).toEqual([join(moved.root, ".kitbag/skills/greet")]);
});

test("openAudited() tells two projects apart that have changed places", async () => {
  const one = createPlace();
  const other = move({ ...createPlace(), home: one.home }, "other", one.root);
  await record(one);
  await record(other);
  await record(other);

  const away = move(one, "away");
  const [first, second] = [move(other, "project", one.root), move(away, "other")];
  await record(first);
  await record(second);

  expect([await countEntries(first), await countEntries(second)]).toEqual([3, 2]);
});

test("openAudited() begins anew where a project was moved away from, and knows the moved one still", async () => {
  const place = createPlace();
  await record(place);
  const moved = move(place, "moved");
  mkdirSync(place.root);

  await record(place);
  await record(moved);

  expect([await countEntries(place), await countEntries(moved)]).toEqual([1, 2]);
  expect(findLostHeads(place.choice, place.home, await idOf(place))).toEqual([]);
});

test("openAudited() refuses a copy while the store is where it was; taken, it is a store of its own", async () => {
  const place = createPlace();
  await record(place);
  const copy = at(join(dirname(place.root), "copy"), place.home);
  cpSync(place.root, copy.root, { recursive: true });

  for (const isNamed of [false, true]) {
    await expect(record({ ...copy, choice: { ...copy.choice, isNamed } })).rejects.toMatchObject({
      code: "store-unaccepted",
      details: {
        reason: `it is a copy of ${place.choice.file}, which is still there`,
        accept: `KITBAG_HOME=${place.home} kitbag store accept --store sqlite:${copy.choice.file}`,
      },
    });
  }
  const { verdict } = await takeStore(copy.choice, place.home, anchorStore);
  await record(copy);
  await record(place);
  await record(place);

  expect(verdict).toMatchObject({ ok: true, count: 1 });
  expect([await countEntries(copy), await countEntries(place)]).toEqual([2, 3]);
});

test("openAudited() knows a file that is at two places at once", async () => {
  const place = createPlace();
  await record(place);
  const mounted = at(join(dirname(place.root), "mounted"), place.home);
  mkdirSync(mounted.choice.folder, { recursive: true });
  linkSync(place.choice.file, mounted.choice.file);

  expect(await identifyStore(mounted.choice, place.home)).toMatchObject({ status: "known" });
});

test("openAudited() says which command takes a store that was made with another home, with its key and without", async () => {
  const place = createPlace();
  await record(place);
  const home = join(place.root, "other home");
  const accept = async (): Promise<unknown> => {
    const cause: unknown = await record({ ...place, home }).catch((cause: unknown) => cause);
    return (cause as { details: { accept: string } }).details.accept;
  };
  const line = (words: string): string =>
    `KITBAG_HOME='${home}' kitbag store ${words} --store sqlite:${place.choice.file}`;

  const without = await accept();
  mkdirSync(home, { recursive: true });
  cpSync(join(place.home, "audit.key"), join(home, "audit.key"));
  const withKey = await accept();
  const { verdict } = await takeStore(place.choice, home, anchorStore);
  await record({ ...place, home });
  await expect(record(place)).resolves.toBeUndefined();

  expect([without, withKey]).toEqual([line("accept --new-audit"), line("accept")]);
  expect(verdict).toMatchObject({ ok: true, count: 1 });
});

test("openAudited() goes on with a store of before there were ids, and knows it when it is moved then", async () => {
  const place = createPlace();
  const store = await openStore(place.choice);
  const audit = await openAudit({ store, ...toAuditFiles(place.home, toPlaceId(place.choice)) });
  await audit.append({ type: "begin", call: "a-1", tool: "add", time: 0 });
  await audit.close();
  await store.close();

  await record(place);
  const moved = move(place, "moved");
  await record(moved);

  expect(await countEntries(moved)).toBe(3);
});

test.for([
  ["before there is a file", (place: Place) => rmSync(place.choice.file)],
  [
    "before it has its id",
    async (place: Place) => {
      const store = await openStore(place.choice);
      await store.kv.delete(storeIdKey);
      await store.close();
    },
  ],
  ["before it has its head", () => {}],
] as const)("openAudited() goes on where a process ended while it made the store: %s", async ([, leave]) => {
  const place = createPlace();
  const { store, audit } = await openAudited(place.choice, ownerOf(place));
  await audit.close();
  await store.close();
  const [head = ""] = listHeads(place);
  rmSync(join(place.home, "audit", head));
  await leave(place);
  let told = 0;

  await record(place, () => (told += 1));

  expect([listHeads(place), told]).toEqual([[head], 0]);
});

test("openAudited() takes no id of a file that is none, and no id that another store has", async () => {
  const place = createPlace();
  await record(place);
  const planted = at(join(dirname(place.root), "planted"), place.home);
  const plant = async (id: string): Promise<unknown> => {
    const store = await sqliteStore({ file: planted.choice.file });
    if (id.includes(".")) await store.kv.set(storeIdKey, id);
    else await keepStoreId(store, id);
    await store.close();
    return record(planted).catch((cause: unknown) => (cause as { code: string }).code);
  };

  const path = await plant("../../../../etc/passwd");
  const copied = await plant(await idOf(place));
  rmSync(place.choice.file);
  const alone = await plant(await idOf(planted));

  expect([path, copied, alone]).toEqual(["store-unaccepted", "store-unaccepted", "store-unaccepted"]);
});

test("openAudited() says what to do about a list of stores that is half written, and nothing is lost by it", async () => {
  const place = createPlace();
  await record(place);
  const list = knownStoresPath(place.home);
  const refusals: unknown[] = [];
  for (const text of ["", '{"version":1,"sto', '{"version":1,"stores":{"../x":"/tmp"}}', '{"version":2}']) {
    writeFileSync(list, text);
    refusals.push(await record(place).catch((cause: unknown) => cause));
  }

  rmSync(list);
  await record(place);

  const reason = "it is not a list of stores; delete it: it is made anew, and all stores and audits stay";
  expect(refusals).toEqual(
    refusals.map(() => expect.objectContaining({ code: "config-invalid", details: { path: list, reason } })),
  );
  expect(await countEntries(place)).toBe(2);
  expect([...loadKnownStores(place.home).values()]).toMatchObject([{ file: place.choice.file }]);
});

const digest = `sha256:${"a".repeat(64)}`;

interface Place {
  readonly root: string;
  readonly home: string;
  readonly choice: SqliteChoice & { readonly folder: string };
}

function createPlace(): Place {
  const base = realpathSync(createFolder());
  mkdirSync(join(base, "project"));
  return at(join(base, "project"), join(base, "home"));
}

function at(root: string, home: string): Place {
  const folder = join(root, ".kitbag");
  return { root, home, choice: { kind: "sqlite", file: join(folder, "kitbag.db"), folder, isNamed: false } };
}

/** Renames the project, beside another one if that is said. */
function move({ root, home }: Place, name: string, beside = root): Place {
  const target = join(dirname(beside), name);
  renameSync(root, target);
  return at(target, home);
}

function ownerOf({ home }: Place, onDeleted = (): void => {}): Parameters<typeof openAudited>[1] {
  return { home, env: { KITBAG_HOME: home }, onDeleted };
}

function listHeads({ home }: Place): readonly string[] {
  const folder = join(home, "audit");
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".head")) : [];
}

async function idOf({ choice, home }: Place): Promise<string> {
  const found = await identifyStore(choice, home);
  return "id" in found ? found.id : "";
}

async function countEntries({ choice }: Place): Promise<number> {
  const store = await openStoreToRead(choice);
  const count = await store.log.position("audit");
  await store.close();
  return count;
}

/** Opens the store, appends one entry to its audit, and closes it. */
async function record(place: Place, onDeleted?: () => void): Promise<void> {
  const { store, audit } = await openAudited(place.choice, ownerOf(place, onDeleted));
  onTestFinished(() => store.close());
  await audit.append({ type: "begin", call: "a-1", tool: "add", time: 0 });
  await audit.close();
  await store.close();
}
