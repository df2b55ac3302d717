import fc from "fast-check";
import { expect, test } from "vitest";

import { memoryStore } from "../../store/memory-store.ts";
import { createSharedPermits } from "../rates/shared-permits.ts";
import { createSlots, type SlotRequest } from "./slots.ts";

const openPermits = createSharedPermits(memoryStore().kv);

const outside: SlotRequest = { isRoot: true };
const inside: SlotRequest = { isRoot: false };
const of = (tool: string, max: number, isRoot = true): SlotRequest => ({
  isRoot,
  limited: { tool, max, isShared: false },
});

test("createSlots() has so many places in total, and calls inside calls need none", () => {
  const slots = createSlots({ maxTotal: 2, openPermits });

  const taken = [outside, inside, outside, inside, outside].map((request) => slots.take(request));

  expect(taken).toEqual([true, true, true, true, false]);
});

test("createSlots() has so many places for a tool, and others are not held up", () => {
  const slots = createSlots({ maxTotal: 10, openPermits });

  const taken = [of("a", 1), of("a", 1), of("b", 2), of("b", 2), of("b", 2), outside, of("a", 1, false)].map(
    (request) => slots.take(request),
  );

  expect(taken).toEqual([true, false, true, true, false, true, false]);
});

test("createSlots() lets in first who came first", async () => {
  const { enter, order, free } = setUp(1);
  enter("first", outside);
  enter("second", outside);
  enter("third", of("a", 1));
  enter("fourth", outside);

  await free("first", "second", "third", "fourth");

  expect(order).toEqual(["first", "second", "third", "fourth"]);
});

test("createSlots() lets others go first while a tool is full", async () => {
  const { enter, order, free } = setUp(2);
  enter("a1", of("a", 1));
  enter("a2", of("a", 1));
  enter("b1", outside);
  enter("b2", outside);

  await free("b1", "b2");
  await free("a1", "a2");

  expect(order).toEqual(["a1", "b1", "b2", "a2"]);
});

test("createSlots() lets a call inside a call go before those from outside, who could wait for it forever", async () => {
  const { enter, order, free } = setUp(1);
  enter("outer", outside);
  enter("waits for the total", of("a", 1));
  enter("waits for it too", of("a", 1));

  enter("inner", of("a", 1, false));
  const whileItRuns = [...order];
  await free("inner", "outer", "waits for the total", "waits for it too");

  expect(whileItRuns).toEqual(["outer", "inner"]);
  expect(order).toEqual(["outer", "inner", "waits for the total", "waits for it too"]);
});

test("createSlots() keeps the order when a place that was promised is taken from inside", async () => {
  const { enter, order, free } = setUp(1);
  enter("outer", outside);
  enter("first", of("a", 1));
  enter("second", of("a", 1));
  enter("inner", of("a", 1, false));

  await free("outer");
  enter("other", outside);
  const whileInnerRuns = [...order];
  await free("other");
  await free("inner", "first", "second");

  expect(whileInnerRuns).toEqual(["outer", "inner", "other"]);
  expect(order).toEqual(["outer", "inner", "other", "first", "second"]);
});

test("createSlots() gives a place on that somebody leaves, in line or just let in", async () => {
  const { enter, order, free, leave } = setUp(1);
  enter("running", of("a", 1));
  enter("in line for the tool", of("a", 1));
  enter("in line for the total", outside);
  enter("last", of("a", 1));

  leave("in line for the total");
  leave("in line for the tool");
  const freed = free("running");
  leave("last");
  enter("new", of("a", 1));
  await freed;

  expect(order).toEqual(["running", "new"]);
});

test("createSlots() promises the place on when the one who had the promise leaves", async () => {
  const { enter, order, free, leave } = setUp(1);
  enter("outer", outside);
  enter("promised", of("a", 1));
  enter("next", of("a", 1));

  leave("promised");
  await free("outer");

  expect(order).toEqual(["outer", "next"]);
});

test("createSlots() goes by the latest limit of a tool that was replaced", async () => {
  const { enter, running, free } = setUp(10);
  enter("old", of("a", 1));
  enter("waits", of("a", 1));
  enter("new", of("a", 3));
  enter("newer", of("a", 3));
  await Promise.resolve();

  const before = [...running.keys()].toSorted();
  await free("old");

  expect(before).toEqual(["new", "old", "waits"]);
  expect([...running.keys()].toSorted()).toEqual(["new", "newer", "waits"]);
});

test("createSlots() never lets in too many, loses nobody, and ends empty", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(action, { maxLength: 60 }), async (maxTotal, actions) => {
      const { enter, free, leave, running, waiting } = setUp(maxTotal);
      let names = 0;
      for (const { kind, tool, isRoot, pick } of actions) {
        if (kind === "enter") enter(`${(names += 1)}`, tool === "" ? { isRoot } : of(tool, tool.length, isRoot));
        const from = kind === "free" ? running : waiting;
        const name = kind === "enter" ? undefined : [...from.keys()][pick % Math.max(1, from.size)];
        if (name !== undefined && kind === "free") await free(name);
        if (name !== undefined && kind === "leave") leave(name);
        await Promise.resolve();

        const requests = [...running.values()];
        expect(requests.filter((request) => request.isRoot).length).toBeLessThanOrEqual(maxTotal);
        for (const limited of ["a", "aa"]) {
          expect(requests.filter((request) => request.limited?.tool === limited).length).toBeLessThanOrEqual(
            limited.length,
          );
        }
      }
      while (running.size > 0) await free([...running.keys()][0] as string);

      expect(waiting.size).toBe(0);
    }),
    { numRuns: 300 },
  );
});

test("createSlots() stays quick with 100,000 who wait", async () => {
  const { enter, order, free } = setUp(1);
  enter("0", outside);
  for (let number = 1; number <= 100_000; number++) enter(`${number}`, number % 2 === 0 ? outside : of("a", 1));

  // Each costs no more than the logarithm of those who wait; otherwise this would not end within the limit of a test.
  for (let number = 0; number < 100_000; number++) await free(`${number}`);

  expect(order.at(-1)).toBe("100000");
});

const action = fc.record({
  kind: fc.constantFrom("enter", "enter", "free", "leave"),
  tool: fc.constantFrom("", "a", "aa"),
  isRoot: fc.boolean(),
  pick: fc.nat(),
});

interface Crowd {
  enter(name: string, request: SlotRequest): void;
  /** Who was let in, in order. */
  readonly order: string[];
  readonly running: Map<string, SlotRequest>;
  readonly waiting: Map<string, () => void>;
  free(...names: string[]): Promise<void>;
  leave(name: string): void;
}

function setUp(maxTotal: number): Crowd {
  const slots = createSlots({ maxTotal: maxTotal, openPermits });
  const order: string[] = [];
  const running = new Map<string, SlotRequest>();
  const waiting = new Map<string, () => void>();
  const start = (name: string, request: SlotRequest): void => {
    order.push(name);
    running.set(name, request);
  };
  return {
    order,
    running,
    waiting,
    enter(name, request) {
      if (slots.take(request)) return start(name, request);
      const { promise, leave } = slots.wait(request);
      waiting.set(name, leave);
      void promise.then(() => waiting.delete(name) && start(name, request));
    },
    async free(...names) {
      for (const name of names) {
        const request = running.get(name);
        if (request === undefined) throw new Error(`${name} is not running`);
        running.delete(name);
        slots.free(request);
        await Promise.resolve();
      }
    },
    leave(name) {
      waiting.get(name)?.();
      waiting.delete(name);
    },
  };
}
