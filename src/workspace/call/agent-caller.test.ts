import { expect, test } from "vitest";

import type { AgentCode } from "../../core/agent-code.ts";
import { createTool, defineTool, toMetaTool } from "../../core/define-tool.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Tool, ToolContext } from "../../core/tool.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { Session, Workspace } from "../workspace.ts";
import { findAuthor } from "./authority.ts";
import type { AgentCaller, AgentRequest, ApprovalRequest, CallOptions } from "./call-options.ts";

test("call() has the caller run a tool that is an agent, and says whether the caller itself calls it", async () => {
  const asked: AgentRequest[] = [];
  const agents: AgentCaller = { run: async (request) => (asked.push(request), "done") };
  const session = setUp().workspace.openSession({ isAgent: true });

  const direct = await session.call("agent", { task: "a" }, { agents });
  const nested = await session.call("outer", {}, { agents, approve: () => ({ decision: "approve" }) });

  expect([direct, nested]).toEqual([
    { status: "ok", output: "done" },
    { status: "ok", output: "done" },
  ]);
  expect(asked.map(({ isDirect, chain, approve }) => [isDirect, chain, approve !== undefined])).toEqual([
    [true, ["agent"], false],
    [false, ["outer", "agent"], true],
  ]);
});

test("an agent that runs by itself needs no caller; another one is there only for sessions of agents", async () => {
  const { workspace } = setUp();
  const alone: AgentCaller = { run: async () => "by itself" };
  workspace.add(toAgent("alone", alone));

  expect(await workspace.call("alone", { task: "a" })).toEqual({ status: "ok", output: "by itself" });
  expect(workspace.isToolAvailable("agent")).toBe(false);
  expect(await workspace.call("agent", { task: "a" })).toMatchObject({ error: { code: "tool-unavailable" } });
  const session = workspace.openSession({ isAgent: true });
  const listed = session.getAvailableTools().map(({ address }) => address);
  expect(listed).toContain("agent");
  expect(workspace.getAvailableTools().map(({ address }) => address)).toEqual(listed.filter((one) => one !== "agent"));
  expect(await session.call("agent", { task: "a" })).toMatchObject({ error: { code: "runtime-missing" } });
});

test("a tool that is no agent gets nothing that runs agents", async () => {
  const peek = defineTool({
    name: "peek",
    description: "Peeks",
    run: (_input, context) => Reflect.get(context, "runAgent") === undefined,
  });

  expect(await createWorkspace({ tools: [peek] }).call("peek")).toEqual({ status: "ok", output: true });
});

test("onChange() tells of agents only who can call them", () => {
  const { workspace } = setUp();
  const heard: string[] = [];
  workspace.onChange(({ added }) => heard.push(...added.map(({ address }) => `workspace ${address}`)));
  workspace.openSession({ isAgent: true }).onChange(({ added }) => heard.push(...added.map(({ address }) => address)));

  workspace.add(toAgent("second"));

  expect(heard).toEqual(["second"]);
});

test("a session inside a call calls on its behalf: the same approver, budget and chain; its own options hold as well", async () => {
  const asked: Pick<ApprovalRequest, "address" | "callers">[] = [];
  const { outcomes } = await callInside(
    async (inner) => [
      await inner.call("look"),
      await inner.call("put", {}, { scopes: new Set(["tools:read"]) }),
      await inner.call("look"),
    ],
    {
      maxCalls: 2,
      approve: ({ address, callers }) => (asked.push({ address, callers }), { decision: "approve" }),
    },
  );

  expect(outcomes.map((outcome) => (outcome.status === "ok" ? "ok" : outcome.error.code))).toEqual([
    "ok",
    "scope-missing",
    "budget-spent",
  ]);
  expect(asked).toEqual([
    { address: "agent", callers: [] },
    { address: "look", callers: ["agent"] },
  ]);
});

