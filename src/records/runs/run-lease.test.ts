import { expect, test } from "vitest";

import { createFakeClock, settled } from "../../../test/support/fake-clock.ts";
import { KitbagError } from "../../core/errors.ts";
import type { KeyValueStore } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createLeases } from "./run-lease.ts";

const leaseMs = 1000;

test("renew() keeps a lease for its time, counted anew", async () => {
  const { clock, first, second } = createWorld();
  const lease = await first.take("a");
  await clock.advance(900);

  expect(await lease.renew()).toBe("kept");
  await clock.advance(900);

  await expect(second.take("a")).rejects.toMatchObject({ code: "run-leased" });
  expect(await second.find("a")).toEqual({ worker: "first", until: clock.now() + 100 });
});

test("renew() is in doubt when the time was over, and refused when somebody else has the lease", async () => {
  const { clock, first, second } = createWorld();
  const lease = await first.take("a");
  await clock.advance(leaseMs);
  const late = await lease.renew();
  await clock.advance(leaseMs);
  await second.take("a");

  expect(late).toBe("doubtful");
  await expect(lease.renew()).rejects.toMatchObject({ code: "run-leased", details: { worker: "second" } });
});

test("renew() knows its lease again after an answer was lost", async () => {
  const { kv, first } = createWorld();
  const lease = await first.take("a");
  kv.loseAnswer();

  await expect(lease.renew()).rejects.toMatchObject({ code: "store-unavailable" });
  expect(await lease.renew()).toBe("kept");
  await lease.release();

  expect(await kv.list()).toEqual([]);
});

test("release() during a renewal leaves nothing behind, whoever is faster", async () => {
  const { kv, first } = createWorld();
  const lease = await first.take("a");
  const answer = kv.holdAnswer();
  const renewal = lease.renew();

  const release = lease.release();
  await settled();
  answer();
  await Promise.all([renewal, release]);

  expect(await kv.list()).toEqual([]);
});

test("renew() after release() does not bring the lease back", async () => {
  const { kv, first } = createWorld();
  const lease = await first.take("a");
  await lease.release();

  await lease.renew();

  expect(await kv.list()).toEqual([]);
});

test("take() remembers leases that it saw, and forgets them when there are too many", async () => {
  const { clock, first, second } = createWorld();
  for (let index = 0; index < 10_001; index++) await first.take(`run-${index}`);
  for (let index = 0; index < 10_001; index++) await second.find(`run-${index}`);
  clock.jump(-3_600_000);
  await clock.advance(leaseMs);

  expect(await second.findFree(["run-0", "run-10000"])).toEqual(["run-10000"]);
});

test("findFree() tells apart more leases than are listed at a time", async () => {
  const { first, second } = createWorld();
  const runIds = Array.from({ length: 1500 }, (_, index) => `run-${index}`);
  for (const runId of runIds) await first.take(runId);

  expect(await second.findFree([...runIds, "free"])).toEqual(["free"]);
});

interface FaultyKv extends KeyValueStore {
  /** The next write happens, but nobody is told. */
  loseAnswer(): void;
  /** The answer to the next write comes when the function is called that this answers with. */
  holdAnswer(): () => void;
}

interface World {
  readonly clock: ReturnType<typeof createFakeClock>;
  readonly kv: FaultyKv;
  readonly first: ReturnType<typeof createLeases>;
  readonly second: ReturnType<typeof createLeases>;
}

function createWorld(): World {
  const clock = createFakeClock();
  const kv = createFaultyKv(memoryStore({ now: clock.now }).kv);
  const [first, second] = ["first", "second"].map((worker) => createLeases({ kv, worker, leaseMs, clock }));
  return { clock, kv, first: first!, second: second! };
}

function createFaultyKv(kv: KeyValueStore): FaultyKv {
  let answered: () => Promise<void> = () => Promise.resolve();
  return {
    ...kv,
    async set(...args) {
      const before = answered;
      answered = () => Promise.resolve();
      const version = await kv.set(...args);
      await before();
      return version;
    },
    loseAnswer() {
      const details = { store: "test", reason: "away", cure: "wait", mayBeWritten: true };
      answered = () => Promise.reject(new KitbagError("store-unavailable", details));
    },
    holdAnswer() {
      const { promise, resolve } = Promise.withResolvers<void>();
      answered = () => promise;
      return resolve;
    },
  };
}
