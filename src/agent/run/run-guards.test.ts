import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { Guard, GuardPlace } from "../../core/guards.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { mockModel, type MockModel } from "../../testing/models/mock-model.ts";
import type { Approve } from "../../workspace/call/call-options.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import type { AgentRun } from "../agent-run.ts";
import { createAgent } from "../create-agent.ts";
import type { AgentEvent } from "../events.ts";
import type { RunResult } from "../run-result.ts";
import type { AgentOptions, InputRedaction } from "../agent-options.ts";

const mail = ["ada", "example.com"].join("@");
const password = ["postgres://ada", "hunter2@db.example/main"].join(":");

test("redactInput takes secrets and personal data out of all that a model sees, and of the journal", async () => {
  const { model, journal } = await runWith(true);

  const seen = JSON.stringify(model.asked.map(({ prompt }) => prompt));
  expect(seen).toContain("[email]");
  for (const text of [seen, journal]) {
    expect(text).not.toContain(mail);
    expect(text).not.toContain("hunter2");
  }
});

test("redactInput takes out some kinds only", async () => {
  const { model } = await runWith(["credentials"]);

  const seen = JSON.stringify(model.asked.map(({ prompt }) => prompt));
  expect(seen).toContain(mail);
  expect(seen).not.toContain("hunter2");
});

test.for<InputRedaction | undefined>([undefined, false, []])("redactInput: %j changes nothing", async (choice) => {
  const { model } = await runWith(choice);

  expect(JSON.stringify(model.asked[2]?.prompt).split(mail)).toHaveLength(5);
});

test("redactInput leaves pictures and the reasoning of a model as they are", async () => {
  const model = mockModel(["Fine"]);
  const data = Buffer.from("R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==", "base64");
  const agent = createAgent({ model, workspace: createWorkspace(), redactInput: true });

  await agent.run([
    { role: "user", content: [{ type: "text", text: "Hello" }] },
    { role: "assistant", content: [{ type: "reasoning", text: mail, providerOptions: { acme: { signature: "s" } } }] },
    { role: "user", content: [{ type: "file", mediaType: "image/gif", data: { type: "data", data } }] },
  ]).result;

  expect(JSON.stringify(model.asked[0]?.prompt[1])).toContain(mail);
  expect(model.asked[0]?.prompt[2]?.content[0]).toMatchObject({ type: "file" });
});

test.for(["yes", 1, ["everything"], {}])("createAgent() refuses redactInput: %j", (redactInput) => {
  const make = (): unknown =>
    createAgent({ model: mockModel([]), workspace: createWorkspace(), redactInput: redactInput as never });

  expect(make).toThrow(expect.objectContaining({ code: "option-invalid" }));
});

test("guards see the task, what a tool is called with, what comes of it and the answer, in order", async () => {
  const seen: unknown[] = [];
  const guard: Guard = { name: "watch", check: ({ place, tool, value }) => void seen.push([place, tool, value]) };

  await runGuarded([guard]);

  expect(seen).toEqual([
    ["task", undefined, "Pay 5"],
    ["tool-input", "pay", { amount: 5 }],
    ["tool-output", "pay", "paid 5 to 4111111111111111"],
    ["answer", undefined, "Paid with 4111111111111111."],
  ]);
});

test("guards change what a tool is called with, what the model sees of it, and the answer; the log says so", async () => {
  const { result, model, events, journal, agent } = await runGuarded([
    { name: "cards", at: ["tool-output", "answer"], check: () => ({ redact: ["personal"] }) },
    { name: "less", at: ["tool-input"], check: () => ({ change: { amount: 1 } }) },
  ]);

  expect(result).toMatchObject({ status: "ok", text: "Paid with [card]." });
  expect(JSON.stringify(model.asked[1]?.prompt)).toContain("paid 1 to [card]");
  expect(journal).not.toContain("4111");
  expect(events.filter(({ type }) => type === "guard-acted")).toMatchObject([
    { step: 1, guard: "less", place: "tool-input", verdict: "change" },
    { step: 1, guard: "cards", place: "tool-output", verdict: "redact" },
    { step: 2, guard: "cards", place: "answer", verdict: "redact" },
  ]);
  expect(journal).toContain('"guard":"less"');
  expect(await agent.replay(result.run)).toMatchObject({ status: "same", steps: 2 });
});

