import { randomBytes } from "node:crypto";

import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { openSealer, type Sealer } from "../../records/audit/audit-keys.ts";
import { exportStore } from "../../store/export-store.ts";
import { importStore } from "../../store/import-store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import { createAgent } from "../create-agent.ts";

const approval = "letter:1.0";
const decided = { type: "approval-decided", run: "letter", approval, decision: "approve" };

test("resume() makes a call that was approved with the key of the audit", async () => {
  const { agent, made } = await createPaused();

  await agent.decide(approval, { decision: "approve", input: { amount: 4 }, user: "ada" });

  expect((await agent.resume("letter").result).status).toBe("ok");
  expect(made).toEqual([4]);
});

test.for([
  ["without a seal", decided],
  ["with the seal of another key", { ...decided, seal: `hmac-sha256:${"0".repeat(64)}` }],
  ["with a seal that is no text", { ...decided, seal: null }],
] as const)("resume() asks again about a call that a line of the journal approves %s", async ([, line]) => {
  const { agent, made, append } = await createPaused();
  await append(line);

  const resumed = await agent.resume("letter").result;
  await agent.decide(approval, { decision: "approve" });
  const approved = await agent.resume("letter").result;

  expect(resumed).toMatchObject({ status: "paused", approvals: [approval] });
  expect(approved.status).toBe("ok");
  expect(made).toEqual([5]);
});

test.for([
  ["for another decision", ({ decision: _decision, ...line }) => ({ ...line, decision: "approve" })],
  ["with another input", (line) => ({ ...line, decision: "approve", input: { amount: 5000 } })],
] as const satisfies readonly (readonly [string, (line: JsonObject) => JsonObject])[])(
  "resume() does not take the seal of a decision %s",
  async ([, change]) => {
    const { agent, store } = await createPaused();
    const other = await copyOf(store);
    await agent.decide(approval, { decision: "deny" });
    const entries = await store.log.read("run:letter");
    const line = entries.find(({ value }) => (value as JsonObject)["type"] === "approval-decided")?.value as JsonObject;
    await other.append(change(line));

    expect((await other.agent.resume("letter").result).status).toBe("paused");
    expect(other.made).toEqual([]);
  },
);

test("resume() asks again where what was shown was changed after it was approved", async () => {
  const { agent, store } = await createPaused();
  await agent.decide(approval, { decision: "approve" });
  const other = await copyOf(store, (line) =>
    line["type"] === "approval-asked" ? { ...line, input: { amount: 5000 } } : line,
  );

  expect((await other.agent.resume("letter").result).status).toBe("paused");
  expect(other.made).toEqual([]);
});

test("resume() asks again where the model's line names another tool than the one that was approved", async () => {
  const { agent, store } = await createPaused();
  await agent.decide(approval, { decision: "approve" });
  const other = await copyOf(
    store,
    (line) => JSON.parse(JSON.stringify(line).replace('"toolName":"pay"', '"toolName":"wire"')) as JsonObject,
  );

  const resumed = await other.agent.resume("letter").result;

  expect(resumed).toMatchObject({ status: "paused", approvals: [approval] });
  expect(other.made).toEqual([]);
});

test("resume() believes the store where there is no key", async () => {
  const { agent, made, append } = await createPaused(null);
  await append(decided);

  expect((await agent.resume("letter").result).status).toBe("ok");
  expect(made).toEqual([5]);
});

const sealer = await openSealer({ key: randomBytes(32) });

interface World {
  readonly store: Store;
  readonly agent: Agent;
  readonly made: unknown[];
  /** Writes a line behind the journal, as whoever can write to the store does. */
  append(line: JsonObject): Promise<void>;
}

function createWorld(store: Store, audit: Sealer | null = sealer): World {
  const made: unknown[] = [];
  const input = { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] } as const;
  const tools = ["pay", "wire"].map((name) =>
    defineTool({ name, description: "Pays", needsApproval: true, input, run: ({ amount }) => void made.push(amount) }),
  );
  const model = mockModel([{ calls: [{ tool: "pay", input: { amount: 5 } }] }, "Paid"]);
  const agent = createAgent({
    model,
    store,
    workspace: createWorkspace({ tools }),
    ...(audit !== null && { audit }),
  });
  return {
    store,
    agent,
    made,
    append: async (line) => void (await store.log.append("run:letter", [line])),
  };
}

/** A run that waits for somebody to approve that 5 are paid. */
async function createPaused(audit: Sealer | null = sealer): Promise<World> {
  const world = createWorld(memoryStore(), audit);
  await world.agent.run("Pay", { id: "letter" }).result;
  return world;
}

/** Another store with the same run, as an import makes it of an export that was changed. */
async function copyOf(store: Store, change: (line: JsonObject) => JsonObject = (line) => line): Promise<World> {
  const lines: string[] = [];
  await exportStore(store, (line) => {
    const read = JSON.parse(line) as JsonObject;
    const isEntry = read["type"] === "entry";
    lines.push(`${JSON.stringify(isEntry ? { ...read, value: change(read["value"] as JsonObject) } : read)}\n`);
  });
  const copy = memoryStore();
  await importStore(copy, toBytes(lines.join("")));
  return createWorld(copy);
}

async function* toBytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
