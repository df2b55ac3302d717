import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";
import { listCounted } from "./day-counters.ts";
import type { Account } from "../../core/quotas.ts";
import { readUsage } from "./quotas.ts";

test("readUsage() says how much a user has used of each quota, and when it starts again", async () => {
  const store = memoryStore();
  const gate = Promise.withResolvers<string>();
  const wait = defineTool({ name: "wait", description: "Waits", run: () => gate.promise });
  const quotas = { each: { calls: 5, concurrent: 2, dollars: 1 }, users: { ann: { bytes: 1000 } } };
  const workspace = createWorkspace({ tools: [wait], store, quotas });
  const running = workspace.call("wait", {}, { user: "ann" });
  await workspace.openState("wait", { user: "ann" }).set("key", "x".repeat(100));
  const account = workspace.quotas.of("ann") as Account;
  const startsAgain = expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00Z$/u) as string;

  await expect
    .poll(() => readUsage(store, account))
    .toEqual([
      { quota: "calls", limit: 5, used: 1, startsAgain, by: "configuration", for: "each" },
      { quota: "concurrent", limit: 2, used: 1, by: "configuration", for: "each" },
      { quota: "dollars", limit: 1, used: 0, startsAgain, by: "configuration", for: "each" },
      { quota: "bytes", limit: 1000, used: 130, by: "configuration", for: "user" },
    ]);
  gate.resolve("done");
  await running;
  const shared = { ...store, counters: memoryStore().kv };
  await expect.poll(async () => (await readUsage(store, account))[1]).toMatchObject({ used: 0 });
  expect((await readUsage(shared, account))[1]).toMatchObject({ used: 0 });
});

test("listCounted() names all users of whom something was counted", async () => {
  const store = memoryStore();
  const tool = defineTool({ name: "echo", description: "Answers", run: () => "done" });
  const workspace = createWorkspace({ tools: [tool], store, quotas: { each: { calls: 5 } } });
  const before = await listCounted(store.kv);
  for (let index = 0; index < 1001; index++) await workspace.call("echo", {}, { user: `user ${index}` });

  expect(before).toEqual([]);
  expect(new Set(await listCounted(store.kv)).size).toBe(1001);
});
