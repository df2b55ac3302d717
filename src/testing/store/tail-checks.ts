import assert from "node:assert/strict";
import { getEventListeners } from "node:events";

import type { LogEntry, LogStore } from "../../core/store.ts";
import { notWhole, quietly, rejectsWith, within, wrongKeys, type StoreChecks } from "./store-check.ts";

/** What `log.tail` yields, and how it ends. */
export const tailChecks: StoreChecks = {
  async "log.tail() yields what is there, then what is appended"({ log }) {
    await log.append("stream", ["a", "b"]);
    const tail = begin(log.tail("stream"));
    const there = [await next(tail), await next(tail)];
    const coming = next(tail);
    await log.append("other", ["x"]);
    await log.append("stream", ["c"]);

    assert.deepEqual(await coming, (await log.read("stream", { after: 2 }))[0]);
    assert.deepEqual(there, await log.read("stream", { limit: 2 }));
  },

  async "log.tail() begins after a position, also one that is still to come"({ log }) {
    await log.append("stream", ["a", "b"]);
    const now = begin(log.tail("stream", { after: 1 }));
    const later = begin(log.tail("stream", { after: 3 }));
    const first = next(later);
    await log.append("stream", ["c"]);
    await log.append("stream", ["d"]);

    assert.equal((await next(now))?.value, "b");
    assert.equal((await first)?.value, "d");
  },

  async "log.tail() waits for a stream that does not exist yet"({ log }) {
    const first = next(begin(log.tail("stream")));
    await log.append("stream", ["a"]);

    assert.equal((await first)?.position, 1);
  },

  async "log.tail() sees every entry once and in order while others append"({ log }) {
    const count = 300;
    const read = Array.from({ length: 3 }, () => quietly(take(log, count)));
    const appends: Promise<number>[] = [];
    for (let index = 0; index < count / 3; index++) {
      appends.push(log.append("stream", [index, index]), log.append("stream", [index]));
      if (index % 10 === 0) await appends.at(-1);
    }
    await Promise.all(appends);

    const all = await log.read("stream");
    for (const entries of await Promise.all(read)) assert.deepEqual(entries, all);
  },

  async "log.tail() gives copies that can be changed"({ log }) {
    await log.append("stream", [{ list: [1] }]);
    const entry = await next(begin(log.tail("stream")));
    const value = entry?.value as { list: number[] } | undefined;
    value?.list.push(2);

    assert.deepEqual((await log.read("stream"))[0]?.value, { list: [1] });
  },

  async "log.tail() answers requests in the order they were made"({ log }) {
    const tail = begin(log.tail("stream"));
    const asked = [next(tail), next(tail), next(tail)];
    await log.append("stream", ["a"]);
    await log.append("stream", ["b", "c"]);

    const found = await Promise.all(asked);

    assert.deepEqual(
      found.map((entry) => entry?.value),
      ["a", "b", "c"],
    );
  },

  async "log.tail() ends when the signal is aborted, also while it waits"({ log }) {
    const controller = new AbortController();
    const tail = begin(log.tail("stream", { signal: controller.signal }));
    const waiting = [next(tail), next(tail)];
    await log.append("other", ["x"]);
    controller.abort();

    assert.deepEqual(await Promise.all(waiting), [undefined, undefined]);
    await log.append("stream", ["a"]);
    assert.equal(await next(tail), undefined);
  },

  async "log.tail() yields nothing more after the signal was aborted"({ log }) {
    const controller = new AbortController();
    await log.append("stream", ["a", "b"]);
    const tail = begin(log.tail("stream", { signal: controller.signal }));
    await next(tail);
    controller.abort();

    assert.equal(await next(tail), undefined);
    assert.equal(await next(begin(log.tail("stream", { signal: controller.signal }))), undefined);
  },

  async "log.tail() leaves no listener on the signal"({ log }) {
    const { signal } = new AbortController();
    const tail = begin(log.tail("stream", { signal }));
    for (const value of ["a", "b"]) {
      const coming = next(tail);
      await log.append("stream", [value]);
      await coming;
    }
    const coming = next(tail);
    await within(Promise.resolve(tail.return?.()), "the end of a tail");
    await coming;

    assert.equal(getEventListeners(signal, "abort").length, 0);
  },

  async "log.tail() ends when the store is closed"(store) {
    const tails = [begin(store.log.tail("stream")), begin(store.log.tail("other"))];
    const waiting = tails.map(next);
    await store.log.append("third", ["x", "y"]);
    const halfWay = begin(store.log.tail("third"));
    await next(halfWay);
    await store.close();

    assert.deepEqual(await Promise.all(waiting), [undefined, undefined]);
    assert.deepEqual(await Promise.all([...tails, halfWay].map(next)), [undefined, undefined, undefined]);
  },

  async "log.tail() ends when the reader stops, between entries and while it waits"({ log }) {
    await log.append("stream", ["a", "b"]);
    const seen: unknown[] = [];
    for await (const { value } of log.tail("stream")) {
      seen.push(value);
      break;
    }
    const tail = begin(log.tail("stream", { after: 2 }));
    const waiting = next(tail);
    await within(Promise.resolve(tail.return?.()), "the end of a tail");

    assert.deepEqual(seen, ["a"]);
    assert.equal(await waiting, undefined);
    assert.equal(await next(tail), undefined);
  },

  async "log.tail() rejects for wrong arguments when the first entry is awaited"({ log }) {
    for (const wrong of wrongKeys) await rejectsWith("store-key-invalid", () => first(log.tail(wrong as string)));
    for (const wrong of notWhole) {
      await rejectsWith("option-invalid", () => first(log.tail("stream", { after: wrong as number })));
    }
    for (const wrong of ["signal", {}, null]) {
      const signal = wrong as AbortSignal;
      await rejectsWith("option-invalid", () => first(log.tail("stream", { signal })));
    }
  },

  async "log.tail() rejects once the store is closed"(store) {
    await store.close();

    await rejectsWith("store-closed", () => first(store.log.tail("stream")));
  },
};

type Tail = AsyncIterator<LogEntry, unknown>;

function begin(tail: AsyncIterable<LogEntry>): Tail {
  return tail[Symbol.asyncIterator]();
}

function next(tail: Tail): Promise<LogEntry | undefined> {
  const result = within(tail.next(), "an entry of a tail");
  return quietly(result.then(({ done, value }) => (done === true ? undefined : value)));
}

async function first(tail: AsyncIterable<LogEntry>): Promise<LogEntry | undefined> {
  return next(begin(tail));
}

async function take(log: LogStore, count: number): Promise<LogEntry[]> {
  const tail = begin(log.tail("stream"));
  const entries: LogEntry[] = [];
  while (entries.length < count) entries.push((await next(tail)) as LogEntry);
  await tail.return?.();
  return entries;
}
