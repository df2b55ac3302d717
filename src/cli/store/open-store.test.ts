import { mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { findStoreFiles, openStoreToRead } from "./open-store.ts";

test("openStoreToRead() shows one that is not there as empty, and does not say so of one that it cannot look at", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-open-store-"));
  symlinkSync("loop", join(folder, "loop"));

  const missing = await openStoreToRead({ kind: "sqlite", file: join(folder, "kitbag.db"), isNamed: true });
  const hidden = openStoreToRead({ kind: "sqlite", file: join(folder, "loop", "kitbag.db"), isNamed: true });

  expect(await missing.log.streams({})).toEqual([]);
  await expect(hidden).rejects.toMatchObject({ code: "store-unavailable" });
});

test("findStoreFiles() names the files of a store also where its folder cannot be listed", () => {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-open-store-"));
  symlinkSync("loop", join(folder, "loop"));

  expect(findStoreFiles({ file: join(folder, "loop", "kitbag.db") })).toContain(join(folder, "loop", "kitbag.db-wal"));
});
