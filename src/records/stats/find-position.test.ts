import fc from "fast-check";
import { expect, test } from "vitest";

import { memoryStore } from "../../store/memory-store.ts";
import { findPosition } from "./read-call-stats.ts";

test("findPosition() finds what a search through all entries finds", async () => {
  const gaps = fc.array(fc.nat(3), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(gaps, fc.nat(80), async (list, time) => {
      let now = 0;
      const times: number[] = [];
      const { log } = memoryStore({ now: () => now });
      for (const gap of list) {
        now += gap;
        times.push(now);
        await log.append("calls", [1]);
      }

      expect(await findPosition(log, "calls", time)).toBe(times.filter((each) => each < time).length);
    }),
  );
});

test("findPosition() looks at few entries", async () => {
  let now = 0;
  let reads = 0;
  const { log } = memoryStore({ now: () => now });
  for (now = 0; now < 10_000; now++) await log.append("calls", [1]);
  const counting = {
    ...log,
    read: (...args: Parameters<typeof log.read>) => {
      reads += 1;
      return log.read(...args);
    },
  };

  expect(await findPosition(counting, "calls", 6543)).toBe(6543);
  expect(reads).toBeLessThanOrEqual(14);
});
