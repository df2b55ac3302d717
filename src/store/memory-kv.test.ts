import fc from "fast-check";
import { expect, test } from "vitest";

import { isKitbagError } from "../core/errors.ts";
import type { JsonValue } from "../core/json.ts";
import type { KeyValueStore, ListOptions } from "../core/store.ts";
import { memoryKv } from "./memory-kv.ts";
import { createStoreLife } from "./store-life.ts";

test("memoryKv() does what a plain list of values would do, whatever happens in which order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation(), { maxLength: 60, size: "max" }), async (operations) => {
      const world = createWorld();

      for (const step of operations) {
        const found = await settle(step.real(world));
        const expected = step.model(world, found);
        expect(found, step.name).toEqual(expected);
      }
    }),
    { numRuns: 1000 },
  );
});

test("memoryKv() takes exactly the keys that the contract allows", async () => {
  const kv = memoryKv(createStoreLife(Date.now));
  const unit = fc.constantFrom("a", "\0", "\uD83D", "\uDE00", "\u20AC", "\u{1F600}", "__proto__", "\uFFFF");

  await fc.assert(
    fc.asyncProperty(fc.string({ unit, maxLength: 400, size: "max" }), async (key) => {
      const allowed = key !== "" && !key.includes("\0") && key.isWellFormed() && Buffer.byteLength(key) <= 1024;

      const found = await settle(kv.set(key, key).then(() => kv.get(key)));

      if (allowed) expect(found).toMatchObject({ value: key });
      else expect(found).toBe("store-key-invalid");
    }),
  );
});

test("memoryKv() gives back what JSON would, and refuses what JSON would change", async () => {
  const kv = memoryKv(createStoreLife(Date.now));
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withTypedArray: true,
    withSparseArray: true,
  });

  await fc.assert(
    fc.asyncProperty(fc.oneof(anything, fc.jsonValue({ stringUnit: "binary" })), async (value) => {
      const found = await settle(kv.set("key", value as JsonValue).then(() => kv.get("key")));

      if (found === "store-value-invalid") return;
      const text = JSON.stringify(value);
      expect(JSON.stringify((found as { value: JsonValue }).value)).toBe(text);
    }),
    { numRuns: 2000 },
  );
});

test("memoryKv() refuses no JSON value", async () => {
  const kv = memoryKv(createStoreLife(Date.now));

  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ stringUnit: "binary", depthSize: "large" }), async (value) => {
      fc.pre(!JSON.stringify(value).includes("__proto__"));
      await kv.set("key", value as JsonValue);

      expect((await kv.get("key"))?.value).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("memoryKv() does not bring back what has expired when the clock goes back", async () => {
  const { kv, clock } = createWorld();
  await kv.set("got", 1, { expiresInMs: 10 });
  await kv.set("listed", 1, { expiresInMs: 10 });
  clock.time = 10;
  await kv.get("got");
  await kv.list();
  clock.time = 0;

  expect(await kv.list()).toEqual([]);
  expect(await kv.get("got")).toBeUndefined();
});

test("memoryKv() lets go of expired values that nobody asks for", async () => {
  const { kv, clock } = createWorld();
  for (let index = 0; index < 100; index++) await kv.set(`old-${index}`, 1, { expiresInMs: 10 });
  clock.time = 10;
  for (let index = 0; index < 100; index++) await kv.set(`new-${index}`, 1, { expiresInMs: 10 });
  // Before its time nothing has expired, so what is missing now was let go.
  clock.time = 0;

  expect(await kv.list({ prefix: "old-" })).toEqual([]);
  expect(await kv.list({ prefix: "new-" })).toHaveLength(100);
});

test("memoryKv() keeps an item whose time was taken back, however much is written afterwards", async () => {
  const { kv, clock } = createWorld();
  await kv.set("key", 1, { expiresInMs: 10 });
  await kv.set("key", 2);
  clock.time = 1000;
  for (let index = 0; index < 100; index++) await kv.set("other", index, { expiresInMs: 10 });

  expect((await kv.get("key"))?.value).toBe(2);
});

test("memoryKv() lists 100,000 keys in pages without sorting them for each page", async () => {
  const { kv } = createWorld();
  for (let index = 0; index < 100_000; index++) await kv.set(`key-${(index * 7919) % 100_000}`, index);

  let count = 0;
  let after = "";
  for (
    let page = await kv.list({ limit: 10 });
    page.length > 0 && count < 20_000;
    page = await kv.list({ after, limit: 10 })
  ) {
    count += page.length;
    after = (page.at(-1) as readonly [string, unknown])[0];
  }

  // Sorting for each of the 2,000 pages would take minutes, beyond the limit of a test.
  expect(count).toBe(20_000);
});

interface World {
  readonly kv: KeyValueStore;
  readonly clock: { time: number };
  /** What must be there. */
  readonly items: Map<string, { value: JsonValue; version: number; expiresAt: number }>;
  /** The greatest version that was ever seen. */
  lastVersion: number;
}

/** One thing that can be done, and what a trivial store would answer. */
interface Operation {
  readonly name: string;
  real(world: World): Promise<unknown>;
  /** May look at what was found only for what the contract leaves open: the number of a new version. */
  model(world: World, found: unknown): unknown;
}

function createWorld(): World {
  const clock = { time: 0 };
  return { kv: memoryKv(createStoreLife(() => clock.time)), clock, items: new Map(), lastVersion: 0 };
}

/** What a promise came to: its value, or the code of its error. */
function settle(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((cause: unknown) => (isKitbagError(cause) ? cause.code : cause));
}

function operation(): fc.Arbitrary<Operation> {
  const key = fc.constantFrom("a", "ab", "b", "__proto__", "constructor", "\uFFFF", "\u{1F600}");
  const value = fc.oneof(
    fc.integer(),
    fc.constantFrom<JsonValue>("text", null, 1.5, Number.MAX_SAFE_INTEGER, [1], { a: 1 }),
  );
  const expiresInMs = fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined });
  const guard = fc.constantFrom<Guard>("none", "zero", "current", "wrong");
  const part = fc.option(fc.oneof(key, fc.constant("")), { nil: undefined });
  const limit = fc.option(fc.nat(4), { nil: undefined });
  return fc.oneof(
    key.map(toGet),
    fc.tuple(key, value, expiresInMs, guard).map(toSet),
    fc.tuple(key, guard).map(toDelete),
    fc.tuple(key, fc.integer({ min: -3, max: 3 }), expiresInMs).map(toIncrement),
    fc.tuple(part, part, limit).map(toList),
    fc.integer({ min: 1, max: 15 }).map(toPass),
  );
}

