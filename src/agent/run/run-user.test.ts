import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { Scopes } from "../../core/scopes.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import { createAgent } from "../create-agent.ts";

test("resume() goes on as the user who began the run, with the scopes that the user has now", async () => {
  const { agent, made, users, scopes } = await createPaused();
  scopes.set("ada", new Set(["tools:of:global:look"]));

  const resumed = await agent.resume("run").result;

  expect(JSON.stringify(resumed.messages)).toContain("none of the scopes tools:of:global:drop");
  expect(made).toEqual([]);
  expect(users).toEqual(new Set(["ada"]));
});

test("resume() makes the call for a user who has the scope", async () => {
  const { agent, made } = await createPaused();

  expect((await agent.resume("run", { user: "ada" }).result).status).toBe("ok");
  expect(made).toEqual(["drop"]);
});

test("resume() refuses a user of whom nothing is known, and leaves the run as it is", async () => {
  const { agent, made, scopes } = await createPaused();
  scopes.delete("ada");

  const refused = await agent.resume("run").result;
  scopes.set("ada", "all");
  const resumed = await agent.resume("run").result;

  expect(refused).toMatchObject({ status: "failed", error: { code: "user-unknown", details: { user: "ada" } } });
  expect(resumed.status).toBe("ok");
  expect(made).toEqual(["drop"]);
});

test("resume() refuses another user than the one who began the run", async () => {
  const { agent, made } = await createPaused();

  const refused = await agent.resume("run", { user: "root" }).result;

  expect(refused).toMatchObject({ status: "failed", error: { code: "option-invalid", details: { option: "user" } } });
  expect(made).toEqual([]);
});

test("fork() makes a run of the user who forks", async () => {
  const { agent, users } = await createPaused();

  const fork = await agent.fork("run", 1, { id: "fork" }, { user: "root" }).result;
  await agent.decide("fork:1.0", { decision: "approve" });
  await agent.resume("fork").result;

  expect(fork.status).toBe("paused");
  expect(users).toEqual(new Set(["root"]));
});

interface World {
  readonly agent: Agent;
  readonly made: string[];
  /** For whom calls were made. */
  readonly users: Set<string | undefined>;
  readonly scopes: Map<string, Scopes>;
}

/** A run of ada whose call is approved and not made yet. */
async function createPaused(): Promise<World> {
  const made: string[] = [];
  const users = new Set<string | undefined>();
  const scopes = new Map<string, Scopes>([
    ["ada", "all"],
    ["root", "all"],
  ]);
  const drop = defineTool({
    name: "drop",
    description: "Drops",
    needsApproval: true,
    run: () => void made.push("drop"),
  });
  const workspace = createWorkspace({ tools: [drop] });
  workspace.onEvent((event) => event.type === "call-start" && users.add(event.user));
  const model = mockModel([{ calls: [{ tool: "drop" }] }, "Done", "Done"]);
  const agent = createAgent({ model, store: memoryStore(), workspace, scopesOf: (user) => scopes.get(user) });
  await agent.run("Go", { id: "run", user: "ada" }).result;
  await agent.decide("run:1.0", { decision: "approve" });
  return { agent, made, users, scopes };
}
