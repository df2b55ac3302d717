import { expect, onTestFinished, test } from "vitest";

import { createAgent } from "../agent/create-agent.ts";
import { defineTool } from "../core/define-tool.ts";
import type { Scopes } from "../core/scopes.ts";
import type { Caller } from "../gate/gate.ts";
import { createRuns } from "../records/runs/create-runs.ts";
import { memoryStore } from "../store/memory-store.ts";
import { mockModel } from "../testing/models/mock-model.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import { createClient, type Client, type StreamEvent } from "./api-client.ts";
import { createHandler, type Handler } from "./create-handler.ts";

test("runs.start with the id of another user's run shows nothing of it, and leaves it as it is", async () => {
  const { ann, bob, store } = open();
  const { run: id } = await ann.runs.start({ agent: "careful", task: "The secret task" });
  const before = await createRuns({ store }).read(id);

  const stolen = collect(bob.stream("runs.start", { agent: "careful", task: "x", id }));
  await expect(stolen).rejects.toMatchObject({ problem: { status: 409 } });
  await expect(bob.runs.start({ agent: "careful", task: "x", id })).rejects.toMatchObject({ problem: { status: 409 } });

  expect(await createRuns({ store }).read(id)).toEqual(before);
});

test("of two runs that begin with one id at once, the stream of the second shows nothing of the first", async () => {
  const { ann, bob } = open();

  const both = await Promise.allSettled([
    collect(ann.stream("runs.start", { agent: "helper", task: "The secret task", id: "same" })),
    collect(bob.stream("runs.start", { agent: "helper", task: "Other", id: "same" })),
  ]);

  expect(JSON.stringify(both[0])).toContain("The secret task");
  expect(JSON.stringify(both[1])).not.toContain("The secret task");
});

test("a run stays the one that its user can stop when it is started or resumed a second time", async () => {
  const { ann } = open();
  const events = ann.stream("runs.start", { agent: "waiting", task: "Wait", id: "long" })[Symbol.asyncIterator]();
  await until(events, "tool-start");

  await ann.runs.resume({ id: "long", agent: "waiting" });
  const stopped = await ann.runs.stop({ id: "long" });

  expect(stopped).toMatchObject({ status: "stopped" });
  expect((await until(events, "result")).data).toMatchObject({ status: "stopped" });
});

test("runs.resume as a stream of a run that has ended ends with the reason", async () => {
  const { ann } = open();
  const { run: id } = await ann.runs.start({ agent: "helper", task: "Add" });

  const events = await collect(ann.stream("runs.resume", { id, agent: "helper" }));

  expect(events).toMatchObject([{ event: "result", data: { status: "failed", error: { code: "run-ended" } } }]);
});

test("chat.send decides no approval of another user, also not beside one of the caller's", async () => {
  const { ann, bob, handle } = open();
  const hers = await ann.runs.start({ agent: "careful", task: "Send it" });
  await bob.runs.start({ agent: "careful", task: "Send it" });
  const [his] = (await bob.approvals.list()).items;
  const waiting = (await ann.approvals.list()).items;
  const parts = [his?.approval, waiting[0]?.approval].map((id) => ({
    type: "dynamic-tool",
    toolCallId: "1",
    toolName: "send",
    state: "approval-responded",
    approval: { id, approved: true },
  }));

  const response = await handle(
    post("bob", "/chat", { agent: "careful", messages: [{ id: "1", role: "assistant", parts }] }),
  );

  expect(response.status).toBe(422);
  expect(waiting).toHaveLength(1);
  expect((await ann.approvals.list()).items).toEqual(waiting);
  expect(await ann.runs.get({ id: hers.run })).toMatchObject({ status: "idle" });
});