test("an answer is held back until guards have seen it", async () => {
  const { events } = await runGuarded([{ name: "cards", at: ["answer"], check: () => ({ redact: true }) }]);

  const told = events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []));
  expect(told).toEqual(["Paid with [card]."]);
  expect(JSON.stringify(events)).not.toContain("Paid with 4111");
});

test("a guard that refuses the task ends the run before the model is asked", async () => {
  const { result, model } = await runGuarded([refuseAt("task")]);

  expect(result).toMatchObject({ status: "failed", error: { code: "guard-refused", details: { place: "task" } } });
  expect(model.asked).toHaveLength(0);
});

test("a guard that refuses a call tells the model why, and the tool is not called", async () => {
  const { result, model, paid } = await runGuarded([refuseAt("tool-input")]);

  expect(result.status).toBe("ok");
  expect(paid).toEqual([]);
  expect(JSON.stringify(model.asked[1]?.prompt.at(-1))).toContain("not today");
});

test("a guard that refuses an output keeps it from the model and from the log", async () => {
  const { model, journal, paid } = await runGuarded([refuseAt("tool-output")]);

  expect(paid).toEqual([5]);
  expect(JSON.stringify(model.asked[1]?.prompt.at(-1))).toContain("Cannot use the tool-output");
  expect(journal).not.toContain("paid 5 to");
});

test("a guard that refuses the answer ends the run; what it cost is counted, and the text is nowhere", async () => {
  const { result, events, journal } = await runGuarded([refuseAt("answer")]);

  expect(result).toMatchObject({ status: "failed", error: { code: "guard-refused" }, usage: { modelCalls: 2 } });
  expect(
    JSON.stringify([result, events.filter(({ type }) => type !== "tool-end" && type !== "call-event")]),
  ).not.toContain("Paid with");
  expect(journal).not.toContain("Paid with");
  expect(journal).toContain("answer-dropped");
});

test("a guard that asks about a call pauses the run, and the call is made once a person approves it", async () => {
  const { result, agent, paid, journal } = await runGuarded([askAt("tool-input")]);
  expect(result).toMatchObject({ status: "paused", approvals: [`${result.run}:1.0`] });
  expect(paid).toEqual([]);
  expect(journal).toContain('"reason":"large"');

  await agent.decide(`${result.run}:1.0`, { decision: "approve" });
  const resumed = await agent.resume(result.run).result;

  expect(resumed.status).toBe("ok");
  expect(paid).toEqual([5]);
});

test.for<[place: GuardPlace, decision: "approve" | "deny", status: string]>([
  ["task", "approve", "ok"],
  ["task", "deny", "failed"],
  ["tool-input", "approve", "ok"],
  ["tool-input", "deny", "ok"],
  ["tool-output", "approve", "ok"],
  ["tool-output", "deny", "ok"],
  ["answer", "approve", "ok"],
  ["answer", "deny", "failed"],
])("a guard that asks at %s has whoever approves calls asked: %s", async ([place, decision, status]) => {
  const reasons: unknown[] = [];
  const approve: Approve = ({ reason }) => {
    if (reason === undefined) return { decision: "approve" };
    reasons.push(reason);
    return decision === "approve" ? { decision } : { decision, reason: "no" };
  };

  const { result, paid, model } = await runGuarded([askAt(place)], { approve });

  expect(reasons).toEqual(["large"]);
  expect(result.status).toBe(status);
  expect(paid).toEqual(place === "tool-input" && decision === "deny" ? [] : model.asked.length > 0 ? [5] : []);
});

test.for<GuardPlace>(["task", "tool-output", "answer"])(
  "a guard that asks at %s refuses where there is no person to ask",
  async (place) => {
    const { result, journal } = await runGuarded([askAt(place)]);

    expect(JSON.stringify(result) + journal).toContain("large; there is no person to ask");
  },
);

test("a call about which a guard asks is denied where nothing is kept and nobody is there", async () => {
  const { model, paid } = await runGuarded([askAt("tool-input")], { isKept: false });

  expect(paid).toEqual([]);
  expect(JSON.stringify(model.asked[1]?.prompt.at(-1))).toContain("there is no person to ask");
});

