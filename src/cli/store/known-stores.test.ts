import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { knownStoresPath, loadKnownStores, updateKnownStores } from "./known-stores.ts";

const monthMs = 31 * 24 * 60 * 60 * 1000;

test("updateKnownStores() forgets a store that is gone for a month, and no store of a disk that is not mounted", async () => {
  const base = realpathSync(createFolder({ "there/.kitbag/kitbag.db": "", "back/.kitbag/kitbag.db": "" }));
  const longAgo = Date.now() - monthMs;
  writeList(base, {
    there: { file: join(base, "there/.kitbag/kitbag.db") },
    back: { file: join(base, "back/.kitbag/kitbag.db"), goneSince: longAgo },
    deleted: { file: join(base, "deleted/.kitbag/kitbag.db"), goneSince: longAgo },
    justGone: { file: join(base, "just-gone/.kitbag/kitbag.db") },
    unmounted: { file: join(base, "disk/project/.kitbag/kitbag.db"), goneSince: longAgo },
  });

  await updateKnownStores(base, () => {});

  const kept = [...loadKnownStores(base)].map(([id, { goneSince }]) => [
    ids.find((name) => toId(name) === id),
    goneSince === undefined ? "there" : Date.now() - goneSince > monthMs ? "long gone" : "gone",
  ]);
  expect(kept).toEqual([
    ["there", "there"],
    ["back", "there"],
    ["justGone", "gone"],
    ["unmounted", "long gone"],
  ]);
});

const ids = ["there", "back", "deleted", "justGone", "unmounted"];

function toId(name: string): string {
  return String(ids.indexOf(name)).padStart(32, "a");
}

function writeList(home: string, stores: Readonly<Record<string, object>>): void {
  const path = knownStoresPath(home);
  mkdirSync(dirname(path), { recursive: true });
  const entries = Object.entries(stores).map(([name, store]) => [toId(name), store]);
  writeFileSync(path, JSON.stringify({ version: 1, stores: Object.fromEntries(entries) }));
}
