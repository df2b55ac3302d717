import {
  createWorkspace,
  defineTool,
  type ApprovalRequest,
  type CallEvent,
  type Guard,
  type GuardVerdict,
  type RuntimeContext,
} from "kitbag";
import { expect, test } from "vitest";

const pay = defineTool({
  name: "pay",
  description: "Pays an amount",
  input: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
  run: ({ amount }, context) => {
    (context as RuntimeContext).chunk("piece");
    context.log("ada@example.org");
    context.progress({ message: "ada@example.org", done: 1 });
    if (amount === 13) throw new Error("no luck, ada@example.org");
    return `paid ${String(amount)} for ada@example.org`;
  },
});

const guard = (place: "tool-input" | "tool-output", verdict: GuardVerdict): Guard => ({
  name: "check",
  at: [place],
  check: () => verdict,
});

test("a guard of a workspace sees what each tool is called with, and what comes of it", async () => {
  const seen: unknown[] = [];
  const watch: Guard = { name: "watch", check: (guarded) => void seen.push(guarded) };
  const workspace = createWorkspace({ tools: [pay], guards: [watch] });

  await workspace.call("pay", { amount: 5 }, { user: "ada" });
  await workspace.call("pay", { amount: 13 });

  expect(seen).toEqual([
    { place: "tool-input", value: { amount: 5 }, tool: "pay", user: "ada" },
    { place: "tool-output", value: "paid 5 for ada@example.org", tool: "pay", user: "ada" },
    { place: "tool-input", value: { amount: 13 }, tool: "pay" },
    { place: "tool-output", value: expect.objectContaining({ message: expect.any(String) }), tool: "pay" },
  ]);
});

test("a call of a tool by a tool is shown to the guards as well", async () => {
  const outer = defineTool({
    name: "outer",
    description: "Calls pay",
    run: async (_, { call }) => (await call("pay", { amount: 500 })).status,
  });
  const workspace = createWorkspace({
    tools: [pay, outer],
    guards: [
      { name: "small", at: ["tool-input"], check: ({ tool }) => (tool === "pay" ? { refuse: "no" } : undefined) },
    ],
  });

  expect(await workspace.call("outer")).toEqual({ status: "ok", output: "failed" });
});

test.for([
  ["refuses an input", guard("tool-input", { refuse: "at most 100" }), "failed", /"check".*at most 100/u],
  ["changes an input", guard("tool-input", { change: { amount: 1 } }), "ok", /paid 1 for/u],
  ["changes an input into a wrong one", guard("tool-input", { change: { amount: "x" } }), "failed", /amount/u],
  ["refuses an output", guard("tool-output", { refuse: "secret" }), "failed", /secret/u],
  ["redacts an output", guard("tool-output", { redact: ["personal"] }), "ok", /paid 5 for \[email\]/u],
  [
    "changes an output into one that is too large",
    guard("tool-output", { change: "x".repeat(5000) }),
    "failed",
    /in its place/u,
  ],
  ["throws", { name: "check", check: () => Promise.reject(new Error("boom")) }, "failed", /boom/u],
] as const)("a guard that %s", async ([, one, status, text]) => {
  const events: CallEvent[] = [];
  const workspace = createWorkspace({ tools: [pay], guards: [one], limits: { maxKeptBytes: 4096 } });
  workspace.onEvent((event) => events.push(event));

  const outcome = await workspace.call("pay", { amount: 5 });

  expect(outcome.status).toBe(status);
  expect(JSON.stringify(outcome)).toMatch(text);
  expect(events.filter(({ type }) => type === "guard-acted")).toHaveLength(1);
});

test("a guard that changes the output of a tool that failed changes what is said of it", async () => {
  const workspace = createWorkspace({ tools: [pay], guards: [guard("tool-output", { redact: ["personal"] })] });

  const outcome = await workspace.call("pay", { amount: 13 });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "tool-failed" } });
  expect(JSON.stringify(outcome)).not.toContain("ada@example.org");
});

test("what a tool says on its way is told only where no guard looks at the output", async () => {
  const told = async (guards: readonly Guard[]): Promise<readonly unknown[]> => {
    const events: CallEvent[] = [];
    await createWorkspace({ tools: [pay], guards }).call(
      "pay",
      { amount: 5 },
      { onEvent: (event) => events.push(event) },
    );
    return events.filter(({ type }) => ["call-chunk", "call-log", "call-progress"].includes(type));
  };

  expect(await told([guard("tool-input", undefined)])).toHaveLength(3);
  expect(await told([guard("tool-output", undefined)])).toEqual([
    { type: "call-progress", call: expect.any(String), progress: { done: 1 } },
  ]);
});

