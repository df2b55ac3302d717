import { expect, test } from "vitest";

import type { Store } from "../../../core/store.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import { openLongTermMemory } from "./open-long-term-memory.ts";
import type { LongTermMemoryOptions, UserMemory } from "./long-term-memory.ts";

const day = 24 * 3600 * 1000;

test("remember() closes the fact before and overwrites nothing", async () => {
  const { ada, clock } = createWorld();
  const { fact: old } = await ada.remember({ key: "favourite colour", value: "green", trust: "user" });
  clock.now += day;

  const { fact, closed, isNew } = await ada.remember({ key: "Favourite_Colour", value: "blue", trust: "user" });

  expect({ isNew, closed }).toMatchObject({ isNew: true, closed: [{ id: old.id, value: "green" }] });
  expect(await ada.get(old.id)).toMatchObject({ value: "green", from: 0, to: day });
  expect(fact).toMatchObject({ value: "blue", before: old.id });
  expect((await ada.recall("favourite colour")).facts.map(({ value }) => value)).toEqual(["blue"]);
  expect((await listAll(ada.facts({ closed: true }))).map(({ value }) => value)).toEqual(["blue", "green"]);
});

test("two sessions that contradict each other at the same time leave one fact that holds", async () => {
  const { ada } = createWorld();

  await Promise.all(
    ["green", "blue", "red"].map((value) =>
      ada.remember({ key: "colour", value, trust: "user", source: { run: value } }),
    ),
  );

  const holding = await listAll(ada.facts());
  expect(holding).toHaveLength(1);
  expect((await ada.recall("colour")).facts).toEqual(holding);
});

test("what a tool said stands beside what the user said, and does not replace it", async () => {
  const { ada } = createWorld();
  await ada.remember({ key: "colour", value: "green", trust: "user" });

  const { closed } = await ada.remember({ key: "colour", value: "black", trust: "tool", source: { by: "fetch" } });

  expect(closed).toEqual([]);
  expect((await listAll(ada.facts())).map(({ value, trust }) => [value, trust])).toEqual([
    ["green", "user"],
    ["black", "tool"],
  ]);
});

test("what the user says closes what a tool or a model said of the same", async () => {
  const { ada } = createWorld();
  await ada.remember({ key: "colour", value: "black", trust: "tool" });
  await ada.remember({ key: "colour", value: "grey", trust: "model" });

  const { closed } = await ada.remember({ key: "colour", value: "green", trust: "user" });

  expect(closed.map(({ value }) => value)).toEqual(["grey"]);
  expect(await listAll(ada.facts())).toMatchObject([{ value: "green" }]);
});

test("remember() keeps a fact once that is known already", async () => {
  const { ada } = createWorld();
  const { fact } = await ada.remember({ key: "colour", value: "Green", trust: "user" });

  expect(await ada.remember({ key: "colour", value: "green", trust: "model" })).toMatchObject({ isNew: false, fact });
  expect(await ada.count()).toMatchObject({ facts: 1 });
});

test("remember() takes thousands of facts of one subject, and refuses more than the limit", async () => {
  const { ada } = createWorld({ limits: { facts: 3000, unconfirmedFacts: 100 } });
  const words = (index: number): string => `w${index % 50} x${index % 7}`;
  for (let start = 0; start < 3000; start += 500) {
    await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        ada.remember({ subject: "city", key: `street ${start + index}`, value: words(start + index), trust: "user" }),
      ),
    );
  }

  const { facts } = await ada.recall("street 2718 of the city");

  expect(facts[0]?.key).toBe("street 2718");
  await expect(ada.remember({ key: "one more", value: "x", trust: "user" })).rejects.toMatchObject({
    code: "memory-full",
  });
  expect(await ada.count()).toMatchObject({ facts: 3000 });
});

test("facts that the user did not say cannot crowd out those of the user", async () => {
  const { ada } = createWorld({ limits: { unconfirmedFacts: 3 } });
  for (const value of ["a", "b", "c"]) await ada.remember({ key: value, value, trust: "tool" });

  await expect(ada.remember({ key: "d", value: "d", trust: "model" })).rejects.toMatchObject({ code: "memory-full" });
  expect(await ada.remember({ key: "d", value: "d", trust: "user" })).toMatchObject({ isNew: true });
});