test("guards also see the input with which a hook has a call made again", async () => {
  const guard: Guard = {
    name: "small",
    at: ["tool-input"],
    check: ({ value }) => ((value as { amount: number }).amount > 5 ? { refuse: "too much" } : undefined),
  };
  let asked = 0;
  const afterCall = (): { again: { amount: number } } | undefined =>
    asked++ === 0 ? { again: { amount: 50 } } : undefined;

  const { paid } = await runGuarded([guard], { hooks: { afterCall } });

  expect(paid).toEqual([5]);
});

test("a guard sees the message and the details of a call that failed, and may replace them", async () => {
  const seen: unknown[] = [];
  const guard: Guard = {
    name: "quiet",
    at: ["tool-output"],
    check: ({ value }) => (seen.push(value), { change: "it did not work" }),
  };

  const { model } = await runGuarded([guard], {}, () => {
    throw new Error("no route to 10.0.0.1");
  });

  expect(seen).toMatchObject([{ message: expect.stringContaining("no route"), details: { tool: "pay" } }]);
  expect(JSON.stringify(model.asked[1]?.prompt.at(-1))).toContain('"value":"it did not work"');
});

test.for([{}, "guard", [{}], [{ name: "a", check: 1 }], [{ name: "a", check: () => undefined, at: ["everywhere"] }]])(
  "createAgent() refuses guards: %j",
  (guards) => {
    const make = (): unknown =>
      createAgent({ model: mockModel([]), workspace: createWorkspace(), guards: guards as never });

    expect(make).toThrow(expect.objectContaining({ code: "option-invalid" }));
  },
);

const refuseAt = (place: GuardPlace): Guard => ({ name: "no", at: [place], check: () => ({ refuse: "not today" }) });
const askAt = (place: GuardPlace): Guard => ({ name: "ask", at: [place], check: () => ({ ask: "large" }) });

interface GuardedRun {
  readonly result: RunResult;
  readonly agent: Agent;
  readonly model: MockModel;
  readonly events: readonly AgentEvent[];
  readonly journal: string;
  /** The amounts that were paid. */
  readonly paid: readonly number[];
}

/** A run that pays something and says so. */
async function runGuarded(
  guards: readonly Guard[],
  { isKept = true, ...options }: Partial<AgentOptions> & { readonly isKept?: boolean } = {},
  answer = (amount: number): string => `paid ${amount} to 4111111111111111`,
): Promise<GuardedRun> {
  const paid: number[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays",
    input: { type: "object", properties: { amount: { type: "number" } } },
    run({ amount }) {
      paid.push(Number(amount));
      return answer(Number(amount));
    },
  });
  const model = mockModel([{ calls: [{ tool: "pay", input: { amount: 5 } }] }, "Paid with 4111111111111111."]);
  const workspace = createWorkspace({ tools: [pay] });
  const store = memoryStore();
  const agent = createAgent({ ...options, model, workspace, guards, ...(isKept && { store }) });
  const events: AgentEvent[] = [];
  const result = await agent.run("Pay 5", { onEvent: (event) => events.push(event) }).result;
  const journal = isKept ? JSON.stringify(await createRuns({ store }).read(result.run)) : "";
  return { result, agent, model, events, journal, paid };
}

/** A run whose task, steering, outputs and failures hold what is not for models. */
async function runWith(redactInput: InputRedaction | undefined): Promise<{ model: MockModel; journal: string }> {
  const find = defineTool({ name: "find", description: "Finds", run: () => ({ owner: mail, url: password }) });
  const fail = defineTool({
    name: "fail",
    description: "Fails",
    run() {
      throw new Error(`no answer of ${mail}`);
    },
  });
  const store = memoryStore();
  const model = mockModel([{ calls: [{ tool: "find" }] }, { calls: [{ tool: "fail" }] }, "Done"]);
  const workspace = createWorkspace({ tools: [find, fail] });
  const agent = createAgent({ model, workspace, store, ...(redactInput !== undefined && { redactInput }) });
  const run: AgentRun = agent.run(`Ask ${mail} about ${password}`, {
    onEvent: (event) => event.type === "tool-end" && event.step === 1 && run.steer(`Copy ${mail}`),
  });
  await run.result;
  return { model, journal: JSON.stringify(await createRuns({ store }).read(run.id)) };
}
