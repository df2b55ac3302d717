import { expect, test } from "vitest";

import type { KeyValueStore } from "../../core/store.ts";
import type { ToolState } from "../../core/tool-state.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createStates } from "./create-states.ts";

test("a state takes no more keys than it may hold, and says so", async () => {
  const state = setUp({ maxKeys: 3 });
  for (const key of ["a", "b", "c"]) await state.set(key, 1);

  const error = await state.set("d", 1).catch((cause: unknown) => cause);

  expect(error).toMatchObject({ code: "state-full", details: { owner: "a", limit: 3, limitBytes: 1000 } });
  expect(String(error)).toMatchInlineSnapshot(
    `"KitbagError: Cannot keep more in the state of "a": it holds at most 3 keys and 1000 bytes; delete keys that are no longer needed, or set an expiry"`,
  );
  expect(await state.list()).toHaveLength(3);
});

test("a state that is full still takes other values for the keys it has, if they are not larger", async () => {
  const state = setUp({ maxKeys: 2, maxBytes: 40 });
  await state.set("a", "x".repeat(15));
  await state.set("b", "x".repeat(15));

  await state.set("a", "y".repeat(15));

  expect(await state.get("a")).toBe("y".repeat(15));
  await expect(state.set("a", "y".repeat(30))).rejects.toMatchObject({ code: "state-full" });
});

test("a state takes no more bytes than it may hold, of keys and values together", async () => {
  const state = setUp({ maxBytes: 100 });

  await state.set("é", "x".repeat(50));

  await expect(state.set("b", "x".repeat(44))).rejects.toMatchObject({ code: "state-full" });
  await state.set("b", "x".repeat(43));
});

test("a state has room again for what was deleted or has expired", async () => {
  let time = 0;
  const state = setUp({ maxKeys: 2, kv: memoryStore({ now: () => time }).kv });
  await state.set("a", 1);
  await state.set("b", 1, { expiresInMs: 10 });

  await state.delete("a");
  await state.set("c", 1);
  time = 10;
  await state.set("d", 1);

  expect(await state.list()).toMatchObject([{ key: "c" }, { key: "d" }]);
});

test("a state that is written 10,000 times over is not full", async () => {
  const state = setUp({ maxKeys: 3 });

  for (let index = 0; index < 10_000; index++) await state.set("a", index);

  expect(await state.get("a")).toBe(9999);
});

test("100 writers at once do not make a state larger than it may be", async () => {
  const state = setUp({ maxKeys: 30 });

  const writes = await Promise.allSettled(Array.from({ length: 100 }, (_, index) => state.set(`key ${index}`, index)));

  expect(writes.filter(({ status }) => status === "fulfilled")).toHaveLength(30);
  expect(await state.list()).toHaveLength(30);
});

test("what was kept before is counted, also if it is much", async () => {
  const { kv } = memoryStore();
  for (let index = 0; index < 250; index++) await kv.set(`state:tool:a:key ${index}`, index);

  const state = setUp({ maxKeys: 251, maxBytes: 100_000, kv });
  await state.set("one more", 1);

  await expect(state.set("and one", 1)).rejects.toMatchObject({ code: "state-full" });
});

test("a write that failed takes no room", async () => {
  const { kv } = memoryStore();
  let isBroken = true;
  const set: KeyValueStore["set"] = (...args) => (isBroken ? Promise.reject(new Error("broken")) : kv.set(...args));
  const state = setUp({ maxKeys: 1, kv: { ...kv, set } });

  for (let index = 0; index < 5; index++) await expect(state.set("a", 1)).rejects.toThrow("broken");
  isBroken = false;

  await state.set("a", 1);
  await expect(state.set("b", 1)).rejects.toMatchObject({ code: "state-full" });
});

test("a count that failed is done again", async () => {
  const { kv } = memoryStore();
  let isBroken = true;
  const list: KeyValueStore["list"] = (options) => (isBroken ? Promise.reject(new Error("broken")) : kv.list(options));
  await kv.set("state:tool:a:old", 1);
  const state = setUp({ maxKeys: 2, kv: { ...kv, list } });

  await expect(state.set("a", 1)).rejects.toThrow("broken");
  isBroken = false;
  await state.set("a", 1);

  await expect(state.set("b", 1)).rejects.toMatchObject({ code: "state-full" });
});

function setUp({
  maxKeys = 1000,
  maxBytes = 1000,
  kv = memoryStore().kv,
}: {
  maxKeys?: number;
  maxBytes?: number;
  kv?: KeyValueStore;
}): ToolState {
  return createStates(kv, { maxKeys, maxBytes }).open({ scope: "tool:a", owner: undefined }, () => {});
}
