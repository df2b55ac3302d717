import { createInterface } from "node:readline";
import { PassThrough, Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";

import { inputRequired } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test, vi } from "vitest";

import { listen } from "../../../../test/support/mcp-clients.ts";
import { post2026, readAnswer } from "../../../../test/support/mcp-raw.ts";
import { defineTool } from "../../../core/define-tool.ts";
import { injected } from "../../../core/tool.ts";
import type { Tool } from "../../../core/tool.ts";
import { openGate } from "../../../gate/open-gate.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import { createMcpServer } from "../create-mcp-server.ts";
import type { McpServerLimits, McpServing } from "../mcp-server-options.ts";
import type { McpClientAccess } from "./ask-client.ts";

const ada = "ada-has-a-token-of-32-characters-";
const bob = "bob-has-a-token-of-32-characters-";
const reader = "ada-has-another-token-that-is-less";

test("a call that takes long becomes a task, which has the result that the call would have had", async () => {
  const { ask, end } = await start();

  const made = await ask("tools/call", { name: "slow" });
  const task = await ask("tasks/get", { taskId: made.taskId });
  end("done");
  const over = await ask("tasks/get", { taskId: made.taskId }, isOver);

  expect(made).toMatchObject({ resultType: "task", status: "working", ttlMs: 3_600_000, pollIntervalMs: 1000 });
  expect(task).toMatchObject({ resultType: "complete", status: "working" });
  expect(over).toMatchObject({ status: "completed", result: { content: [{ type: "text", text: "done" }] } });
});

test("a task tells of its progress", async () => {
  const { ask } = await start();

  const { taskId } = await ask("tools/call", { name: "slow" });

  expect(await ask("tasks/get", { taskId })).toMatchObject({ statusMessage: "half of it" });
});

test("a call that is over soon is no task, nor is one of a client that does not know tasks", async () => {
  const { ask, end } = await start();
  setTimeout(() => end("done"), 200);

  expect(await ask("tools/call", { name: "quick" })).toMatchObject({ resultType: "complete" });
  expect(await ask("tools/call", { name: "slow", plain: true })).toMatchObject({ content: [{ text: "done" }] });
  expect(await ask("tools/call", { name: "declared", plain: true })).toMatchObject({ code: -32_021 });
});

test("a task goes on when its client disconnects, and ends when it is cancelled, also twice", async () => {
  const { ask, cancelled } = await start();
  const { taskId } = await ask("tools/call", { name: "slow" });
  await wait(50);
  expect(cancelled()).toBe(0);

  expect(await ask("tasks/cancel", { taskId })).toEqual({ resultType: "complete", _meta: expect.anything() });
  expect(await ask("tasks/cancel", { taskId })).toEqual({ resultType: "complete", _meta: expect.anything() });

  await vi.waitFor(() => expect(cancelled()).toBe(1));
  expect(await ask("tasks/get", { taskId })).toMatchObject({ status: "cancelled" });
  expect(await ask("tasks/get", { taskId })).not.toHaveProperty("result");
});

test("the task of another user, session or set of scopes looks like one that never was", async () => {
  const { ask, cancelled } = await start();
  const { taskId } = await ask("tools/call", { name: "slow" });
  const unknown = await ask("tasks/get", { taskId: "guessed" });

  for (const who of [{ token: bob }, { session: "other" }, { token: reader }]) {
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      expect(await ask(method, { taskId, inputResponses: {}, ...who })).toEqual(unknown);
    }
  }

  expect(unknown).toMatchObject({ code: -32_602 });
  expect(cancelled()).toBe(0);
  expect(await ask("tasks/get", { taskId })).toMatchObject({ status: "working" });
});

test.for([undefined, 7, "", "x".repeat(10_000), { toString: 1 }, "__proto__", "../x"])(
  "an id that names no task is refused: %s",
  async (taskId) => {
    const { ask } = await start();

    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const headers = { "mcp-name": typeof taskId === "string" ? taskId : "x" };
      expect(await ask(method, { taskId, inputResponses: {}, headers })).toMatchObject({ code: expect.any(Number) });
    }
  },
);

