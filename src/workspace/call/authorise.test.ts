import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { CallEvent } from "../../core/events.ts";
import type { Tool } from "../../core/tool.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { ApprovalDecision, ApprovalRequest, Approve } from "./call-options.ts";

test("call() asks before it runs, and shows exactly what will run", async () => {
  const requests: ApprovalRequest[] = [];
  const { workspace, tool, events } = setUp((request) => {
    requests.push(request);
    return { decision: "approve" };
  });

  const outcome = await workspace.call("note", { text: "hi", times: "2" }, { user: "ada" });

  expect(outcome).toMatchObject({ status: "ok", output: { text: "hi", times: 2, mark: "!" } });
  expect(requests).toEqual([
    {
      call: expect.any(String),
      user: "ada",
      callers: [],
      address: "note",
      tool,
      input: { text: "hi", times: 2, mark: "!" },
      signal: expect.any(AbortSignal),
    },
  ]);
  expect(events.map(({ type }) => type)).toEqual([
    "call-start",
    "input-coerced",
    "approval-request",
    "approval-granted",
    "call-end",
  ]);
});

test("call() runs nothing when the approval is denied, and tells the reason", async () => {
  const { workspace, ran, events } = setUp(() => ({ decision: "deny", reason: "not on a Sunday" }));

  const outcome = await workspace.call("note", { text: "hi" });

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "approval-denied", details: { tool: "note", reason: "not on a Sunday" } },
  });
  expect(ran).toEqual([]);
  expect(events.at(-2)).toMatchObject({ type: "approval-denied", reason: "not on a Sunday" });
});

test("call() runs another input if that is what was approved, after it was checked like any other", async () => {
  const { workspace, events } = setUp(() => ({ decision: "approve", input: { text: "bye", times: "3" } }));

  const outcome = await workspace.call("note", { text: "hi", times: "2" });

  expect(outcome).toEqual({
    status: "ok",
    output: { text: "bye", times: 3, mark: "!" },
    coerced: [{ path: "times", from: '"3"', to: "3" }],
  });
  expect(events.find(({ type }) => type === "approval-granted")).toMatchObject({
    changed: true,
    input: { text: "bye", times: 3, mark: "!" },
  });
});

test.for<[string, unknown]>([
  ["no text", { text: 3, times: 1, extra: true }],
  ["null", null],
  ["a cycle", cycle()],
  ["a BigInt", { text: 1n }],
  ["17 MiB", { text: "x".repeat(17 * 1024 * 1024) }],
])("call() fails when the input that was approved instead is wrong: %s", async ([, input]) => {
  const { workspace, ran, events } = setUp(() => ({ decision: "approve", input }));

  const outcome = await workspace.call("note", { text: "hi" });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "input-invalid" } });
  expect(ran).toEqual([]);
  expect(events.at(-2)?.type).toBe("approval-denied");
});

test.for<[string, Approve, string]>([
  ["throws", () => Promise.reject(new Error("lost connection")), "lost connection"],
  ["throws at once", thrower, "do not look"],
  ["throws what cannot be shown", () => Promise.reject(Object.create(null) as Error), "something that cannot be shown"],
  ["answers nothing", answer(undefined), "the answer was nothing, not a decision"],
  ["answers true", answer(true), "the answer was true, not a decision"],
  ["answers a text", answer("approve"), 'the answer was "approve", not a decision'],
  ["answers another decision", answer({ decision: "Approve" }), "the answer was an object, not a decision"],
  [
    "answers an object that throws",
    answer({
      get decision() {
        return thrower();
      },
    }),
    "do not look",
  ],
  [
    "approves an input that throws",
    answer({
      decision: "approve",
      get input() {
        return thrower();
      },
    }),
    "do not look",
  ],
])("call() fails closed when the approval %s", async ([, approve, reason]) => {
  const { workspace, ran, events } = setUp(approve);

  const outcome = await workspace.call("note", { text: "hi" });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "approval-failed", details: { reason } } });
  expect(ran).toEqual([]);
  expect(events.at(-2)).toMatchObject({ type: "approval-denied", reason });
});

test.for<[unknown, string]>([
  [undefined, "no reason given"],
  [null, "no reason given"],
  [42, "42"],
  [{ toString: thrower }, "something that cannot be shown"],
])("call() shows whatever reason a denial has: %#", async ([reason, shown]) => {
  const { workspace } = setUp(answer({ decision: "deny", reason }));

  const outcome = await workspace.call("note", { text: "hi" });

  expect(outcome).toMatchObject({ error: { code: "approval-denied", details: { reason: shown } } });
});

test("call() fails closed when a tool needs an approval, and there is no approval function", async () => {
  const careful = defineTool({ name: "careful", description: "Needs a yes", needsApproval: true, run: () => "ran" });
  const workspace = createWorkspace({ tools: [careful] });

  const outcomes = [
    await workspace.call("careful"),
    await workspace.call("careful", {}, { approve: () => ({ decision: "approve" }) }),
  ];

  expect(outcomes).toMatchObject([{ error: { code: "approval-missing" } }, { status: "ok", output: "ran" }]);
});

