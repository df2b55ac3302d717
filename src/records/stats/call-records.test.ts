import { expect, test } from "vitest";

import { memoryStore } from "../../store/memory-store.ts";
import { callStream, createCallRecorder } from "./call-records.ts";

test("append() writes the records of one turn of the event loop together, in the order of the calls", async () => {
  const store = memoryStore();
  const writes: unknown[] = [];
  const log = {
    ...store.log,
    append: (...args: Parameters<typeof store.log.append>) => (writes.push(args), store.log.append(...args)),
  };
  const recorder = createCallRecorder({ log });

  await Promise.all([recorder.append(1, { durable: false }), recorder.append(2, { durable: true })]);
  await recorder.append(3, { durable: false });

  expect(writes).toEqual([
    [callStream, [1, 2], { durable: true }],
    [callStream, [3], { durable: false }],
  ]);
});

test("append() rejects only the record that cannot be kept", async () => {
  const store = memoryStore();
  const recorder = createCallRecorder(store);

  const written = await Promise.allSettled(
    [1, "x".repeat(33 * 1024 * 1024), 3].map((record) => recorder.append(record, { durable: true })),
  );

  expect(written.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(written[1]).toMatchObject({ reason: { code: "store-value-invalid" } });
  expect((await store.log.read(callStream)).map(({ value }) => value)).toEqual([1, 3]);
});

test("append() rejects every record of a write that fails, and writes again", async () => {
  const store = memoryStore();
  let isAway = true;
  const log = {
    ...store.log,
    append: (...args: Parameters<typeof store.log.append>) =>
      isAway ? Promise.reject(new Error("away")) : store.log.append(...args),
  };
  const recorder = createCallRecorder({ log });

  const failed = await Promise.allSettled([1, 2].map((record) => recorder.append(record, { durable: true })));
  isAway = false;
  await recorder.append(3, { durable: true });

  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect((await store.log.read(callStream)).map(({ value }) => value)).toEqual([3]);
});