test("a question of a task is answered by tasks/update, part by part; what was not asked is ignored", async () => {
  const { ask } = await start();
  const { taskId } = await ask("tools/call", { name: "declared" });
  const asked = await ask("tasks/get", { taskId }, ({ status }) => status === "input_required");
  const accept = { action: "accept", content: { ok: true } };

  await ask("tasks/update", { taskId, inputResponses: { other: accept, second: { action: "accept", content: 7 } } });
  expect(Object.keys((await ask("tasks/get", { taskId })).inputRequests ?? {})).toEqual(["first", "second"]);
  await ask("tasks/update", { taskId, inputResponses: { first: accept } });
  expect(Object.keys((await ask("tasks/get", { taskId })).inputRequests ?? {})).toEqual(["second"]);
  await ask("tasks/update", { taskId, inputResponses: { first: { action: "decline" }, second: accept } });
  const again = await ask("tasks/get", { taskId }, ({ inputRequests }) => inputRequests !== undefined);
  await ask("tasks/update", { taskId, inputResponses: { "first-2": accept } });
  const over = await ask("tasks/get", { taskId }, isOver);

  expect(Object.keys(asked.inputRequests ?? {})).toEqual(["first", "second"]);
  // A key never stands for two questions of one task.
  expect(Object.keys(again.inputRequests ?? {})).toEqual(["first-2"]);
  expect(JSON.stringify(over.result)).toContain("accept accept accept");
});

test("a call that has questions first becomes a task after the answers", async () => {
  const { ask } = await start();
  const call = { name: "first-asks", arguments: {} };
  const { requestState, resultType } = await ask("tools/call", call);

  const made = await ask("tools/call", { ...call, requestState, inputResponses: { name: { action: "decline" } } });

  expect([resultType, made.resultType]).toEqual(["input_required", "task"]);
  expect(made).not.toHaveProperty("requestState");
});

test("a user who has all their tasks gets results as before, and leaves room for others", async () => {
  const { ask, end } = await start({ maxTasksPerCaller: 3, maxTasks: 5 });
  const made = await Promise.all(Array.from({ length: 3 }, () => ask("tools/call", { name: "slow" })));
  const fourth = ask("tools/call", { name: "slow" });
  const other = await ask("tools/call", { name: "slow", token: bob });
  end("done");

  expect(made.map(({ resultType }) => resultType)).toEqual(["task", "task", "task"]);
  expect(other).toMatchObject({ resultType: "task" });
  expect(await fourth).toMatchObject({ resultType: "complete", content: [{ text: "done" }] });
});

test("a hundred calls leave no more tasks than there may be", { timeout: 60_000 }, async () => {
  const { ask } = await start({ taskAfterMs: 1, maxTasksPerCaller: 20, maxTasks: 50 });
  let tasks = 0;

  for (let round = 0; round < 2; round += 1) {
    const made = await Promise.all(Array.from({ length: 60 }, () => ask("tools/call", { name: "short" })));
    tasks += made.filter(({ resultType }) => resultType === "task").length;
    expect(made.every(({ content }) => content !== undefined)).toBe(true);
  }

  expect(tasks).toBe(20);
});

test("a task that has expired is unknown, and its call is cancelled", async () => {
  const { ask, cancelled } = await start({ taskMs: 300 });
  const { taskId } = await ask("tools/call", { name: "slow" });

  await vi.waitFor(() => expect(cancelled()).toBe(1), { timeout: 5000 });

  expect(await ask("tasks/get", { taskId })).toMatchObject({ code: -32_602 });
});

test("a task keeps the session of its user open while its call runs", async () => {
  const { ask, cancelled, end } = await start({ idleMs: 50 });
  const { taskId } = await ask("tools/call", { name: "slow", session: "one" });
  await wait(300);
  expect(cancelled()).toBe(0);

  end("done");

  expect(await ask("tasks/get", { taskId, session: "one" }, isOver)).toMatchObject({ status: "completed" });
});