/** Which version a write asks for. */
type Guard = "none" | "zero" | "current" | "wrong";

function versionFor({ items, lastVersion }: World, key: string, guard: Guard): { ifVersion?: number } {
  if (guard === "none") return {};
  if (guard === "zero") return { ifVersion: 0 };
  return { ifVersion: guard === "wrong" ? lastVersion + 1 : (items.get(key)?.version ?? 0) };
}

function isRefused(world: World, key: string, guard: Guard): boolean {
  const { ifVersion } = versionFor(world, key, guard);
  return ifVersion !== undefined && ifVersion !== (world.items.get(key)?.version ?? 0);
}

function write(world: World, key: string, item: { value: JsonValue; expiresAt: number }, version: number): void {
  expect(version).toBeGreaterThan(world.lastVersion);
  world.lastVersion = version;
  world.items.set(key, { ...item, version });
}

function toGet(key: string): Operation {
  return {
    name: `get ${key}`,
    real: ({ kv }) => kv.get(key),
    model({ items }) {
      const item = items.get(key);
      return item && { value: item.value, version: item.version };
    },
  };
}

function toSet([key, value, expiresInMs, guard]: [string, JsonValue, number | undefined, Guard]): Operation {
  const expires = expiresInMs === undefined ? {} : { expiresInMs };
  return {
    name: `set ${key} ${guard} ${expiresInMs}`,
    real: (world) => world.kv.set(key, value, { ...expires, ...versionFor(world, key, guard) }),
    model(world, found) {
      if (isRefused(world, key, guard)) return "store-conflict";
      write(world, key, { value, expiresAt: world.clock.time + (expiresInMs ?? Infinity) }, found as number);
      return found;
    },
  };
}

function toDelete([key, guard]: [string, Guard]): Operation {
  return {
    name: `delete ${key} ${guard}`,
    real: (world) => world.kv.delete(key, versionFor(world, key, guard)),
    model: (world) => (isRefused(world, key, guard) ? "store-conflict" : world.items.delete(key)),
  };
}

function toIncrement([key, by, expiresInMs]: [string, number, number | undefined]): Operation {
  return {
    name: `increment ${key} ${by} ${expiresInMs}`,
    async real({ kv }) {
      const sum = await kv.increment(key, by, expiresInMs === undefined ? {} : { expiresInMs });
      return { sum, version: (await kv.get(key))?.version };
    },
    model(world, found) {
      const { value, expiresAt } = world.items.get(key) ?? {
        value: 0,
        expiresAt: world.clock.time + (expiresInMs ?? Infinity),
      };
      const sum = Number.isSafeInteger(value) ? (value as number) + by : Number.NaN;
      if (!Number.isSafeInteger(sum)) return "store-conflict";
      const { version } = found as { version: number };
      write(world, key, { value: sum, expiresAt }, version);
      return { sum, version };
    },
  };
}

function toList([prefix, after, limit]: [string | undefined, string | undefined, number | undefined]): Operation {
  const options: ListOptions = {
    ...(prefix !== undefined && { prefix }),
    ...(after !== undefined && { after }),
    ...(limit !== undefined && { limit }),
  };
  return {
    name: `list ${JSON.stringify(options)}`,
    real: ({ kv }) => kv.list(options),
    model: ({ items, clock }) =>
      [...items]
        .filter(([key]) => key.startsWith(prefix ?? "") && byBytes(key, after ?? "") > 0)
        .toSorted(([left], [right]) => byBytes(left, right))
        .slice(0, limit ?? 1000)
        .map(([key, { value, version, expiresAt }]) => {
          const left = expiresAt === Infinity ? {} : { expiresInMs: expiresAt - clock.time };
          return [key, { value, version, ...left }];
        }),
  };
}

function toPass(ms: number): Operation {
  return {
    name: `wait ${ms}`,
    async real({ clock }) {
      clock.time += ms;
    },
    model({ items, clock }) {
      for (const [key, { expiresAt }] of items) if (expiresAt <= clock.time) items.delete(key);
    },
  };
}

function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
