import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { isKitbagError } from "../../core/errors.ts";
import type { AppendOptions, Store } from "../../core/store.ts";
import { memoryStore } from "../memory-store.ts";
import { sqliteStore } from "./sqlite-store.ts";

const folder = mkdtempSync(join(tmpdir(), "kitbag-model-"));

afterAll(() => rmSync(folder, { recursive: true }));

const key = fc.constantFrom("a", "ab", "b", "\uFFFF", "\u{1F600}");
const number = fc.integer({ min: 0, max: 6 });
const expiresInMs = fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined });

/** What is done with a store, or with its clock. */
const step = fc.oneof(
  fc.record({ do: fc.constant("set" as const), key, value: number, expiresInMs, ifVersion: fc.option(number) }),
  fc.record({ do: fc.constant("delete" as const), key }),
  fc.record({ do: fc.constant("increment" as const), key, by: number, expiresInMs }),
  fc.record({ do: fc.constant("get" as const), key }),
  fc.record({ do: fc.constant("list" as const), prefix: fc.constantFrom("", "a"), after: key, limit: number }),
  fc.record({ do: fc.constant("append" as const), key, count: number, expectedPosition: fc.option(number) }),
  fc.record({ do: fc.constant("read" as const), key, after: number, limit: number }),
  fc.record({ do: fc.constant("add" as const), key, priority: number, delayMs: number }),
  fc.record({ do: fc.constant("claim" as const), leaseMs: fc.integer({ min: 1, max: 30 }), limit: number }),
  fc.record({ do: fc.constant("complete" as const), key, attempt: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant("count" as const) }),
  fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: 40 }) }),
  fc.record({ do: fc.constant("reopen" as const) }),
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

test("sqliteStore() answers what memoryStore() answers, whatever is done, also when it is opened again", async () => {
  let files = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
      files += 1;
      const file = join(folder, String(files), "kitbag.db");
      let time = 1_000_000;
      const now = (): number => time;
      const memory = memoryStore({ now });
      let sqlite = await sqliteStore({ file, now });
      for (const one of steps) {
        if (one.do === "pass") time += one.ms;
        if (one.do === "reopen") {
          await sqlite.close();
          sqlite = await sqliteStore({ file, now });
        }
        expect(await answerOf(sqlite, one), JSON.stringify(one)).toEqual(await answerOf(memory, one));
      }
      await sqlite.close();
    }),
    { numRuns: 40 },
  );
});

/** What the store says; versions count writes, so that they differ between drivers and are left out. */
async function answerOf(store: Store, one: Step): Promise<unknown> {
  try {
    return await run(store, one);
  } catch (cause) {
    return isKitbagError(cause) ? cause.code : cause;
  }
}

async function run(store: Store, one: Step): Promise<unknown> {
  switch (one.do) {
    case "set":
    case "delete":
    case "increment":
    case "get":
    case "list":
      return runOnValues(store, one);
    case "append":
      return store.log.append(one.key, Array.from({ length: one.count }).fill(1) as number[], toExpected(one));
    case "read":
      return [await store.log.read(one.key, one), await store.log.streams(), await store.log.position(one.key)];
    case "add":
      return store.queue("jobs").add(one.key, one);
    case "claim":
      return store.queue("jobs").claim(one);
    case "complete":
      return store.queue("jobs").complete({ id: one.key, attempt: one.attempt });
    case "count":
      return store.queue("jobs").count();
    case "pass":
    case "reopen":
      return undefined;
  }
}

function toExpected({ expectedPosition }: { readonly expectedPosition: number | null }): AppendOptions {
  return expectedPosition === null ? {} : { expectedPosition };
}

type ValueStep = Extract<Step, { do: "set" | "delete" | "increment" | "get" | "list" }>;

async function runOnValues({ kv }: Store, one: ValueStep): Promise<unknown> {
  const time = "expiresInMs" in one && one.expiresInMs !== undefined ? { expiresInMs: one.expiresInMs } : {};
  switch (one.do) {
    case "set": {
      const version = (await kv.get(one.key))?.version ?? 0;
      const ifVersion = one.ifVersion === null ? {} : { ifVersion: one.ifVersion % 2 === 0 ? 0 : version };
      return (await kv.set(one.key, one.value, { ...ifVersion, ...time })) > version;
    }
    case "delete":
      return kv.delete(one.key);
    case "increment":
      return kv.increment(one.key, one.by, time);
    case "get":
      return (await kv.get(one.key))?.value;
    case "list":
      return (await kv.list(one)).map(([name, { value, expiresInMs: left }]) => [name, value, left]);
  }
}
