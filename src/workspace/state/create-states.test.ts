import { expect, test } from "vitest";

import { KitbagError } from "../../core/errors.ts";
import type { KeyValueStore } from "../../core/store.ts";
import type { StateExpectation, ToolState } from "../../core/tool-state.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createStates } from "./create-states.ts";

test("set() keeps a value that get() and read() find", async () => {
  const state = setUp();

  const version = await state.set("size", { width: 3 });

  expect(await state.get("size")).toEqual({ width: 3 });
  expect(await state.read("size")).toEqual({ value: { width: 3 }, version });
});

test("get() and read() answer with nothing for what is not there", async () => {
  const state = setUp();

  expect(await state.get("none")).toBeUndefined();
  expect(await state.read("none")).toBeUndefined();
});

test("set() copies, and so does get()", async () => {
  const state = setUp();
  const list = [1];

  await state.set("list", list);
  list.push(2);
  ((await state.get("list")) as number[]).push(3);

  expect(await state.get("list")).toEqual([1]);
});

test("set() keeps a value no longer than it may", async () => {
  let time = 0;
  const state = setUp(memoryStore({ now: () => time }).kv);

  await state.set("short", 1, { expiresInMs: 100 });
  await state.set("long", 1);
  time = 100;

  expect(await state.get("short")).toBeUndefined();
  expect(await state.get("long")).toBe(1);
});

test("set() gives the store no option that a state does not have", async () => {
  const state = setUp();
  await state.set("key", 1);

  await state.set("key", 2, { ifVersion: 999 } as object);

  expect(await state.get("key")).toBe(2);
});

test("delete() tells whether there was something", async () => {
  const state = setUp();
  await state.set("key", 1);

  expect(await state.delete("key")).toBe(true);
  expect(await state.delete("key")).toBe(false);
  expect(await state.get("key")).toBeUndefined();
});

test("list() answers with what begins with the prefix, in order and in pages", async () => {
  const state = setUp();
  for (const key of ["b/2", "a", "b/1", "b/3", "c"]) await state.set(key, key);

  const all = await state.list();
  const some = await state.list("b/", { after: "b/1", limit: 1 });

  expect(all.map(({ key }) => key)).toEqual(["a", "b/1", "b/2", "b/3", "c"]);
  expect(some).toEqual([{ key: "b/2", value: "b/2", version: 1 }]);
});

test("list() answers with 100 entries unless somebody wants more", async () => {
  const state = setUp();
  for (let index = 0; index < 120; index++) await state.set(`key ${index}`, index);

  expect(await state.list()).toHaveLength(100);
  expect(await state.list("", { limit: 1000 })).toHaveLength(120);
});

test.for([0, -1, 1.5, 1001, Number.NaN, "3" as unknown as number])("list() refuses the limit %o", async (limit) => {
  await expect(setUp().list("", { limit })).rejects.toMatchObject({ code: "option-invalid" });
});

test("one scope sees nothing of another, whatever its keys are", async () => {
  const { kv } = memoryStore();
  const mine = setUp(kv, "tool:a");
  const other = setUp(kv, "tool:a/b");

  await mine.set("/b:key", "mine");
  await mine.set("key", "mine");
  await other.set("key", "other");

  expect(await other.list()).toMatchObject([{ key: "key", value: "other" }]);
  expect(await mine.list()).toHaveLength(2);
  expect(await mine.list("", { after: "key" })).toEqual([]);
});

test.for(["__proto__", "constructor", "a:b/c", "💾", "x".repeat(512), " "])(
  "a key may be any text: %s",
  async (key) => {
    const state = setUp();

    await state.set(key, "kept");

    expect(await state.get(key)).toBe("kept");
    expect(await state.list()).toMatchObject([{ key, value: "kept" }]);
  },
);

test.for<[string, unknown, string]>([
  ["empty", "", "an empty one"],
  ["of 1 MB", "x".repeat(1_000_000), "1000000"],
  ["of 513 bytes", "é".repeat(256) + "x", "513"],
  ["with NUL", "a\0b", "one with it"],
  ["with half a character", "\uD800", "an unpaired surrogate"],
  ["that is a number", 3, "3"],
  ["that is an object", { toString: () => "key" }, "an object"],
  ["that is missing", undefined, "nothing"],
])("a key %s is refused by every method", async ([, key, found]) => {
  const state = setUp();
  const wrong = key as string;

  const results = await Promise.allSettled([
    state.get(wrong),
    state.read(wrong),
    state.set(wrong, 1),
    state.delete(wrong),
    state.compareAndSet(wrong, { version: 0 }, 1),
    state.update(wrong, () => 1),
  ]);

  for (const result of results) {
    expect(result).toMatchObject({
      reason: { code: "state-invalid", details: { problems: [{ path: "key", found }] } },
    });
  }
  expect(JSON.stringify(results).length).toBeLessThan(10_000);
});

