import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import type { RunEvent } from "../../records/runs/run-records.ts";
import { mockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import type { AgentRun } from "../agent-run.ts";
import { createAgent } from "../create-agent.ts";

type Damage = (line: RunEvent) => JsonValue;

const without =
  (field: string): Damage =>
  ({ [field]: _gone, ...line }) =>
    line;
const having =
  (changes: Readonly<Record<string, JsonValue>>): Damage =>
  (line) => ({ ...line, ...changes });
const gone: Damage = () => ({ type: "noted" });

test.for<[what: string, type: string, damage: Damage, line: number, problem: string, soundStep?: number]>([
  ["is no object", "model-answer", () => 5, 3, "found 5, expected an object with a type", 0],
  ["has no type", "task-start", without("type"), 2, "expected an object with a type"],
  ["has no content", "model-answer", without("content"), 3, "model-answer: content", 0],
  ["has content of another type", "model-answer", having({ content: "Hello" }), 3, "model-answer: content", 0],
  ["has a part of no type", "model-answer", having({ content: [{ text: "Hello" }] }), 3, "content[0].type", 0],
  ["has no usage", "model-answer", without("usage"), 3, "model-answer: usage", 0],
  ["has skills that are none", "model-answer", having({ skills: "pdf" }), 3, "model-answer: skills", 0],
  ["has no messages", "task-start", without("messages"), 2, "task-start: messages"],
  ["has lost its messages", "task-start", having({ messages: [] }), 2, "task-start: messages"],
  [
    "has lost earlier messages",
    "task-start",
    having({ earlier: 9 }),
    2,
    "task-start has 1 messages, and 9 before the run",
  ],
  ["is not the beginning", "task-start", gone, 3, "model-answer before the task of the run"],
  ["is another answer", "model-answer", having({ step: 2 }), 3, "model-answer 2 behind model-answer 0", 0],
  ["is the answer to calls that were made", "model-answer", gone, 5, "call 1.0, which no model-answer asks for", 0],
  ["is the intent of a call that was made", "step-intent", gone, 5, "call 1.0, which has no step-intent", 0],
  ["has no outcome", "step-outcome", without("output"), 5, "step-outcome: output", 0],
  ["has an outcome that is none", "step-outcome", having({ output: { status: "done" } }), 5, "output.status", 0],
  ["has a failure without words", "step-outcome", having({ output: { status: "failed" } }), 5, "output.error", 0],
  ["has nothing that was said", "message-added", without("message"), 8, "message-added: message", 1],
  ["has a message of nobody", "message-added", having({ message: { role: "x", content: [] } }), 8, "message.role", 1],
  ["has a lease that is not counted", "lease-start", having({ epoch: "1" }), 1, "lease-start: epoch"],
])("resume(), replay() and fork() say of a run that a line %s", async ([, type, damage, line, problem, soundStep]) => {
  const { agent, store } = await createDamaged(type, damage);
  const lines = await store.log.position("run:a");

  const resumed = await agent.resume("a").result;

  const error = {
    code: "run-damaged",
    message: expect.stringContaining(`Cannot read the run "a": line ${line} of its journal is damaged (`),
    details: {
      run: "a",
      line,
      problem: expect.stringContaining(problem),
      ...(soundStep !== undefined && { soundStep }),
    },
  };
  expect(resumed).toMatchObject({ status: "failed", error });
  await expect(agent.replay("a")).rejects.toMatchObject(error);
  await expect(agent.fork("a", 2)).rejects.toMatchObject(error);
  await expect(agent.decide("a:1.0", { decision: "approve" })).rejects.toMatchObject(error);
  expect(await store.log.position("run:a")).toBe(lines);
});

test("resume() says of a journal that a line of it is missing", async () => {
  const { journal } = await createWorld();
  const { agent, store } = await createStored(journal);
  const read: Store["log"]["read"] = async (stream, options) =>
    (await store.log.read(stream, options)).filter(({ position }) => position !== 4);
  const gappy = { ...store, log: { ...store.log, read } };

  const { error } = await createAgent({ model: mockModel([]), store: gappy, workspace: createTools([]) }).resume("a")
    .result;

  expect(error?.message).toContain(
    "line 4 of its journal is damaged (it is missing); continue from the last complete step before it",
  );
  expect((await agent.resume("a").result).status).toBe("ok");
});

test("fork() goes on from what is sound before the line that is damaged, and makes no call again", async () => {
  const { agent, made } = await createDamaged("message-added", without("message"));

  const fork = await agent.fork("a", 1).result;

  expect(fork).toMatchObject({ status: "ok", text: "Done" });
  expect(made).toEqual([]);
});

test("resume() leaves lines alone that are of another type than Kitbag knows", async () => {
  const { agent, store } = await createDamaged("message-added", gone);

  expect(await agent.resume("a").result).toMatchObject({ status: "ok", text: "Done" });
  expect(await createRuns({ store }).list()).toMatchObject([{ id: "a", status: "ok" }]);
});

test("whatever a line says, a run is gone on with or refused with a reason", async () => {
  const { journal } = await createWorld();
  const values: readonly (JsonValue | undefined)[] = [undefined, null, 5, "", "x", [], {}, [null], [{}]];
  const fields = journal.flatMap((line, index) => Object.keys(line).map((field) => ({ index, field })));
  const all = fields.flatMap((place) => values.map((value) => ({ ...place, value })));

  const unclear: unknown[] = [];
  for (const { index, field, value } of all) {
    const { [field]: _gone, ...line } = journal[index] as RunEvent;
    const damaged = value === undefined ? line : { ...line, [field]: value };
    for (const cause of await findFailures(journal.with(index, damaged as RunEvent))) {
      if (!isKitbagError(cause) || cause.code === "model-failed") unclear.push({ index, field, value, cause });
    }
  }

  expect(all.length).toBeGreaterThan(400);
  expect(unclear).toEqual([]);
});

/** Why a journal cannot be read, in each of the ways to read it. */
async function findFailures(journal: readonly RunEvent[]): Promise<readonly unknown[]> {
  const { agent, store } = await createStored(journal);
  const ways = [agent.replay("a"), agent.fork("a", 1), createRuns({ store }).list()];
  const settled = await Promise.allSettled<unknown>(ways);
  const { error } = await agent.resume("a").result;
  const thrown = settled.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  return error?.code === "model-failed" ? [...thrown, error] : thrown;
}

interface Damaged {
  readonly agent: Agent;
  readonly store: Store;
  /** How often the tool was called by whoever goes on. */
  readonly made: readonly string[];
}

/** A run whose first line of this type is damaged. */
async function createDamaged(type: string, damage: Damage): Promise<Damaged> {
  const { journal } = await createWorld();
  const index = journal.findIndex((line) => line.type === type);
  return createStored(journal.with(index, damage(journal[index] as RunEvent) as RunEvent));
}

async function createStored(journal: readonly RunEvent[]): Promise<Damaged> {
  const made: string[] = [];
  const store = memoryStore();
  await store.log.append("run:a", journal);
  const agent = createAgent({ model: mockModel(() => "Done"), store, workspace: createTools(made) });
  return { agent, store, made };
}

/** A run that was stopped while its model was asked for the second time. */
async function createWorld(): Promise<{ readonly journal: readonly RunEvent[] }> {
  const store = memoryStore();
  const model = mockModel([{ calls: [{ tool: "roll" }, { tool: "roll" }] }, "Nobody hears this"]);
  const agent = createAgent({ model, store, workspace: createTools([]) });
  const run: AgentRun = agent.run("Roll twice", {
    id: "a",
    limits: { maxParallel: 1 },
    hooks: { beforeModel: (_call, { step }) => (step === 2 ? steerAndStop(run) : undefined) },
  });
  await run.result;
  return { journal: (await createRuns({ store }).read("a")).map(({ value }) => value) };
}

function steerAndStop(run: AgentRun): undefined {
  run.steer("Faster");
  run.stop();
}

function createTools(made: string[]): ReturnType<typeof createWorkspace> {
  const roll = defineTool({
    name: "roll",
    description: "Rolls a die",
    run() {
      made.push("roll");
      return 6;
    },
  });
  return createWorkspace({ tools: [roll] });
}