test.for(["tool-input", "tool-output"] as const)(
  "a guard at %s that does not answer ends with the deadline",
  async (at) => {
    const silent: Guard = { name: "silent", at: [at], check: () => new Promise(() => {}) };
    const workspace = createWorkspace({ tools: [pay], guards: [silent], limits: { limitMs: 50 } });

    const outcome = await workspace.call("pay", { amount: 5 });

    expect(outcome).toMatchObject({ status: "failed", error: { code: "guard-refused" } });
    expect(JSON.stringify(outcome)).toContain("did not answer in time");
  },
);

test("a guard that does not answer ends when the call is cancelled", async () => {
  const controller = new AbortController();
  const silent: Guard = {
    name: "silent",
    at: ["tool-input"],
    check: () => {
      controller.abort();
      return new Promise(() => {});
    },
  };
  const workspace = createWorkspace({ tools: [pay], guards: [silent] });

  const outcome = await workspace.call("pay", { amount: 5 }, { signal: controller.signal });

  expect(JSON.stringify(outcome)).toContain("the call was stopped before the guards answered");
});

test("what came of a call that ran out of time is shown to the guards", async () => {
  const slow = defineTool({
    name: "slow",
    description: "Sleeps",
    run: (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", reject)),
  });
  const workspace = createWorkspace({
    tools: [slow],
    guards: [guard("tool-output", { refuse: "seen" })],
    limits: { limitMs: 20 },
  });

  expect(await workspace.call("slow")).toMatchObject({ error: { code: "guard-refused", details: { reason: "seen" } } });
});

test("an input that was approved in the place of another is shown to the guards as well", async () => {
  const small: Guard = {
    name: "small",
    at: ["tool-input"],
    check: ({ value }) => ((value as { amount: number }).amount > 100 ? { refuse: "at most 100" } : undefined),
  };
  const workspace = createWorkspace({
    tools: [pay],
    guards: [small],
    approve: () => ({ decision: "approve", input: { amount: 900 } }),
  });

  expect(await workspace.call("pay", { amount: 5 })).toMatchObject({
    status: "failed",
    error: { code: "guard-refused" },
  });
});

test.for(["tool-input", "tool-output"] as const)("a guard at %s has a person asked", async (place) => {
  const requests: ApprovalRequest[] = [];
  const workspace = createWorkspace({
    tools: [pay],
    guards: [guard(place, { ask: "is this right?" })],
    approve: (request) => {
      requests.push(request);
      return request.reason === undefined || request.input !== "no"
        ? { decision: "approve" }
        : { decision: "deny", reason: "no" };
    },
  });

  const outcome = await workspace.call("pay", { amount: 5 }, { user: "ada" });

  expect(outcome.status).toBe("ok");
  expect(requests.at(-1)).toMatchObject({
    reason: "is this right?",
    user: "ada",
    address: "pay",
    tool: { needsApproval: true },
    input: place === "tool-input" ? { amount: 5 } : "paid 5 for ada@example.org",
  });
});

test.for([
  ["denies", (): never => ({ decision: "deny", reason: "not today" }) as never, /not today/u],
  ["answers nothing", (): never => undefined as never, /is this right/u],
  [
    "throws",
    (): never => {
      throw new Error("lost");
    },
    /lost/u,
  ],
] as const)("an output that a person is asked about is refused if the person %s", async ([, answer, text]) => {
  const workspace = createWorkspace({ tools: [pay], guards: [guard("tool-output", { ask: "is this right?" })] });

  const outcome = await workspace.call(
    "pay",
    { amount: 5 },
    {
      approve: (request) => (request.reason === undefined ? { decision: "approve" } : answer()),
    },
  );

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "guard-refused", message: expect.stringMatching(text) },
  });
});

test("without a person, what a guard asks about is refused", async () => {
  const outcomes = (["tool-input", "tool-output"] as const).map((place) =>
    createWorkspace({ tools: [pay], guards: [guard(place, { ask: "is this right?" })] }).call("pay", { amount: 5 }),
  );

  expect(await Promise.all(outcomes)).toMatchObject([
    { status: "failed", error: { code: "approval-missing" } },
    { status: "failed", error: { code: "guard-refused", message: expect.stringMatching(/no person to ask/u) } },
  ]);
});

test("a call that is cancelled while a person is asked about its output is refused", async () => {
  const controller = new AbortController();
  const workspace = createWorkspace({ tools: [pay], guards: [guard("tool-output", { ask: "is this right?" })] });

  const outcome = await workspace.call(
    "pay",
    { amount: 5 },
    {
      signal: controller.signal,
      approve: ({ reason }) => {
        if (reason === undefined) return { decision: "approve" };
        controller.abort();
        return new Promise(() => {});
      },
    },
  );

  expect(outcome).toMatchObject({ status: "failed", error: { code: "guard-refused" } });
});

test.for([[null], [{ name: "x" }], [{ name: "x", check: () => {}, at: ["elsewhere"] }]])(
  "a guard that is none is refused: %j",
  (guards) => {
    expect(() => createWorkspace({ guards: guards as never })).toThrow(/guards.*a list of guards/u);
  },
);