test("a memory refuses more bytes than its limit", async () => {
  const { ada } = createWorld({ limits: { factBytes: 60 } });
  await ada.remember({ key: "a", value: "x".repeat(30) });

  await expect(ada.remember({ key: "b", value: "y".repeat(30) })).rejects.toMatchObject({
    code: "memory-full",
    details: { what: "bytes of facts", limit: 60 },
  });
});

test.for([
  { key: "", value: "x" },
  { key: "x", value: " \n" },
  { key: "x".repeat(101), value: "x" },
  { key: "x", value: "x".repeat(2001) },
  { key: "x", value: 7 },
  { key: "x", value: "x", trust: "god" },
  { key: "ﷺ".repeat(100), value: "x" },
])("remember() refuses %j", async (fact) => {
  await expect(createWorld().ada.remember(fact as never)).rejects.toMatchObject({ code: "memory-invalid" });
});

test.for(["__proto__", "a|b", "a:b", "%2e%2e", "\u202Ekey", "😀"])("a fact may have the key %j", async (key) => {
  const { ada } = createWorld();

  const { fact } = await ada.remember({ key, value: "yes" });

  expect(await ada.get(fact.id)).toMatchObject({ key, value: "yes" });
  expect(await ada.forget({ key })).toMatchObject({ facts: [fact.id] });
});

test("users and skills have memories of their own", async () => {
  const { store } = createWorld();
  const memory = openLongTermMemory({ store });
  const owners = [{ user: "ada" }, { user: "bob" }, { user: "ada", skill: "pdf" }, { user: "a:b" }, { user: "a" }, {}];
  for (const [index, owner] of owners.entries())
    await memory.of(owner).remember({ key: "own", value: `value${index}` });

  const found = await Promise.all(owners.map(async (owner) => (await memory.of(owner).recall("own")).facts));

  expect(found.map((facts) => facts.map(({ value }) => value))).toEqual(owners.map((_, index) => [`value${index}`]));
});

test("forget() takes a fact, its history and the turns that say it out of recall, lists, files and export", async () => {
  const { ada, store } = createWorld();
  await ada.addTurns({ run: "r1", conversation: "c" }, [
    { who: "user", text: "Remember that my locker code is 4711 please" },
    { who: "assistant", text: "I remember: 4711." },
    { who: "user", text: "And what about the weather?" },
  ]);
  await ada.addTurns({ run: "r2" }, [{ who: "assistant", text: "The code of your locker is still 4711." }]);
  await ada.remember({ key: "locker code", value: "0815", trust: "user", source: { run: "r0" } });
  const { fact } = await ada.remember({
    key: "locker code",
    value: "4711",
    trust: "user",
    source: { run: "r1", conversation: "c" },
  });
  await ada.files.run({ command: "create", path: "/memories/notes.md", file_text: "locker code 4711" });

  const forgotten = await ada.forget({ id: fact.id, by: "ada" });

  expect(forgotten.facts).toHaveLength(2);
  expect(forgotten.turns).toHaveLength(3);
  expect(forgotten).toMatchObject({ runs: ["r1", "r0", "r2"], conversations: ["c"], files: ["/memories/notes.md"] });
  await ada.files.run({ command: "delete", path: "/memories/notes.md" });
  const left = JSON.stringify([
    await ada.recall("locker code 4711"),
    await listAll(ada.export()),
    await listAll(ada.facts({ closed: true })),
  ]);
  expect(left).not.toMatch(/4711|0815|locker/u);
  expect(left).toContain("weather");
  const everything = JSON.stringify([
    (await store.kv.list({ limit: 10_000 })).filter(([key]) => !key.includes(":word:")),
    await store.log.read("memory:ada:own:log"),
  ]);
  expect(everything).not.toMatch(/4711|0815|locker/u);
  expect(await store.log.read("memory:ada:own:log")).toMatchObject([
    { value: { type: "forgotten", facts: forgotten.facts, turns: forgotten.turns, by: "ada" } },
  ]);
});

test("a turn that was forgotten does not come back when its run is kept again", async () => {
  const { ada } = createWorld();
  const turns = [{ who: "user", text: "The password of the attic is plugh" }];
  const [id = ""] = await ada.addTurns({ run: "r" }, turns);
  await ada.forget({ id });

  await ada.addTurns({ run: "r" }, turns);

  expect((await ada.recall("password of the attic")).turns).toEqual([]);
});

