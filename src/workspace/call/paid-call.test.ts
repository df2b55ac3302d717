import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import type { Account } from "../../core/quotas.ts";
import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { QuotaOptions } from "../quotas/quota-options.ts";
import type { Workspace } from "../workspace.ts";

test("call() counts what a tool pays towards the dollars of its user, also inside another call", async () => {
  const workspace = setUp({ each: { dollars: 10 } });

  await workspace.call("pay", { dollars: 2 }, { user: "ann" });
  await workspace.call("outer", {}, { user: "ann" });
  await workspace.call("pay", { dollars: 1 }, { user: "bob" });

  expect(await usedBy(workspace, "ann")).toBe(5);
  expect(await usedBy(workspace, "bob")).toBe(1);
});

test("call() refuses a tool that has paid for something when the dollars of its user are used up, and no other tool", async () => {
  const workspace = setUp({ each: { dollars: 3 } });

  const first = await workspace.call("pay", { dollars: 4 }, { user: "ann" });
  const second = await workspace.call("pay", { dollars: 4 }, { user: "ann" });
  const free = await workspace.call("free", {}, { user: "ann" });
  const other = await workspace.call("pay", { dollars: 1 }, { user: "bob" });
  const nobody = await workspace.call("pay", { dollars: 1 });

  expect([first.status, free.status, other.status, nobody.status]).toEqual(["ok", "ok", "ok", "ok"]);
  expect(second).toMatchObject({
    status: "failed",
    error: { code: "quota-reached", details: { user: "ann", quota: "dollars", limit: 3, used: 4 } },
  });
});

test("call() counts no dollars for a user who has no quota of them", async () => {
  const workspace = setUp({ each: { calls: 10 } });

  await workspace.call("pay", { dollars: 4 }, { user: "ann" });

  expect((await workspace.call("pay", { dollars: 4 }, { user: "ann" })).status).toBe("ok");
});

test("call() does not lose what a tool did because the store cannot count what it paid, and then refuses the tool", async () => {
  const store = memoryStore();
  let isAway = false;
  const away = (): never => {
    throw new KitbagError("store-closed", { operation: "kv" });
  };
  const leaving: Store = {
    ...store,
    kv: {
      ...store.kv,
      get: async (key) => (isAway ? away() : store.kv.get(key)),
      increment: async (...given) => (isAway ? away() : store.kv.increment(...given)),
    },
  };
  const workspace = setUp({ each: { dollars: 10 } }, { ...leaving, log: store.log });
  isAway = true;

  const first = await workspace.call("pay", { dollars: 4 }, { user: "ann" });
  const second = await workspace.call("pay", { dollars: 4 }, { user: "ann" });

  expect(first.status).toBe("ok");
  expect(second).toMatchObject({ status: "failed", error: { code: "store-failed", details: { ran: false } } });
});

test("call() tells the nearest caller that wants to know what a tool pays, also if it throws", async () => {
  const workspace = setUp();
  const told: number[] = [];

  const outcome = await workspace.call(
    "outer",
    {},
    {
      onSpend(dollars) {
        told.push(dollars);
        throw new Error("of no interest");
      },
    },
  );

  expect(outcome.status).toBe("ok");
  expect(told).toEqual([1, 2]);
});

function setUp(quotas: QuotaOptions = {}, store: Store = memoryStore()): Workspace {
  const input = { type: "object", properties: { dollars: { type: "number" } } } as const;
  const pay = defineTool({
    name: "pay",
    description: "Pays",
    input,
    run: ({ dollars = 0 }, { spend }) => spend(dollars),
  });
  const outer = defineTool({
    name: "outer",
    description: "Pays, and has another tool pay",
    async run(_input, { call, spend }) {
      spend(1);
      await call("pay", { dollars: 2 });
    },
  });
  const free = defineTool({ name: "free", description: "Costs nothing", run: () => 1 });
  return createWorkspace({ tools: [pay, outer, free], store, quotas });
}

async function usedBy({ quotas }: Workspace, user: string): Promise<number> {
  const account = quotas.of(user) as Account;
  const refused = await quotas.spend(account, "dollars", 1000).catch((cause: unknown) => cause);
  return (refused as KitbagError<"quota-reached">).details.used;
}