test.for(["a\0", "x".repeat(600), 3 as unknown as string])(
  "list() refuses the prefix and the start %o",
  async (part) => {
    const state = setUp();

    await expect(state.list(part)).rejects.toMatchObject({ details: { problems: [{ path: "prefix" }] } });
    await expect(state.list("", { after: part })).rejects.toMatchObject({ details: { problems: [{ path: "after" }] } });
  },
);

test.for<[string, unknown, object]>([
  ["undefined", undefined, { path: "value", found: "nothing" }],
  ["NaN inside", { a: Number.NaN }, { path: "value.a" }],
  ["a function", () => 1, { found: "a function" }],
  ["a Date", new Date(), { path: "value" }],
  ["a cycle", toCycle(), { found: "an object that contains itself" }],
  ["the key __proto__", JSON.parse('{"__proto__":1}'), { found: 'the key "__proto__"' }],
  ["more than 1 MiB", "x".repeat(1024 * 1024), { path: "value", expected: "at most 1 MiB", found: "more" }],
])("a value that is %s is refused, and nothing is changed", async ([, value, problem]) => {
  const state = setUp();
  await state.set("key", "before");
  const wrong = value as string;

  await expect(state.set("key", wrong)).rejects.toMatchObject({
    code: "state-invalid",
    details: { key: "key", problems: [problem] },
  });
  await expect(state.compareAndSet("key", { value: "before" }, wrong)).rejects.toMatchObject({ code: "state-invalid" });

  expect(await state.get("key")).toBe("before");
});

test("set() refuses an option that is wrong", async () => {
  await expect(setUp().set("key", 1, { expiresInMs: 0 })).rejects.toMatchObject({ code: "option-invalid" });
});

test("compareAndSet() writes only over the version that is expected", async () => {
  const state = setUp();

  expect(await state.compareAndSet("key", { version: 0 }, "first")).toBe(true);
  expect(await state.compareAndSet("key", { version: 0 }, "again")).toBe(false);
  const { version } = await mustRead(state, "key");
  expect(await state.compareAndSet("key", { version }, "second")).toBe(true);
  expect(await state.compareAndSet("key", { version }, "third")).toBe(false);

  expect(await state.get("key")).toBe("second");
});

test("compareAndSet() writes only over the value that is expected, in whatever order its keys are", async () => {
  const state = setUp();

  expect(await state.compareAndSet("key", { value: undefined }, { a: 1, b: [2] })).toBe(true);
  expect(await state.compareAndSet("key", { value: undefined }, "again")).toBe(false);
  expect(await state.compareAndSet("key", { value: { b: [2], a: 2 } }, "again")).toBe(false);
  expect(await state.compareAndSet("key", { value: { b: [2], a: 1 } }, "second")).toBe(true);

  expect(await state.get("key")).toBe("second");
});

test("compareAndSet() that writes nothing leaves the version as it is", async () => {
  const state = setUp();
  const version = await state.set("key", 1);

  await state.compareAndSet("key", { value: 2 }, 3);

  expect(await state.read("key")).toEqual({ value: 1, version });
});

test("compareAndSet() gives what it writes a time", async () => {
  let time = 0;
  const state = setUp(memoryStore({ now: () => time }).kv);

  await state.compareAndSet("one", { version: 0 }, 1, { expiresInMs: 10 });
  await state.compareAndSet("two", { value: undefined }, 1, { expiresInMs: 10 });
  time = 10;

  expect(await state.list()).toEqual([]);
});

test.for([undefined, null, 1, {}, "value"])("compareAndSet() refuses the expectation %o", async (expected) => {
  const wrong = expected as StateExpectation;

  await expect(setUp().compareAndSet("key", wrong, 1)).rejects.toMatchObject({
    code: "state-invalid",
    details: { problems: [{ path: "expected", expected: "{ version } or { value }" }] },
  });
});