test("a task ends when the token of its call is revoked, and says why to the user's other tokens", async () => {
  const server = createMcpServer({ workspace: createWorkspace({ tools: [endless] }), limits: { taskAfterMs: 20 } });
  const tokens = [ada, reader].map((token) => ({ id: "ada", token }));
  const gate = await openGate({ routes: [server.route()], tokens });
  onTestFinished(async () => {
    await gate.close({ graceMs: 0 });
    await server.close();
  });
  const ask = createAsk(`${gate.url}/mcp`);
  const { taskId } = await ask("tools/call", { name: "endless" });

  gate.setTokens(tokens.slice(1));
  const over = await ask("tasks/get", { taskId, token: reader }, isOver);

  expect(over).toMatchObject({ status: "completed", result: { isError: true } });
});

test("closing the server ends the calls of its tasks", async () => {
  const { ask, cancelled, server } = await start();
  await ask("tools/call", { name: "slow" });

  await server.close();

  await vi.waitFor(() => expect(cancelled()).toBe(1));
});

interface Answer {
  readonly [field: string]: unknown;
  readonly taskId?: string;
  readonly resultType?: string;
  readonly result?: object;
  readonly inputRequests?: object;
}

test("a client that listens to a task hears of it at once and of its end, and not of the tasks of others", async () => {
  const { ask, end, listenTo } = await start();
  const { taskId } = await ask("tools/call", { name: "slow" });
  const other = await ask("tools/call", { name: "slow", token: bob });

  const { next } = await listenTo({ taskIds: [taskId, other.taskId, "guessed", 7] });
  const acknowledged = await next();
  const first = await next();
  end("done");
  const last = await next();

  expect(acknowledged).toMatchObject({ params: { notifications: { taskIds: [taskId] } } });
  expect(JSON.stringify(acknowledged)).not.toContain("kitbag://");
  expect(first).toMatchObject({
    method: "notifications/tasks",
    params: { taskId, status: "working", statusMessage: "half of it" },
  });
  expect(last).toMatchObject({ params: { taskId, status: "completed", result: { content: [{ text: "done" }] } } });
  expect(last).toMatchObject({ params: { _meta: { "io.modelcontextprotocol/subscriptionId": 7 } } });
});

test("a client that disconnects while it listens to a task harms nothing", async () => {
  const { ask, end, listenTo } = await start();
  const { taskId } = await ask("tools/call", { name: "slow" });
  const { next, stop } = await listenTo({ taskIds: [taskId] });
  await next();

  stop();
  end("done");
  await wait(300);

  expect(await ask("tasks/get", { taskId })).toMatchObject({ status: "completed" });
});

test("a client that listens to tasks and does not declare the extension is refused", async () => {
  const { ask } = await start();

  const refused = await ask("subscriptions/listen", { notifications: { taskIds: ["x"] }, plain: true });

  expect(refused).toMatchObject({
    code: -32_021,
    data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
  });
});

test("a task on stdio tells a client that listens, and ends with the connection", async () => {
  const { cancelled, server } = await start();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const serving = await server.serveStdio({ input, output });
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "slow", _meta } };
  const lines = createInterface(output)[Symbol.asyncIterator]();
  const say = async (more: object): Promise<Message> => {
    input.write(`${JSON.stringify({ ...message, ...more })}\n`);
    return next();
  };
  const next = async (): Promise<Message> => JSON.parse(String((await lines.next()).value)) as Message;
  const made = (await say({}))["result"] as Answer;
  const notifications = { taskIds: [made.taskId] };
  const acknowledged = await say({ id: 2, method: "subscriptions/listen", params: { notifications, _meta } });

  expect(made).toMatchObject({ resultType: "task", status: "working" });
  expect(acknowledged).toMatchObject({ params: { notifications } });
  expect(await next()).toMatchObject({ method: "notifications/tasks", params: { taskId: made.taskId } });
  await serving.close();

  await vi.waitFor(() => expect(cancelled()).toBe(1));
});

type Message = Readonly<Record<string, unknown>>;
type Ask = (method: string, params: Record<string, unknown>, until?: (answer: Answer) => boolean) => Promise<Answer>;

interface Started {
  /** Answers with the result, or with the error. Asks again until `until` holds. */
  readonly ask: Ask;
  /** Ends all calls of `slow`. */
  end(text: string): void;
  /** Listens as Ada; `next` answers with the next message. */
  listenTo(notifications: object): Promise<{ readonly next: () => Promise<Message>; readonly stop: () => void }>;
  /** How many calls of `slow` were cancelled. */
  cancelled(): number;
  readonly server: McpServing;
}

