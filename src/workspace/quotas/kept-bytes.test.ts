import { expect, test, vi } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { JsonValue } from "../../core/json.ts";
import type { KeyValueStore, Store } from "../../core/store.ts";
import type { ToolState } from "../../core/tool-state.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { Workspace } from "../workspace.ts";
import type { QuotaOptions } from "./quota-options.ts";

const full = { code: "quota-reached", details: { quota: "bytes", limit: 1000 } };

test("a user keeps as many bytes as the quota says, in all states together, and other users are not held up", async () => {
  const { stateOf } = setUp();
  await stateOf("ann").set("a", text(400));
  await stateOf("ann", "other").set("b", text(400));

  await expect(stateOf("ann").set("c", text(400))).rejects.toMatchObject({
    ...full,
    details: { user: "ann", limit: 1000, used: expect.any(Number) as number },
    message: expect.stringContaining("delete state") as string,
  });
  await stateOf("bob").set("c", text(400));
  expect(await stateOf("ann").get("c")).toBeUndefined();
});

test("what is replaced or deleted gives its room back at once", async () => {
  const { stateOf } = setUp();
  const state = stateOf("ann");
  await state.set("a", text(800));
  for (let index = 0; index < 20; index++) await state.set("a", text(800));
  await expect(state.set("b", text(400))).rejects.toMatchObject(full);
  await state.set("a", text(10));
  await state.set("b", text(400));
  await expect(state.set("c", text(600))).rejects.toMatchObject(full);
  expect([await state.delete("b"), await state.delete("b")]).toEqual([true, false]);

  await state.set("c", text(600));
  expect(await state.update("c", () => text(700))).toBe(text(700));
});