test("call() asks the caller's function instead of the workspace's", async () => {
  const { workspace } = setUp(() => ({ decision: "deny", reason: "the workspace says no" }));

  const outcome = await workspace.call("note", { text: "hi" }, { approve: () => ({ decision: "approve" }) });

  expect(outcome).toMatchObject({ status: "ok" });
});

test("call() asks whoever is there if nobody else is, about tools that need it alone", async () => {
  const careful = defineTool({ name: "careful", description: "Needs a yes", needsApproval: true, run: () => "ran" });
  const outer = defineTool({
    name: "outer",
    description: "Calls another",
    run: (_, { call }) => call("inner"),
  });
  const inner = defineTool({ name: "inner", description: "Calls one more", run: (_, { call }) => call("careful") });
  const workspace = createWorkspace({ tools: [careful, outer, inner] });
  const asked: (readonly string[])[] = [];
  const approveIfNobody: Approve = ({ address, callers }) => {
    asked.push([...callers, address]);
    return { decision: "approve" };
  };

  const direct = await workspace.call("careful", {}, { approveIfNobody });
  const nested = await workspace.call("outer", {}, { approveIfNobody });

  expect(direct).toMatchObject({ output: "ran" });
  expect(nested).toMatchObject({ output: { output: { output: "ran" } } });
  expect(asked).toEqual([["careful"], ["outer", "inner", "careful"]]);
});

test("call() leaves the decision to those who have it, not to whoever else is there", async () => {
  const careful = defineTool({ name: "careful", description: "Needs a yes", needsApproval: true, run: () => "ran" });
  const approve: Approve = () => ({ decision: "deny", reason: "the workspace says no" });
  const workspace = createWorkspace({ tools: [careful], approve });
  const approveIfNobody: Approve = () => ({ decision: "approve" });

  const byWorkspace = await workspace.call("careful", {}, { approveIfNobody });
  const byCaller = await createWorkspace({ tools: [careful] }).call("careful", {}, { approve, approveIfNobody });

  expect([byWorkspace, byCaller]).toMatchObject(
    Array.from({ length: 2 }, () => ({ error: { code: "approval-denied" } })),
  );
});

test("call() asks for calls inside calls too, whoever was asked for the outer one", async () => {
  const outer = defineTool({
    name: "outer",
    description: "Calls another",
    run: (_, { call }) => call("note", { text: "from inside" }),
  });
  const { workspace, ran } = setUp(() => ({ decision: "deny", reason: "the workspace says no" }));
  workspace.add(outer);
  const requests: ApprovalRequest[] = [];

  const outcome = await workspace.call("outer", undefined, {
    user: "ada",
    approve(request) {
      requests.push(request);
      return request.address === "outer" ? { decision: "approve" } : { decision: "deny", reason: "not inside" };
    },
  });

  expect(outcome).toMatchObject({ output: { status: "failed", error: { details: { reason: "not inside" } } } });
  expect(ran).toEqual([]);
  expect(requests).toMatchObject([
    { address: "outer", user: "ada" },
    { address: "note", user: "ada", parent: requests[0]?.call, input: { text: "from inside" } },
  ]);
});

test("R23: changing the request changes nothing: what was shown is what runs", async () => {
  const { workspace } = setUp((request) => {
    const input = request.input as Record<string, unknown>;
    input["text"] = "something else";
    input["extra"] = true;
    Object.assign(request, { address: "other", tool: undefined });
    return { decision: "approve" };
  });

  const outcome = await workspace.call("note", { text: "hi" });

  expect(outcome).toMatchObject({ status: "ok", output: { text: "hi", times: 1, mark: "!" } });
});

test("R23: the input cannot be changed between the approval and the run", async () => {
  const given: Record<string, unknown> = { text: "hi" };
  const { workspace } = setUp(() => {
    given["text"] = "changed by the caller";
    return { decision: "approve" };
  });
  const refusals: string[] = [];
  workspace.use(
    (call, next) => {
      const input = call.input as Record<string, unknown>;
      input["text"] = "changed by a middleware";
      try {
        call.setInput({ text: "set by a middleware" });
      } catch (cause) {
        refusals.push((cause as Error).message);
      }
      return next();
    },
    { before: "admit" },
  );
  workspace.onEvent((event) => {
    if (event.type === "approval-granted") Object.assign(event.input as object, { text: "changed by a listener" });
  });

  const outcome = await workspace.call("note", given);

  expect(outcome).toMatchObject({ status: "ok", output: { text: "hi" } });
  expect(refusals).toEqual([expect.stringContaining('put the middleware before "check-input"')]);
});

test("R23: a tool that is replaced while the approval is asked for runs as it was approved", async () => {
  const { workspace } = setUp(() => {
    workspace.replace(defineTool({ name: "note", description: "Another one", run: () => "another one ran" }));
    return { decision: "approve" };
  });

  const outcome = await workspace.call("note", { text: "hi" });

  expect(outcome).toMatchObject({ status: "ok", output: { text: "hi" } });
});