test("a session inside a call of another workspace has that one's tools, and the scopes and secrets of both", async () => {
  const other = createWorkspace({ tools: [look, put, tell("of-other")], secrets: { OTHER: "other-secret" } });

  const { outcomes } = await callInside(
    async (inner) => [await inner.call("look"), await inner.call("put"), await inner.call("of-other")],
    { scopes: new Set(["tools:read", "tools:of:global:agent"]) },
    other,
  );

  expect(outcomes).toMatchObject([
    { status: "ok" },
    { status: "failed", error: { code: "scope-missing" } },
    { status: "ok", output: "the [OTHER]" },
  ]);
});

test("a call inside a session ends with the call that the session is inside of, and no more can begin", async () => {
  let late: Session | undefined;
  const { outcomes } = await callInside(async (inner) => {
    late = inner;
    return [await inner.call("look")];
  });

  expect(outcomes).toMatchObject([{ status: "ok" }]);
  expect(await late?.call("look")).toMatchObject({ status: "failed", error: { code: "call-cancelled" } });
});

test("what is made inside a session is recorded with the scopes of all who are around it", async () => {
  const scopes = new Set(["tools:read", "tools:write"]);
  const { outcomes } = await callInside(
    async (inner) => [
      await inner.call("who", {}, { scopes: new Set(["tools:write", "other"]) }),
      await inner.call("who"),
    ],
    { scopes },
  );

  expect(outcomes).toMatchObject([{ output: ["tools:write"] }, { output: ["tools:read", "tools:write"] }]);
});

test("openSession() refuses what is not the call of an agent's context", async () => {
  const { workspace } = setUp();
  let given: ToolContext["call"] | undefined;
  workspace.add(defineTool({ name: "give", description: "Gives", run: (_input, { call }) => void (given = call) }));
  await workspace.call("give");

  expect(() => workspace.openSession({ inside: given as ToolContext["call"] })).toThrow(
    expect.objectContaining({ code: "option-invalid" }),
  );
});

const look = defineTool({ name: "look", description: "Looks", annotations: { readOnly: true }, run: () => "seen" });
const put = defineTool({ name: "put", description: "Puts", run: () => "put" });

function tell(name: string): Tool {
  return defineTool({ name, description: name, annotations: { readOnly: true }, run: () => "the other-secret" });
}

function toAgent(name: string, alone?: AgentCaller): Tool {
  const input = { type: "object", properties: { task: { type: "string" } } } as const;
  const code: AgentCode = { kind: "agent", ...(alone && { alone }) };
  return createTool({ name, description: name, input, code });
}

function setUp(alone?: AgentCaller): { readonly workspace: Workspace } {
  const outer = defineTool({
    name: "outer",
    description: "Calls an agent",
    run: async (_input, { call }) => {
      const outcome = await call("agent", { task: "b" });
      return outcome.status === "ok" ? outcome.output : outcome.error.code;
    },
  });
  return { workspace: createWorkspace({ tools: [toAgent("agent", alone), outer, look, put, who] }) };
}

/** Tells which scopes are recorded of who makes something with it. */
const who = toMetaTool(
  defineTool({ name: "who", description: "Tells scopes", run: (_input, { call }) => findAuthor(call).scopes }),
);

interface Inside {
  readonly outcomes: readonly ToolOutcome[];
}

/** Calls an agent that does `work` in a session inside that call, of the same workspace or of another. */
async function callInside(
  work: (inner: Session) => Promise<readonly ToolOutcome[]>,
  options: CallOptions = {},
  other?: Workspace,
): Promise<Inside> {
  let outcomes: readonly ToolOutcome[] = [];
  const agents: AgentCaller = {
    async run({ context }) {
      outcomes = await work((other ?? workspace).openSession({ isAgent: true, inside: context.call }));
      return "done";
    },
  };
  // An agent of the program, and not one that a skill brings.
  const { workspace } = setUp(agents);
  await workspace.openSession({ isAgent: true }).call("agent", { task: "a" }, { ...options, agents });
  return { outcomes };
}
