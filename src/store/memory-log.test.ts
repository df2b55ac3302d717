import fc from "fast-check";
import { expect, test } from "vitest";

import { isKitbagError } from "../core/errors.ts";
import type { JsonValue } from "../core/json.ts";
import type { LogStore } from "../core/store.ts";
import { createStoreLife } from "./store-life.ts";
import { memoryLog } from "./memory-store.ts";

test("memoryLog() appends and reads what a plain list would", async () => {
  const stream = fc.constantFrom("a", "__proto__", "constructor");
  const values = fc.array(fc.oneof(fc.integer(), fc.string(), fc.constant(Number.NaN)), { maxLength: 4 });
  const expectedPosition = fc.option(fc.nat(12), { nil: undefined });
  const append = fc.record({ stream, values, expectedPosition, after: fc.nat(12), limit: fc.nat(12) });

  await fc.assert(
    fc.asyncProperty(fc.array(append, { maxLength: 30, size: "max" }), async (steps) => {
      const { log } = createLog();
      const model = new Map<string, JsonValue[]>();

      for (const { stream, values, expectedPosition, after, limit } of steps) {
        const list = model.get(stream) ?? [];
        const options = expectedPosition === undefined ? {} : { expectedPosition };
        const found = await log
          .append(stream, values as JsonValue[], options)
          .catch((cause: unknown) => isKitbagError(cause) && cause.code);

        const refusal = values.some(Number.isNaN)
          ? "store-value-invalid"
          : (expectedPosition ?? list.length) !== list.length && "store-conflict";
        if (refusal === false) model.set(stream, [...list, ...(values as JsonValue[])]);
        const kept = model.get(stream) ?? [];
        expect(found).toBe(refusal === false ? kept.length : refusal);
        expect(await log.position(stream)).toBe(kept.length);
        expect(await log.read(stream, { after, limit })).toEqual(
          kept.slice(after, after + limit).map((value, index) => ({ position: after + index + 1, time: 7, value })),
        );
      }
    }),
    { numRuns: 500 },
  );
});

test("tail() gives each reader every entry once and in order, however asking, appending and stopping are mixed", async () => {
  const reader = fc.nat(2);
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ type: fc.constant("append" as const), count: fc.nat(3) }) },
    { weight: 6, arbitrary: fc.record({ type: fc.constant("ask" as const), reader }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("abort" as const), reader }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("return" as const), reader }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant("settle" as const) }) },
  );

  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80, size: "max" }), async (steps) => {
      const { log, life } = createLog();
      const readers = [createReader(log, 0), createReader(log, 0), createReader(log, 5)];
      let appended = 0;

      for (const step of steps) {
        if (step.type === "settle") await settled();
        else if (step.type === "append") {
          void log.append(
            "stream",
            Array.from({ length: step.count }, () => (appended += 1)),
          );
        } else readers[step.reader]?.[step.type](appended);
      }
      life.close();

      for (const { answers, expected } of readers) expect(await Promise.all(answers)).toEqual(expected(appended));
    }),
    { numRuns: 1000 },
  );
});

test("tail() lets exactly one of several appends at one position through, and shows that one", async () => {
  const { log } = createLog();
  const tail = log.tail("stream")[Symbol.asyncIterator]();
  const first = tail.next();

  const appends = Array.from({ length: 100 }, (_, writer) => log.append("stream", [writer], { expectedPosition: 0 }));
  const results = await Promise.allSettled(appends);

  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect((await first).value).toMatchObject({ position: 1, value: 0 });
  expect(await log.position("stream")).toBe(1);
});

function createLog() {
  const life = createStoreLife(() => 7);
  return { life, log: memoryLog(life) };
}

/** A reader that notes what it asked for, and what a list would answer. */
function createReader(log: LogStore, after: number) {
  const controller = new AbortController();
  const tail = log.tail("stream", { after, signal: controller.signal })[Symbol.asyncIterator]();
  const answers: Promise<number | "done">[] = [];
  let endedAt: number | undefined;

  function end(appended: number): void {
    endedAt ??= Math.max(0, Math.min(answers.length, appended - after));
  }

  return {
    answers,
    ask(): void {
      answers.push(tail.next().then(({ done, value }) => (done === true ? "done" : value.position)));
    },
    abort(appended: number): void {
      end(appended);
      controller.abort();
    },
    return(appended: number): void {
      end(appended);
      void tail.return?.();
    },
    expected: (appended: number): (number | "done")[] => {
      const count = endedAt ?? Math.max(0, Math.min(answers.length, appended - after));
      return answers.map((_, index) => (index < count ? after + index + 1 : "done"));
    },
  };
}

function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
