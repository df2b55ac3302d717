import assert from "node:assert/strict";

import { isKitbagError } from "../../core/errors.ts";
import type { ClaimOptions, Job, JobOptions, Queue } from "../../core/store.ts";
import { notWhole, oddKeys, rejectsWith, within, wrongKeys, type StoreChecks } from "./store-check.ts";

/** Long enough for a slow machine to do something before, short enough to wait for. */
const shortMs = 400;

const longMs = 3_600_000;

/** What a queue hands out, and to whom. */
export const queueChecks: StoreChecks = {
  async "queue.claim() answers with an empty list for a queue without jobs"(store) {
    assert.deepEqual(await store.queue("jobs").claim({ leaseMs: longMs, limit: 10 }), []);
    assert.deepEqual(await store.queue("jobs").count(), { ready: 0, delayed: 0, claimed: 0 });
  },

  async "queue.claim() hands out jobs in the order in which they were added"(store) {
    const queue = store.queue("jobs");
    for (const id of ["b", "a", "c"]) await queue.add(id);
    const many = Array.from({ length: 100 }, (_, index) => `many-${index}`);
    await Promise.all(many.map((id) => queue.add(id)));

    assert.deepEqual(await claim(queue, 2), ["b", "a"]);
    assert.deepEqual(await claim(queue, 1000), ["c", ...many]);
  },

  async "queue.claim() hands out the highest priority first"(store) {
    const queue = store.queue("jobs");
    const priorities = {
      none: undefined,
      most: 1_000_000,
      low: -5,
      high: 5,
      least: -1_000_000,
      zero: 0,
      "high too": 5,
    };
    for (const [id, priority] of Object.entries(priorities)) {
      await queue.add(id, priority === undefined ? {} : { priority });
    }

    assert.deepEqual(await claim(queue, 10), ["most", "high", "high too", "none", "zero", "low", "least"]);
  },

  async "queue.claim() takes one job unless told otherwise"(store) {
    const queue = store.queue("jobs");
    for (const id of ["a", "b", "c"]) await queue.add(id);

    assert.deepEqual(await queue.claim({ leaseMs: longMs }), [{ id: "a", attempt: 1 }]);
    assert.deepEqual(await claim(queue, 0), []);
    assert.deepEqual(await claim(queue, 10), ["b", "c"]);
  },

  async "queue.add() brings a job forward that waits, and puts none back"(store) {
    const queue = store.queue("jobs");
    assert.equal(await queue.add("first", { priority: 1 }), true);
    assert.equal(await queue.add("second"), true);
    assert.equal(await queue.add("late", { priority: -1, delayMs: longMs }), true);
    assert.equal(await queue.add("later", { delayMs: longMs }), true);

    assert.equal(await queue.add("first", { priority: -5, delayMs: longMs }), false);
    assert.equal(await queue.add("later", { priority: 5, delayMs: longMs }), false);
    assert.deepEqual(await queue.count(), { ready: 2, delayed: 2, claimed: 0 });
    assert.equal(await queue.add("second", { priority: 2 }), false);
    assert.equal(await queue.add("late", { priority: -2 }), false);

    assert.deepEqual(await claim(queue, 10), ["second", "first", "late"]);
  },

  async "queue.add() leaves a job that is claimed as it is"(store) {
    const queue = store.queue("jobs");
    await queue.add("claimed");
    const job = await claimOne(queue, { leaseMs: longMs });
    await queue.add("other", { priority: 1 });

    assert.equal(await queue.add("claimed", { priority: 2 }), false);
    assert.deepEqual(await queue.count(), { ready: 1, delayed: 0, claimed: 1 });
    await queue.release(job);

    assert.deepEqual(await claim(queue, 10), ["other", "claimed"]);
  },

  async "queue.add() adds a job once when many add it at once"(store) {
    const queue = store.queue("jobs");

    const added = await Promise.all(Array.from({ length: 20 }, () => queue.add("job")));

    assert.equal(added.filter(Boolean).length, 1);
    assert.deepEqual(await claim(queue, 10), ["job"]);
  },

  async "queue.add() with delayMs keeps a job back for that time"(store, wait) {
    const queue = store.queue("jobs");
    await queue.add("later", { delayMs: shortMs });
    await queue.add("much later", { delayMs: longMs, priority: 5 });
    await queue.add("now");
    assert.deepEqual(await claim(queue, 1), ["now"]);
    assert.deepEqual(await claim(queue, 10), []);
    await queue.add("while it waited");
    await wait(shortMs + 100);

    assert.deepEqual(await claim(queue, 10), ["while it waited", "later"]);
  },

  async "queue.claim() hands out a job again when its lease is over, and not before"(store, wait) {
    const queue = store.queue("jobs");
    await queue.add("job");
    const [first] = await queue.claim({ leaseMs: shortMs });
    assert.deepEqual(await claim(queue, 10), []);
    await wait(shortMs + 100);

    assert.deepEqual(first, { id: "job", attempt: 1 });
    assert.deepEqual(await queue.claim({ leaseMs: shortMs }), [{ id: "job", attempt: 2 }]);
    await wait(shortMs + 100);
    assert.deepEqual(await queue.claim({ leaseMs: shortMs }), [{ id: "job", attempt: 3 }]);
  },

  async "queue tells who was too slow that the job is lost"(store, wait) {
    const queue = store.queue("jobs");
    await queue.add("job");
    const slow = await claimOne(queue, { leaseMs: 1 });
    await wait(50);
    const fast = await claimOne(queue, { leaseMs: longMs });

    await rejectsWith("job-lost", () => queue.extend(slow, longMs));
    await rejectsWith("job-lost", () => queue.release(slow));
    await rejectsWith("job-lost", () => queue.complete(slow));
    assert.deepEqual(await queue.count(), { ready: 0, delayed: 0, claimed: 1 });
    await queue.complete(fast);
  },

  async "queue lets a worker that was too slow go on as long as no other worker has the job"(store, wait) {
    const queue = store.queue("jobs");
    await queue.add("extended");
    await queue.add("completed");
    await queue.add("released");
    const [extended, completed, released] = await queue.claim({ leaseMs: 1, limit: 3 });
    await wait(50);

    await assert.doesNotReject(queue.extend(extended as Job, longMs));
    await assert.doesNotReject(queue.complete(completed as Job));
    await assert.doesNotReject(queue.release(released as Job));
    assert.deepEqual(await claim(queue, 10), ["released"]);
  },

  async "queue.extend() starts the lease anew, longer or shorter"(store, wait) {
    const queue = store.queue("jobs");
    await queue.add("job");
    const job = await claimOne(queue, { leaseMs: shortMs });
    await queue.extend(job, longMs);
    await wait(shortMs + 100);
    assert.deepEqual(await claim(queue, 1), []);
    await queue.extend(job, 1);
    await wait(50);

    assert.deepEqual(await queue.claim({ leaseMs: longMs }), [{ id: "job", attempt: 2 }]);
  },

  async "queue.complete() takes the job out, once"(store) {
    const queue = store.queue("jobs");
    await queue.add("job");
    const job = await claimOne(queue, { leaseMs: longMs });
    const results = await Promise.allSettled([queue.complete(job), queue.complete(job), queue.complete(job)]);

    const lost = results.filter((result) => result.status === "rejected");
    assert.equal(lost.length, 2);
    for (const { reason } of lost) assert.ok(isKitbagError(reason, "job-lost"), String(reason));
    await rejectsWith("job-lost", () => queue.extend(job, longMs));
    assert.deepEqual(await queue.count(), { ready: 0, delayed: 0, claimed: 0 });
    assert.equal(await queue.add("job"), true);
    assert.deepEqual(await claim(queue, 10), ["job"]);
  },

  async "queue.release() gives the job back with its priority, at once or later"(store, wait) {
    const queue = store.queue("jobs");
    await queue.add("high", { priority: 1 });
    const high = await claimOne(queue, { leaseMs: longMs });
    await queue.add("low");
    await queue.release(high);
    const [again, low] = await queue.claim({ leaseMs: longMs, limit: 2 });
    await queue.release(again as Job, { delayMs: shortMs });
    const early = await queue.claim({ leaseMs: longMs, limit: 10 });
    await wait(shortMs + 100);

    assert.deepEqual(
      [again, low],
      [
        { id: "high", attempt: 2 },
        { id: "low", attempt: 1 },
      ],
    );
    assert.deepEqual(early, []);
    assert.deepEqual(await queue.claim({ leaseMs: longMs, limit: 10 }), [{ id: "high", attempt: 3 }]);
  },

  async "queue.release() ends the claim: who gave a job back does not have it"(store) {
    const queue = store.queue("jobs");
    await queue.add("job");
    const job = await claimOne(queue, { leaseMs: longMs });
    await queue.release(job);

    await rejectsWith("job-lost", () => queue.release(job));
    await rejectsWith("job-lost", () => queue.complete(job));
    await rejectsWith("job-lost", () => queue.extend(job, longMs));
    assert.deepEqual(await queue.claim({ leaseMs: longMs }), [{ id: "job", attempt: 2 }]);
  },

  async "queue knows nothing of unclaimed jobs and of other attempts"(store) {
    const queue = store.queue("jobs");
    await queue.add("waiting");
    await queue.add("claimed", { priority: 1 });
    const { id, attempt } = await claimOne(queue, { leaseMs: longMs });
    for (const job of [
      { id: "waiting", attempt: 1 },
      { id: "nothing", attempt: 1 },
      { id, attempt: attempt + 1 },
    ]) {
      await rejectsWith("job-lost", () => queue.complete(job));
      await rejectsWith("job-lost", () => queue.release(job));
      await rejectsWith("job-lost", () => queue.extend(job, longMs));
    }

    assert.deepEqual(await queue.count(), { ready: 1, delayed: 0, claimed: 1 });
  },

  async "queue.count() counts by what becomes of the jobs next"(store, wait) {
    const queue = store.queue("jobs");
    for (const id of ["a", "b", "c", "d"]) await queue.add(id);
    await queue.add("later", { delayMs: longMs });
    await queue.claim({ leaseMs: longMs });
    await queue.claim({ leaseMs: 1, limit: 2 });
    await wait(50);

    assert.deepEqual(await queue.count(), { ready: 3, delayed: 1, claimed: 1 });
  },

  async "queue() gives queues that share nothing but their name"(store) {
    await store.queue("one").add("job", { priority: 1 });
    await store.queue("two").add("job", { priority: 2 });
    const job = await claimOne(store.queue("one"), { leaseMs: longMs });
    await store.queue("one").complete(job);

    assert.deepEqual(await claim(store.queue("one"), 10), []);
    assert.deepEqual(await claim(store.queue("two"), 10), ["job"]);
  },

  async "queue keeps odd names and odd ids apart"(store) {
    for (const name of oddKeys) assert.equal(await store.queue(name).add(`in ${oddKeys.indexOf(name)}`), true);
    for (const id of oddKeys) assert.equal(await store.queue("ids").add(id), true);

    for (const [index, name] of oddKeys.entries()) {
      assert.deepEqual(await claim(store.queue(name), 10), [`in ${index}`], JSON.stringify(name));
    }
    assert.deepEqual(await claim(store.queue("ids"), 100), oddKeys);
  },

  async "queue.claim() gives no job to two of twenty who claim at once"(store) {
    const all = Array.from({ length: 200 }, (_, index) => `job-${index}`);
    await Promise.all(all.map((id) => store.queue("jobs").add(id)));

    const claimers = Array.from({ length: 20 }, async (_, claimer) => {
      const queue = store.queue("jobs");
      const taken: string[] = [];
      for (;;) {
        const jobs = await queue.claim({ leaseMs: longMs, limit: 1 + (claimer % 4) });
        if (jobs.length === 0) return taken;
        for (const job of jobs) await queue.complete(job);
        taken.push(...jobs.map(({ id }) => id));
      }
    });
    const taken = await within(Promise.all(claimers), "twenty who claim");

    assert.deepEqual(taken.flat().toSorted(), all.toSorted());
    assert.deepEqual(await store.queue("jobs").count(), { ready: 0, delayed: 0, claimed: 0 });
  },

  async "queue refuses wrong names and wrong ids in every method"(store) {
    for (const wrong of wrongKeys) {
      for (const [name, id] of [
        ["jobs", wrong as string],
        [wrong as string, "job"],
      ] as const) {
        await rejectsWith("store-key-invalid", () => store.queue(name).add(id));
        await rejectsWith("store-key-invalid", () => store.queue(name).extend({ id, attempt: 1 }, 1));
        await rejectsWith("store-key-invalid", () => store.queue(name).complete({ id, attempt: 1 }));
        await rejectsWith("store-key-invalid", () => store.queue(name).release({ id, attempt: 1 }));
      }
      await rejectsWith("store-key-invalid", () => store.queue(wrong as string).claim({ leaseMs: 1 }));
      await rejectsWith("store-key-invalid", () => store.queue(wrong as string).count());
    }

    assert.deepEqual(await store.queue("jobs").count(), { ready: 0, delayed: 0, claimed: 0 });
  },

  async "queue refuses wrong numbers and invalid jobs"(store) {
    const queue = store.queue("jobs");
    for (const wrong of [...notWhole, 0]) {
      const number = wrong as number;
      if (wrong !== 0) await rejectsWith("option-invalid", () => queue.add("job", { delayMs: number }));
      if (wrong !== 0) await rejectsWith("option-invalid", () => queue.claim({ leaseMs: 1, limit: number }));
      if (wrong !== 0) await rejectsWith("option-invalid", () => queue.release(none, { delayMs: number }));
      await rejectsWith("option-invalid", () => queue.claim({ leaseMs: number }));
      await rejectsWith("option-invalid", () => queue.extend(none, number));
      await rejectsWith("option-invalid", () => queue.complete({ id: "job", attempt: number }));
    }
    for (const wrong of [1_000_001, -1_000_001, 0.5, Number.NaN, "1", null]) {
      await rejectsWith("option-invalid", () => queue.add("job", { priority: wrong } as JobOptions));
    }
    for (const wrong of [undefined, null, "job", 5]) {
      await rejectsWith("store-key-invalid", () => queue.complete(wrong as unknown as Job));
    }
    await rejectsWith("option-invalid", () => queue.claim(undefined as unknown as ClaimOptions));

    assert.deepEqual(await queue.count(), { ready: 0, delayed: 0, claimed: 0 });
  },

  async "queue rejects in every method once the store is closed"(store) {
    const queue = store.queue("jobs");
    await store.close();

    for (const closed of [queue, store.queue("other")]) {
      await rejectsWith("store-closed", () => closed.add("job"));
      await rejectsWith("store-closed", () => closed.claim({ leaseMs: 1 }));
      await rejectsWith("store-closed", () => closed.extend(none, 1));
      await rejectsWith("store-closed", () => closed.complete(none));
      await rejectsWith("store-closed", () => closed.release(none));
      await rejectsWith("store-closed", () => closed.count());
    }
  },
};

/** A job that no worker has. */
const none: Job = { id: "job", attempt: 1 };

async function claim(queue: Queue, limit: number): Promise<string[]> {
  return (await queue.claim({ leaseMs: longMs, limit })).map(({ id }) => id);
}

async function claimOne(queue: Queue, options: ClaimOptions): Promise<Job> {
  const [job] = await queue.claim(options);
  assert.ok(job, "there must be a job to claim");
  return job;
}
