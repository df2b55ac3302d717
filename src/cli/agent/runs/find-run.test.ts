import { expect, test } from "vitest";

import { memoryStore } from "../../../store/memory-store.ts";
import { createRuns } from "../../../records/runs/create-runs.ts";
import { findRun, shortenIds } from "./read-run.ts";

test("findRun() finds a run by its id or the beginning of it", async () => {
  const store = await createStore(["abc1", "abc12", "xyz"]);

  expect(await findRun(store, "xyz")).toBe("xyz");
  expect(await findRun(store, "x")).toBe("xyz");
  expect(await findRun(store, "abc1")).toBe("abc1");
});

test("findRun() says which runs are meant when several are, and that none is", async () => {
  const store = await createStore(["abc1", "abc2"]);

  await expect(findRun(store, "abc")).rejects.toThrow('Cannot tell which run "abc" is: abc1, abc2 begin like this');
  await expect(findRun(store, "")).rejects.toThrow('Cannot find the run ""');
  await expect(findRun(store, "%")).rejects.toThrow('Cannot find the run "%"');
});

test("findRun() says which run may be meant by a beginning that was mistyped", async () => {
  const store = await createStore(["3f2a91bc-1111", "46052a35-2222"]);

  await expect(findRun(store, "3f2b91bc")).rejects.toThrow('did you mean "3f2a91bc-1111"?');
  await expect(findRun(store, "46052a35-2232")).rejects.toThrow('did you mean "46052a35-2222"?');
  await expect(findRun(store, "77777777")).rejects.toThrow("it is not in this store; kitbag runs list");
});

test("shortenIds() takes as much of an id as tells it from all others, and 8 characters at least", () => {
  const ids = ["aaaaaaaa-1111", "aaaaaaaa-1122", "bbbbbbbb-1111", "c"];

  const names = shortenIds(ids);

  expect(ids.map((id) => names.get(id))).toEqual(["aaaaaaaa-111", "aaaaaaaa-112", "bbbbbbbb", "c"]);
});

async function createStore(ids: readonly string[]): Promise<ReturnType<typeof memoryStore>> {
  const store = memoryStore();
  for (const id of ids) await (await createRuns({ store }).open(id)).close();
  return store;
}