test("update() changes what is there, and deletes it for undefined", async () => {
  const state = setUp();

  const first = await state.update("list", (list) => [...((list as number[]) ?? []), 1]);
  const second = await state.update("list", async (list) => [...((list as number[]) ?? []), 2]);
  const third = await state.update("list", () => undefined);
  const fourth = await state.update("list", () => undefined);

  expect([first, second, third, fourth]).toEqual([[1], [1, 2], undefined, undefined]);
  expect(await state.list()).toEqual([]);
});

test("update() changes nothing if its function throws or answers what is no JSON", async () => {
  const state = setUp();
  await state.set("key", 1);

  await expect(state.update("key", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await expect(state.update("key", () => Number.NaN)).rejects.toMatchObject({ code: "state-invalid" });

  expect(await state.get("key")).toBe(1);
});

test("update() asks again when somebody deletes or writes in between", async () => {
  const state = setUp();
  await state.set("key", 1);
  const seen: unknown[] = [];

  await state.update("key", async (value) => {
    seen.push(value);
    if (seen.length === 1) await state.set("key", 2);
    if (seen.length === 2) await state.delete("key");
    return seen.length < 3 ? undefined : "done";
  });

  expect(seen).toEqual([1, 2, undefined]);
  expect(await state.get("key")).toBe("done");
});

test("update() counts right for 1,000 callers at once", async () => {
  const state = setUp();

  await Promise.all(Array.from({ length: 1000 }, () => state.update("count", (count = 0) => Number(count) + 1)));

  expect(await state.get("count")).toBe(1000);
});

test("compareAndSet() counts right for 100 callers at once that try until they are first", async () => {
  const state = setUp();
  const increment = async (): Promise<void> => {
    const found = await state.read("count");
    const version = found?.version ?? 0;
    if (!(await state.compareAndSet("count", { version }, Number(found?.value ?? 0) + 1))) await increment();
  };

  await Promise.all(Array.from({ length: 100 }, increment));

  expect(await state.get("count")).toBe(100);
});

test("update() gives up when somebody else is always faster", async () => {
  const { kv } = memoryStore();
  const state = setUp(kv);
  let asked = 0;

  const update = state.update("key", async () => {
    asked += 1;
    await kv.set("state:tool:a:key", asked);
    return "never";
  });

  await expect(update).rejects.toMatchObject({ code: "store-conflict", details: { where: "key" } });
  expect(asked).toBe(200);
});

test("a failure of the store is the failure of the state", async () => {
  const broken: KeyValueStore = { ...memoryStore().kv, set: () => Promise.reject(new Error("disk full")) };
  const state = setUp(broken);

  await expect(state.set("key", 1)).rejects.toThrow("disk full");
  await expect(state.compareAndSet("key", { version: 0 }, 1)).rejects.toThrow("disk full");
  await expect(state.update("key", () => 1)).rejects.toThrow("disk full");
});

test("a state whose user is gone does nothing any more", async () => {
  const { kv } = memoryStore();
  let isOver = false;
  const state = createStates(kv).open({ scope: "tool:a", owner: undefined }, () => {
    if (isOver) throw new KitbagError("call-cancelled", { tool: "a", reason: "over" });
  });
  await state.set("key", 1);

  const update = state.update("key", () => {
    isOver = true;
    return 2;
  });

  await expect(update).rejects.toMatchObject({ code: "call-cancelled" });
  for (const late of [state.get("key"), state.set("key", 3), state.list(), state.delete("key")]) {
    await expect(late).rejects.toMatchObject({ code: "call-cancelled" });
  }
  expect((await kv.get("state:tool:a:key"))?.value).toBe(1);
});

test("a state can be taken apart, but not changed", async () => {
  const state = setUp();
  const { get, set } = state;

  await set("key", 1);

  expect(await get("key")).toBe(1);
  expect(Object.isFrozen(state)).toBe(true);
});

function setUp(kv: KeyValueStore = memoryStore().kv, scope = "tool:a"): ToolState {
  return createStates(kv).open({ scope, owner: undefined }, () => {});
}

async function mustRead(state: ToolState, key: string): Promise<{ version: number }> {
  const found = await state.read(key);
  if (found === undefined) throw new Error("nothing there");
  return found;
}

function toCycle(): unknown {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  return cycle;
}