async function start(limits: Partial<McpServerLimits> = {}): Promise<Started> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let cancelled = 0;
  const slow = defineTool({
    name: "slow",
    description: "Waits until the test ends it",
    async run(_input, { signal, progress }) {
      progress({ message: "half of it" });
      const stopped = new Promise<never>((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
      });
      return Promise.race([promise, stopped]).catch((cause: unknown) => {
        cancelled += 1;
        throw cause;
      });
    },
  });
  const workspace = createWorkspace({ tools: [slow, ...otherTools] });
  const tokens = [
    { id: "ada", token: ada },
    { id: "bob", token: bob },
    { id: "ada", token: reader, scopes: ["tools:read"] },
  ];
  const { url, server } = await listen({ workspace, limits: { taskAfterMs: 60, ...limits } }, { tokens });
  const ask = createAsk(url);
  return {
    ask,
    end: resolve,
    cancelled: () => cancelled,
    server,
    async listenTo(notifications) {
      const stop = new AbortController();
      const _meta = {
        "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
      };
      const options = { headers: { authorization: `Bearer ${ada}` }, signal: stop.signal };
      const { body } = await post2026(url, "subscriptions/listen", { notifications, _meta }, options);
      const frames = createInterface(Readable.fromWeb(body as never).on("error", () => {}));
      const lines = frames[Symbol.asyncIterator]();
      const next = async (): Promise<Message> => {
        const { value = "" } = (await lines.next()) as { value?: string };
        return value.startsWith("data: ") ? (JSON.parse(value.slice(6)) as Message) : next();
      };
      return { next, stop: () => stop.abort() };
    },
  };
}

function createAsk(url: string): Ask {
  const ask: Ask = async (method, { token = ada, session, plain, headers, ...params }, until = () => true) => {
    const extensions = plain === true ? {} : { extensions: { "io.modelcontextprotocol/tasks": {} } };
    const capabilities = { elicitation: {}, ...extensions };
    const { taskId } = params;
    const asked = await post2026(
      session === undefined ? url : `${url}?session=${String(session)}`,
      method,
      { ...params, _meta: { "io.modelcontextprotocol/clientCapabilities": capabilities } },
      {
        headers: {
          authorization: `Bearer ${String(token)}`,
          ...(typeof taskId === "string" && { "mcp-name": taskId }),
          ...(headers as Record<string, string>),
        },
      },
    );
    const answer = await readAnswer(asked);
    const found = (answer["result"] ?? answer["error"]) as Answer;
    if (until(found)) return found;
    await wait(10);
    return ask(method, { token, session, plain, headers, ...params }, until);
  };
  return ask;
}

const isOver = ({ status }: Answer): boolean => status !== "working";

const yes = inputRequired.elicit({
  message: "Yes?",
  requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } },
});

const endless = defineTool({
  name: "endless",
  description: "Ends only when it is cancelled",
  run: (_input, { signal }) => wait(60_000, "unreachable", { signal }),
});

const otherTools: readonly Tool[] = [
  defineTool({ name: "quick", description: "Is over at once", run: () => "quick" }),
  defineTool({ name: "short", description: "Takes a moment", run: async () => wait(20, "short") }),
  defineTool({
    name: "declared",
    description: "Says that it takes long, and asks",
    inject: { mcp: injected<McpClientAccess>() },
    async run(_input, { injected: { mcp } }) {
      mcp.continueAsTask();
      const { first, second } = await mcp.ask({ first: yes, second: yes });
      const { first: third } = await mcp.ask({ first: yes });
      return [first, second, third].map((answer) => answer?.["action"]).join(" ");
    },
  }),
  defineTool({
    name: "first-asks",
    description: "Asks before it takes long",
    inject: { mcp: injected<McpClientAccess>() },
    async run(_input, { injected: { mcp } }) {
      await mcp.ask({ name: yes });
      mcp.continueAsTask();
      return wait(20, "done");
    },
  }),
];
