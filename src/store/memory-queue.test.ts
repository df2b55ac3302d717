import { expect, test } from "vitest";

import { memoryStore } from "./memory-store.ts";

test("claim() keeps a job ready that was seen to be so when the clock goes back", async () => {
  let time = 1000;
  const queue = memoryStore({ now: () => time }).queue("jobs");
  await queue.add("job", { delayMs: 100 });
  time = 1100;
  const before = await queue.count();
  time = 500;

  const jobs = await queue.claim({ leaseMs: 10 });

  expect(before).toEqual({ ready: 1, delayed: 0, claimed: 0 });
  expect(jobs).toEqual([{ id: "job", attempt: 1 }]);
});

test("claim() compares few jobs, however many there are", async () => {
  const queue = memoryStore().queue("jobs");
  const count = 20_000;
  await Promise.all(Array.from({ length: count }, (_, index) => queue.add(`job-${index}`, { priority: index % 7 })));

  // Sorting all of them for each claim would take minutes: the test's time limit would stop it.
  const taken = new Set<string>();
  for (let index = 0; index < count; index++) {
    const [job] = await queue.claim({ leaseMs: 100_000 });
    if (job) taken.add(job.id);
  }

  expect(taken.size).toBe(count);
});
