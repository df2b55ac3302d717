import { afterAll, expect, test } from "vitest";

import { countWords, openTestForge, openTestRuntimes } from "../../../test/support/open-test-forge.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel, type MockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { QuotaLimits } from "../../workspace/quotas/quota-options.ts";
import { createForgeTools } from "../tools/create-forge-tools.ts";
import { createWorkflowTools } from "../workflow/create-workflow-tools.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

test("a user who has made the drafts of a day is refused, for new tools, edits and skills", async () => {
  const { call } = await setUp({ drafts: 2 });
  const draft = countWords as unknown as JsonObject;

  const wrong = await call("ann", "create_tool", { ...draft, name: "../x" });
  const made = await call("ann", "create_tool", draft);
  const changed = await call("ann", "update_tool", {
    name: "count-words",
    changes: { description: "Counts all words" },
  });
  const refused = [
    await call("ann", "create_tool", { ...draft, name: "more" }),
    await call("ann", "update_tool", { name: "count-words", changes: { description: "Counts" } }),
    await call("ann", "create_skill", { name: "talk", description: "Talks. Use it to talk.", instructions: "Talk" }),
  ];
  const other = await call("bob", "create_tool", { ...draft, name: "others" });

  expect([statusOf(wrong), statusOf(made), statusOf(changed), statusOf(other)]).toEqual([
    "refused",
    "live",
    "live",
    "live",
  ]);
  for (const outcome of refused) {
    expect(outcome).toMatchObject({
      error: { code: "quota-reached", details: { quota: "drafts", limit: 2, used: 2 } },
    });
  }
});

test("a model is not asked to repair a draft that a quota refused", async () => {
  const { call, model } = await setUp({ drafts: 0 }, JSON.stringify(countWords));

  expect(await call("ann", "generate_tool", { description: "Counts words" })).toMatchObject({
    error: { code: "quota-reached" },
  });
  expect(model.asked).toHaveLength(1);
});

test("a draft that cannot be counted is not made", async () => {
  const { call, store } = await setUp({ drafts: 2 });
  Object.assign(store.kv, { increment: () => Promise.reject(new Error("disk full")) });

  expect(JSON.stringify(await call("ann", "create_tool", countWords as unknown as JsonObject))).toContain("disk full");
});

test("what the model of generate_tool answers is paid by the user who asks", async () => {
  const { call, model } = await setUp({ tokens: 1500, drafts: 1 });
  const ask = (user: string): Promise<ToolOutcome> => call(user, "generate_tool", { description: "Counts words" });

  // The answer is no tool, and is not asked to be repaired any more.
  expect(await ask("ann")).toMatchObject({
    error: { code: "quota-reached", details: { user: "ann", quota: "tokens", limit: 1500, used: 1900 } },
  });
  expect(model.asked).toHaveLength(1);
});

interface Stage {
  readonly store: Store;
  readonly model: MockModel;
  call(user: string, tool: string, input: JsonObject): Promise<ToolOutcome>;
}

/** A forge with quotas, and a model that answers with a text. */
async function setUp(each: QuotaLimits, text = "{}"): Promise<Stage> {
  const store = memoryStore();
  const workspace = createWorkspace({ runtimes, store, quotas: { each } });
  const { forge } = await openTestForge(runtimes, { workspace, store });
  const model = mockModel(() => ({ text, usage: { input: 1000, output: 900 } }));
  for (const tool of [...createForgeTools(forge), ...createWorkflowTools(forge, { model })]) workspace.add(tool);
  return {
    store,
    model,
    call: (user, tool, input) => workspace.call(tool, input, { user }),
  };
}

function statusOf(outcome: ToolOutcome): unknown {
  return outcome.status === "ok" ? (outcome.output as JsonObject)["status"] : "refused";
}
