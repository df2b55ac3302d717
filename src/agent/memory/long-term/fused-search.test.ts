import { expect, test } from "vitest";

import { sharePostgres } from "../../../../test/support/postgres.ts";
import type { Embedder } from "../../../core/embedder.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import { postgresStore } from "../../../store/postgres/postgres-store.ts";
import { exactVectors } from "../../../store/vectors/exact-vectors.ts";
import { openLongTermMemory } from "./open-long-term-memory.ts";

test("recall() with an embedder finds what says the same in other words, beside what has the words", async () => {
  const { ada } = createWorld(animals);
  await ada.addTurns({ run: "a" }, [{ who: "user", text: "The kitten sleeps on the sofa" }]);
  await ada.addTurns({ run: "b" }, [{ who: "user", text: "The cat food is empty" }]);
  await ada.addTurns({ run: "c" }, [{ who: "user", text: "Taxes are due" }]);
  await ada.remember({ key: "pet", value: "a kitten named Otto" });

  const { turns, facts } = await ada.recall("Where is my cat?");

  expect(turns.map(({ text }) => text).slice(0, 2)).toEqual(["The cat food is empty", "The kitten sleeps on the sofa"]);
  expect(facts.map(({ value }) => value)).toEqual(["a kitten named Otto"]);
});

test("recall() and everything else do without an embedder that fails", async () => {
  const broken: Embedder = { name: "broken", embed: () => Promise.reject(new Error("no network")) };
  const { ada } = createWorld(broken);
  await ada.addTurns({ run: "a" }, [{ who: "user", text: "The cat sleeps" }]);
  const { fact } = await ada.remember({ key: "pet", value: "cat" });

  expect((await ada.recall("cat")).turns).toHaveLength(1);
  expect(await ada.forget({ id: fact.id })).toMatchObject({ facts: [fact.id] });
});

test("forget() and a fact that takes the place of another delete vectors, too", async () => {
  const { ada, store } = createWorld(animals);
  await ada.addTurns({ run: "a" }, [{ who: "user", text: "My pet is a kitten" }]);
  await ada.remember({ key: "pet", value: "kitten", trust: "user", source: { run: "a" } });
  const { fact } = await ada.remember({ key: "pet", value: "cat", trust: "user", source: { run: "a" } });
  const before = await store.kv.list({ prefix: "memory:ada:own:fact:vector:" });

  await ada.forget({ id: fact.id });

  expect(before).toHaveLength(1);
  expect(await store.kv.list({ prefix: "memory:ada:own:fact:vector:" })).toEqual([]);
  expect(await store.kv.list({ prefix: "memory:ada:own:turn:vector:" })).toEqual([]);
});

const postgres = sharePostgres();

test("a memory in Postgres remembers, recalls and forgets, from two processes at once", async (context) => {
  const { url } = await postgres(context);
  const stores = await Promise.all([postgresStore({ url }), postgresStore({ url })]);
  const memories = stores.map((store) => openLongTermMemory({ store }).of({ user: "ada" }));
  const [one, other] = memories;

  await Promise.all(
    memories.flatMap((memory, which) =>
      Array.from({ length: 10 }, async (_, index) =>
        memory.addTurns({ run: `${which}-${index}` }, [{ who: "user", text: `the kite ${which} ${index} is red` }]),
      ),
    ),
  );
  const fact = await one?.remember({ key: "kite", value: "red", trust: "user" });
  const found = await other?.recall("the red kite", { turns: 30 });
  await other?.forget({ id: fact?.fact.id ?? "" });
  const left = await one?.recall("the red kite", { turns: 30 });
  await Promise.all(stores.map((store) => store.close()));

  expect(found?.turns).toHaveLength(20);
  expect(found?.facts).toHaveLength(1);
  expect(left).toEqual({ facts: [], turns: [] });
}, 60_000);

/** Knows that a kitten is a cat. */
const animals: Embedder = {
  name: "animals",
  embed: async (texts) => texts.map((text) => [/cat|kitten/iu.test(text) ? 1 : 0, /tax/iu.test(text) ? 1 : 0.1, 0.1]),
};

function createWorld(embedder: Embedder) {
  const store = memoryStore();
  const vectors = exactVectors(store.kv);
  return { ada: openLongTermMemory({ store, embedder, vectors }).of({ user: "ada" }), store };
}