test("call() runs nothing when the tool is removed while the approval is asked for", async () => {
  const { workspace, ran } = setUp(() => {
    workspace.remove("note");
    return { decision: "approve" };
  });

  const outcome = await workspace.call("note", { text: "hi" });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "tool-not-found", details: { tool: "note" } } });
  expect(ran).toEqual([]);
});

test("call() runs nothing when the skill closes while the approval is asked for", async () => {
  let ran = 0;
  const erase = defineTool({ name: "erase", description: "Erases", run: () => (ran += 1) });
  const workspace = createWorkspace({
    skills: [defineSkill({ name: "disk", description: "Disks", tools: [erase] })],
    async approve() {
      await workspace.deactivateSkill("disk");
      return { decision: "approve" };
    },
  });
  const closed = await workspace.call("disk/erase");
  await workspace.activateSkill("disk");

  const outcome = await workspace.call("disk/erase");

  expect([closed, outcome]).toMatchObject([
    { error: { code: "tool-unavailable", details: { owner: "disk" } } },
    { error: { code: "tool-unavailable", details: { owner: "disk" } } },
  ]);
  expect(ran).toBe(0);
});

test("call() ends when it is cancelled while the approval is asked for, and tells whoever is asked", async () => {
  const asked = Promise.withResolvers<ApprovalRequest>();
  const decision = Promise.withResolvers<ApprovalDecision>();
  const { workspace, ran, events } = setUp((request) => {
    asked.resolve(request);
    return decision.promise;
  });
  const controller = new AbortController();

  const call = workspace.call("note", { text: "hi" }, { signal: controller.signal });
  const { signal } = await asked.promise;
  controller.abort();
  const outcome = await call;
  decision.resolve({ decision: "approve" });
  await new Promise(setImmediate);

  expect(outcome).toMatchObject({ status: "failed", error: { code: "call-cancelled" } });
  expect(signal.aborted).toBe(true);
  expect(ran).toEqual([]);
  expect(events.map(({ type }) => type)).toEqual(["call-start", "approval-request", "approval-denied", "call-end"]);
});

test("call() asks nobody if it is cancelled while the schema is asked", async () => {
  const controller = new AbortController();
  const schema = {
    "~standard": {
      version: 1,
      vendor: "test",
      jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
      validate: (value: unknown) => {
        controller.abort();
        return { value };
      },
    },
  } as const;
  let asked = 0;
  const workspace = createWorkspace({
    tools: [defineTool({ name: "x", description: "Does something", input: schema as never, run: () => 1 })],
    approve: () => {
      asked += 1;
      return { decision: "approve" };
    },
  });

  const outcome = await workspace.call("x", {}, { signal: controller.signal });

  expect(outcome).toMatchObject({ error: { code: "call-cancelled" } });
  expect(asked).toBe(0);
});

test("the deadline does not run while an approval is asked for, neither of the call nor of those around it", async () => {
  const outer = defineTool({ name: "outer", description: "Calls another", run: (_, { call }) => call("middle") });
  const middle = defineTool({
    name: "middle",
    description: "Calls another",
    run: async (_, { call }) => Promise.all([call("note", { text: "one" }), call("note", { text: "two" })]),
  });
  const { workspace } = setUp(async (request) => {
    if (request.address === "note") await new Promise((resolve) => setTimeout(resolve, 700));
    return { decision: "approve" };
  });
  workspace.add(outer);
  workspace.add(middle);

  const outcome = await workspace.call("outer", undefined, { limitMs: 500 });

  expect(outcome).toMatchObject({
    status: "ok",
    output: { output: [{ output: { text: "one" } }, { output: { text: "two" } }] },
  });
});

test("the deadline runs again after the approval", async () => {
  const outer = defineTool({
    name: "outer",
    description: "Calls another, then hangs",
    run: async (_, { call }) => {
      await call("note", { text: "hi" });
      return new Promise(() => {});
    },
  });
  const { workspace } = setUp(async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    return { decision: "approve" };
  });
  workspace.add(outer);

  const outcome = await workspace.call("outer", undefined, { limitMs: 20 });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "call-timeout", details: { limitMs: 20 } } });
});

function setUp(approve: Approve): {
  workspace: ReturnType<typeof createWorkspace>;
  tool: Tool;
  ran: unknown[];
  events: CallEvent[];
} {
  const ran: unknown[] = [];
  const events: CallEvent[] = [];
  const tool = defineTool({
    name: "note",
    description: "Notes something",
    input: {
      type: "object",
      properties: {
        text: { type: "string" },
        times: { type: "integer", default: 1 },
        mark: { type: "string", default: "!" },
      },
      required: ["text"],
    },
    run: (input) => {
      ran.push(input);
      return input;
    },
  });
  const workspace = createWorkspace({ tools: [tool], approve });
  workspace.onEvent((event) => events.push(event));
  return { workspace, tool, ran, events };
}

function answer(value: unknown): Approve {
  return () => value as ApprovalDecision;
}

function thrower(): never {
  throw new Error("do not look");
}

function cycle(): object {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}
