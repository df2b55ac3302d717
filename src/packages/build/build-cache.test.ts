import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { takeFileLock } from "../../platform/file-lock.ts";
import { createBuildCache } from "./build-cache.ts";

test("get() answers with what was put, and with nothing for what was not", () => {
  const directory = join(createFolder(), "cache");
  const cache = createBuildCache(directory);

  cache.put("key", Uint8Array.of(1, 2, 3));

  expect([...(createBuildCache(directory).get("key") ?? [])]).toEqual([1, 2, 3]);
  expect(cache.get("other")).toBeUndefined();
  expect(readdirSync(directory)).toEqual(["key.wasm"]);
});

test.for(["", "short", "x".repeat(100)])("get() answers with nothing for a file that holds %j", (text) => {
  const directory = createFolder({ "key.wasm": text });

  expect(createBuildCache(directory).get("key")).toBeUndefined();
});

test("withLock() lets one work after the other, and says that the others wait", async () => {
  const cache = createBuildCache(createFolder());
  let working = 0;
  let most = 0;
  let waiting = 0;
  const work = async (): Promise<void> => {
    working += 1;
    most = Math.max(most, working);
    await wait(20);
    working -= 1;
  };

  await Promise.all(
    Array.from({ length: 4 }, () => cache.withLock("key", work, { onWait: () => void (waiting += 1) })),
  );

  expect({ most, waiting }).toEqual({ most: 1, waiting: 3 });
});

test("withLock() gives the lock back when the work fails", async () => {
  const directory = createFolder();
  const cache = createBuildCache(directory);

  await expect(cache.withLock("key", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");

  expect(readdirSync(directory)).toEqual([]);
});

test("withLock() waits while the lock is held, until the caller gives up", async () => {
  const directory = createFolder();
  const release = await takeFileLock(join(directory, "key.lock"));
  const signal = AbortSignal.timeout(200);

  await expect(createBuildCache(directory).withLock("key", async () => "done", { signal })).rejects.toThrow();

  expect(readdirSync(directory)).toEqual(["key.lock"]);
  release();
});

test("put() leaves nothing behind when it cannot write", () => {
  const directory = createFolder();
  mkdirSync(join(directory, "key.wasm/full"), { recursive: true });
  writeFileSync(join(directory, "key.wasm/full/file"), "");

  expect(() => createBuildCache(directory).put("key", Uint8Array.of(1))).toThrow();

  expect(readdirSync(directory)).toEqual(["key.wasm"]);
});
