import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { sqliteStore } from "./sqlite-store.ts";

test("sqliteStore() writes its log back while somebody writes without a pause", async () => {
  const file = makeFile();
  const store = await sqliteStore({ file });

  // A commit is two pages or more: a log that is shorter began anew. How soon it does depends on the machine.
  const isLong = (): boolean => statSync(`${file}-wal`).size > commits * 6000;
  let commits = 0;
  do {
    await appendEach(store, 500);
    commits += 500;
  } while (isLong() && commits < 20_000);

  expect(isLong()).toBe(false);
  await store.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
});

test("sqliteStore() can be closed while its log is written back, and keeps everything", async () => {
  const file = makeFile();
  const store = await sqliteStore({ file });
  await appendEach(store, 512);

  await store.close();

  const again = await sqliteStore({ file });
  expect(await again.log.position("calls")).toBe(512);
  await again.close();
});

/** A new folder, gone after the test. */
function makeFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-checkpoints-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "kitbag.db");
}

/** Each in a commit of its own. */
async function appendEach(store: Awaited<ReturnType<typeof sqliteStore>>, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await store.log.append("calls", [{ index, text: "x".repeat(500) }]);
}