test("an approval is decided once", async () => {
  const { ann } = open();
  await ann.runs.start({ agent: "careful", task: "Send it" });
  const approval = (await ann.approvals.list()).items[0]?.approval ?? "";

  const both = await Promise.allSettled([
    ann.approvals.decide({ approval, decision: "approve" }),
    ann.approvals.decide({ approval, decision: "deny" }),
  ]);

  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test("an agent calls for a narrow token of a user no more than this token may", async () => {
  const { narrow } = open();

  const started = narrow.runs.start({ agent: "helper", task: "Add" });

  await expect(started).rejects.toMatchObject({ problem: { status: 403 } });
});

test.for(["user:ann:plans", "user:ann:%zz", "\u{d800}"])(
  "conversations cannot have the name %j, which belongs to the service",
  async (name) => {
    const { ann, local } = open();
    await ann.runs.start({ agent: "helper", task: "The secret task", conversation: "plans" });

    const started = local.runs.start({ agent: "helper", task: "x", conversation: name });

    await expect(started).rejects.toMatchObject({ problem: { status: 422 } });
    expect((await ann.conversations.list()).items).toMatchObject([{ name: "plans", runs: 1 }]);
  },
);

test.for(["plans", "%75ser:ann:plans", "../ann:plans", "%", "user:ann:plans"])(
  "the conversation %j of one user is not that of another",
  async (name) => {
    const { ann, bob } = open();
    await ann.runs.start({ agent: "helper", task: "The secret task", conversation: "plans" });
    await ann.runs.start({ agent: "helper", task: "The secret task", conversation: name });

    await bob.runs.start({ agent: "helper", task: "His task", conversation: name });

    const his = await bob.conversations.list();
    expect(his.items).toMatchObject([{ name, runs: 1 }]);
    expect(await ann.conversations.list()).not.toEqual(his);
  },
);

test("an idempotency key of one user recalls nothing of another", async () => {
  const { ann, bob } = open();

  await ann.tools.call({ address: "mine", input: {}, idempotencyKey: "key" });
  const his = await bob.tools.call({ address: "mine", input: {}, idempotencyKey: "key" });

  expect(his).toMatchObject({ output: "bob" });
});

test.for(["a/b", "../../x", "\u{1f392}", "\u{1f392}".repeat(50), "%2e%2e", "a b?c#d"])(
  "a run can have the id %j, and is found by it",
  async (id) => {
    const { ann, bob } = open();
    await ann.runs.start({ agent: "helper", task: "Add", id });

    expect(await ann.runs.get({ id })).toMatchObject({ id, status: "ok" });
    await expect(bob.runs.get({ id })).rejects.toMatchObject({ code: "run-not-found" });
  },
);

test("one user cannot have more than 200 runs at work, and leaves room for others", async () => {
  const { ann, bob } = open();
  const start = (client: Client) => client.runs.start({ agent: "waiting", task: "Wait", wait: false });

  const begun = await Promise.allSettled(Array.from({ length: 201 }, () => start(ann)));

  expect(begun.filter(({ status }) => status === "rejected")).toMatchObject([{ reason: { problem: { status: 429 } } }]);
  expect(await start(bob)).toMatchObject({ status: "running" });
});

type Name = "ann" | "bob" | "narrow" | "local";

interface Opened extends Readonly<Record<Name, Client>> {
  readonly handle: Handler;
  readonly store: ReturnType<typeof memoryStore>;
}

function open(): Opened {
  const store = memoryStore();
  const tools = [
    defineTool({ name: "mine", description: "Says who calls", run: (_input, { user }) => user ?? "local" }),
    defineTool({ name: "send", description: "Sends", needsApproval: true, run: () => "sent" }),
    defineTool({
      name: "wait",
      description: "Waits",
      run: (_input, { signal }) =>
        new Promise<string>((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("over")))),
    }),
  ];
  const workspace = createWorkspace({ tools, store });
  const agentOf = (...calls: string[]) =>
    createAgent({
      model: mockModel(({ prompt }) =>
        calls.length === 0 || prompt.at(-1)?.role === "tool"
          ? "Done"
          : { calls: calls.map((tool) => ({ tool, input: {} })) },
      ),
      workspace,
      store,
      scopesOf: (): Scopes => "all",
    });
  const agents = { helper: agentOf(), careful: agentOf("send"), waiting: agentOf("wait") };
  const callers: Readonly<Record<string, Caller>> = {
    ann: { id: "ann", scopes: "all" },
    bob: { id: "bob", scopes: "all" },
    narrow: { id: "ann", scopes: new Set(["runs", "tools:read"]) },
    local: { id: "local", scopes: "all" },
  };
  const handle = createHandler(
    { workspace, agents, store, scopesOf: () => "all" },
    { caller: (request) => callers[request.headers.get("authorization")?.slice("Bearer ".length) ?? ""] },
  );
  const clientOf = (token: Name): Client =>
    createClient({ url: "http://localhost/api", token, fetch: (url, init) => handle(new Request(url, init)) });
  onTestFinished(() => store.close());
  return {
    handle,
    store,
    ann: clientOf("ann"),
    bob: clientOf("bob"),
    narrow: clientOf("narrow"),
    local: clientOf("local"),
  };
}

function post(token: Name, path: string, body: unknown): Request {
  return new Request(`http://localhost/api${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function collect(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const all: StreamEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** Reads events up to the first of a kind. */
async function until(events: AsyncIterator<StreamEvent>, kind: string): Promise<StreamEvent> {
  for (;;) {
    const { value, done } = await events.next();
    if (done === true) throw new Error(`the stream ended before ${kind}`);
    if (value.event === kind) return value;
  }
}