test.for([{ id: "f99" }, { id: "t99" }, { id: "x" }, { id: "__proto__" }, { key: "nothing" }])(
  "forget() refuses %j, which is not there",
  async (what) => {
    await expect(createWorld().ada.forget(what)).rejects.toMatchObject({ code: "name-not-found" });
  },
);

test("addTurns() keeps turns of a run once, and adds those that are new", async () => {
  const { ada } = createWorld();
  const first = [{ who: "user", text: "Where is the kite?" }];

  const one = await ada.addTurns({ run: "r" }, first);
  const two = await ada.addTurns({ run: "r" }, [...first, { who: "assistant", text: "The kite is in the attic." }]);

  expect([one.length, two.length]).toEqual([1, 1]);
  const found = (await ada.recall("kite")).turns.map(({ text }) => text);
  expect(found.toSorted()).toEqual(["The kite is in the attic.", "Where is the kite?"]);
});

test("addTurns() deletes the oldest turns that are too many", async () => {
  const { ada } = createWorld({ limits: { turns: 4 } });

  for (let run = 0; run < 6; run += 1) {
    await ada.addTurns({ run: `r${run}` }, [{ who: "user", text: `kite ${run}` }]);
  }

  const texts = (await ada.recall("kite")).turns.map(({ text }) => text);
  expect(texts.toSorted()).toEqual(["kite 2", "kite 3", "kite 4", "kite 5"]);
});

test("recall() prefers what was said lately among what fits as well, and keeps to the time that was asked for", async () => {
  const { ada, clock } = createWorld();
  clock.now = 1000 * day;
  await ada.addTurns({ run: "a" }, [{ who: "user", text: "the kite is red", time: 10 * day }]);
  await ada.addTurns({ run: "b" }, [{ who: "user", text: "the kite is blue", time: 999 * day }]);
  await ada.addTurns({ run: "c" }, [{ who: "user", text: "the kite is pink", time: 500 * day }]);

  const all = await ada.recall("kite");
  const some = await ada.recall("kite", { since: 400 * day, until: 600 * day });

  expect(all.turns[0]?.text).toBe("the kite is blue");
  expect(some.turns.map(({ text }) => text)).toEqual(["the kite is pink"]);
});

test("recall() puts a fact first of which the question has the key", async () => {
  const { ada } = createWorld();
  await ada.remember({ key: "kite", value: "red, red, red, and a kite for the dog" });
  await ada.remember({ key: "name of the dog", value: "Rex" });
  await ada.remember({ key: "dog food", value: "the dog likes the name of the dog food" });

  expect((await ada.recall("What is the name of my dog?")).facts[0]?.value).toBe("Rex");
});

test.for([{ store: undefined }, { store: {} }, { working: 5 }])("openLongTermMemory() refuses %j", (options) => {
  expect(() => openLongTermMemory({ store: memoryStore(), ...(options as object) })).toThrow(/Cannot use/u);
});

test("a working memory keeps to its schema, and is merged", async () => {
  const working = {
    type: "object",
    properties: { name: { type: "string" }, goals: { type: "array" }, at: { type: "object" } },
  } as const;
  const { ada } = createWorld({ working });

  await ada.working?.change({ name: "Ada", at: { city: "London", street: "A" } });
  const merged = await ada.working?.change({ at: { street: null } });

  expect(merged).toEqual({ name: "Ada", at: { city: "London" } });
  await expect(ada.working?.change({ name: { no: "text" } })).rejects.toMatchObject({ code: "memory-invalid" });
  await expect(ada.working?.change({ name: "x".repeat(20_000) })).rejects.toMatchObject({ code: "memory-invalid" });
  expect(await ada.working?.read()).toEqual(merged);
});

interface World {
  readonly ada: UserMemory;
  readonly store: Store;
  readonly clock: { now: number };
}

function createWorld(options: Partial<LongTermMemoryOptions> = {}): World {
  const store = memoryStore();
  const clock = { now: 0 };
  const ada = openLongTermMemory({ store, now: () => clock.now, ...options }).of({ user: "ada" });
  return { ada, store, clock };
}

async function listAll<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