test("writes at the same time that shrink one value give its room back once", async () => {
  const { stateOf } = setUp();
  for (let round = 0; round < 3; round++) {
    await stateOf("ann").set("a", text(900));
    await Promise.all(Array.from({ length: 12 }, (_, index) => stateOf("ann").set("a", text(10 + index))));
  }

  const written = await Promise.allSettled(["b", "c", "d"].map((key) => stateOf("ann").set(key, text(900))));

  expect(written.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("first writes at the same time measure what is kept once", async () => {
  const store = memoryStore();
  let lists = 0;
  const list: KeyValueStore["list"] = (options) => ((lists += 1), store.kv.list(options));
  const counted = setUp({ each: { bytes: 100_000 } }, { ...store, kv: { ...store.kv, list } });
  const free = setUp({ each: { calls: 1 } }, { ...store, kv: { ...store.kv, list } });
  const writeAll = async (stateOf: Stage["stateOf"], user: string): Promise<number> => {
    const before = lists;
    await Promise.all(Array.from({ length: 50 }, (_, index) => stateOf(user).set(`key-${index}`, 1)));
    return lists - before;
  };

  // Each user has other keys; a measurement lists the state and the outputs of one user.
  expect((await writeAll(counted.stateOf, "ann")) - (await writeAll(free.stateOf, "bob"))).toBeLessThan(10);
});

test("what has expired gives its room back when there is none left", async () => {
  let time = 0;
  const { stateOf } = setUp(undefined, memoryStore({ now: () => time }));
  await stateOf("ann").set("a", text(800), { expiresInMs: 10 });
  time = 11;

  await stateOf("ann").set("b", text(800));
  await expect(stateOf("ann").set("c", text(800))).rejects.toMatchObject(full);
});

test("what was kept before there was a quota counts, of the local user too", async () => {
  const store = memoryStore();
  const before = createWorkspace({ tools: [keep, other], store });
  for (const user of ["ann", undefined]) await before.openState("keep", { user }).set("old", text(800));
  const { stateOf } = setUp({ each: { bytes: 1000 }, users: { local: { bytes: 1000 } } }, store);

  for (const user of ["ann", "local"]) {
    await expect(stateOf(user).set("new", text(400))).rejects.toMatchObject(full);
    // Known to be full: it is not measured again for every write.
    await expect(stateOf(user).set("new", text(400))).rejects.toMatchObject(full);
    await stateOf(user).delete("old");
    await stateOf(user).set("new", text(400));
  }
});

test("deletions before anything was counted do no harm", async () => {
  const store = memoryStore();
  await createWorkspace({ tools: [keep, other], store })
    .openState("keep", { user: "ann" })
    .set("old", text(900));
  const { stateOf } = setUp(undefined, store);

  await stateOf("ann").delete("old");
  await stateOf("ann").set("new", text(900));
  await expect(stateOf("ann").set("more", text(400))).rejects.toMatchObject(full);
});

test("processes that share a store count together, also if they begin at once", async () => {
  const store = memoryStore();
  const states = [1, 2, 3].map(() => setUp(undefined, store).stateOf("ann"));

  const writes = await Promise.allSettled(
    states.flatMap((state, index) => [1, 2, 3].map((count) => state.set(`key ${index} ${count}`, text(300)))),
  );

  expect(writes.filter(({ status }) => status === "fulfilled").length).toBeLessThanOrEqual(3);
  expect(writes.filter(({ status }) => status === "fulfilled").length).toBeGreaterThan(0);
});

test("a write that failed takes no room", async () => {
  const store = memoryStore();
  let isBroken = true;
  const set: KeyValueStore["set"] = (key, ...rest) =>
    isBroken && key.startsWith("state:") ? Promise.reject(new Error("disk full")) : store.kv.set(key, ...rest);
  const { stateOf } = setUp(undefined, { ...store, kv: { ...store.kv, set } });
  for (let index = 0; index < 5; index++) await expect(stateOf("ann").set("a", text(800))).rejects.toThrow("disk full");
  isBroken = false;
  await stateOf("ann").set("a", text(800));
  isBroken = true;

  await expect(stateOf("ann").set("a", text(10))).rejects.toThrow("disk full");
  isBroken = false;
  await expect(stateOf("ann").set("b", text(400))).rejects.toMatchObject(full);
});

test("a count that fails refuses the write", async () => {
  const store = memoryStore();
  const increment: KeyValueStore["increment"] = (key, ...rest) =>
    key.startsWith("quota-bytes:") ? Promise.reject(new Error("disk full")) : store.kv.increment(key, ...rest);
  const { stateOf } = setUp(undefined, { ...store, kv: { ...store.kv, increment } });

  await expect(stateOf("ann").set("a", 1)).rejects.toThrow("disk full");
});

test("a user at the limit is measured once in a second, and again after it", async () => {
  const store = memoryStore();
  let lists = 0;
  const list: KeyValueStore["list"] = (options) => ((lists += 1), store.kv.list(options));
  const { stateOf } = setUp(undefined, { ...store, kv: { ...store.kv, list } });
  const clock = vi.spyOn(performance, "now").mockReturnValue(1000);
  try {
    const state = stateOf("ann");
    await state.set("a", text(900));
    const refused = (): Promise<void> => expect(state.set("b", text(400))).rejects.toMatchObject(full);
    await refused();
    const before = lists;
    for (let index = 0; index < 10; index++) await refused();
    const after = lists;
    clock.mockReturnValue(2001);
    await refused();

    // The state itself looks for room of its own.
    expect(after).toBe(before);
    expect(lists).toBeGreaterThan(after);
  } finally {
    clock.mockRestore();
  }
});

test("the same output counts once, and one that could not be kept does not count", async () => {
  const store = memoryStore();
  let isBroken = false;
  const put: Store["blobs"]["put"] = (bytes) =>
    isBroken ? Promise.reject(new Error("disk full")) : store.blobs.put(bytes);
  const { workspace } = setUp({ each: { bytes: 250_000 } }, { ...store, blobs: { ...store.blobs, put } });
  const call = async (sign: string): Promise<string> => {
    const outcome = await workspace.call("large", { sign }, { maxOutputBytes: 1000, user: "ann" });
    return outcome.status === "ok" ? "ok" : outcome.error.code;
  };
  const same = [await call("a"), await call("a"), await call("a")];
  isBroken = true;
  const failed = [await call("b"), await call("b")];
  isBroken = false;

  expect([same, failed, await call("b"), await call("c")]).toEqual([
    ["ok", "ok", "ok"],
    ["store-failed", "store-failed"],
    "ok",
    "quota-reached",
  ]);
});

test("large outputs count, for each user who has them, until they are deleted", async () => {
  const store = memoryStore();
  const { workspace } = setUp({ each: { bytes: 250_000 } }, store);
  const call = (user: string | undefined, sign: string): ReturnType<Workspace["call"]> =>
    workspace.call("large", { sign }, { maxOutputBytes: 1000, ...(user !== undefined && { user }) });
  const outcomes = [];
  for (const sign of ["a", "b", "c"]) outcomes.push(await call("ann", sign));
  outcomes.push(await call("bob", "a"), await call(undefined, "d"));
  await store.blobs.collect(new Set());
  const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 2000);
  const again = await call("ann", "c");
  clock.mockRestore();

  expect(outcomes.map((outcome) => (outcome.status === "ok" ? "ok" : outcome.error.code))).toEqual([
    "ok",
    "ok",
    "quota-reached",
    "ok",
    "ok",
  ]);
  expect(again).toMatchObject({ status: "ok" });
});

test("a user with other quotas, and none of bytes, keeps what they like", async () => {
  const { stateOf, workspace } = setUp({ each: { calls: 5 } });
  await stateOf("ann").set("a", text(5000));

  expect(await workspace.call("large", { sign: "a" }, { user: "ann", maxOutputBytes: 1000 })).toMatchObject({
    status: "ok",
  });
});

test("what is kept is counted to the end, however many keys there are", async () => {
  const store = memoryStore();
  const before = createWorkspace({ tools: [keep, other], store }).openState("keep", { user: "ann" });
  for (let index = 0; index < 250; index++) await before.set(`key ${index}`, 1);
  const { stateOf } = setUp({ each: { bytes: 12_000 } }, store);

  await expect(stateOf("ann").set("a", text(6000))).rejects.toMatchObject({ code: "quota-reached" });
});

const keep = defineTool({ name: "keep", description: "Keeps", run: () => "done" });
const other = defineTool({ name: "other", description: "Keeps, too", run: () => "done" });
const large = defineTool({
  name: "large",
  description: "Says much",
  input: { type: "object", properties: { sign: { type: "string" } } },
  run: ({ sign }) => String(sign).repeat(100_000),
});

function text(length: number): JsonValue {
  return "x".repeat(length);
}

interface Stage {
  readonly workspace: Workspace;
  stateOf(user: string, tool?: string): ToolState;
}

function setUp(quotas: QuotaOptions = { each: { bytes: 1000 } }, store: Store = memoryStore()): Stage {
  const workspace = createWorkspace({ tools: [keep, other, large], store, quotas, limits: { maxOutputBytes: 1000 } });
  return { workspace, stateOf: (user, tool = "keep") => workspace.openState(tool, { user }) };
}
