import { expect, onTestFinished, test } from "vitest";

import { createAgent } from "../agent/create-agent.ts";
import { defineTool } from "../core/define-tool.ts";
import type { Store } from "../core/store.ts";
import { localCaller } from "../gate/access/token-check.ts";
import type { UserSessions } from "../gate/sessions/user-sessions.ts";
import { memoryStore } from "../store/memory-store.ts";
import { mockModel } from "../testing/models/mock-model.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import { createHandler } from "./create-handler.ts";

test("a client that cancels the body of a quiet stream leaves no session in use", async () => {
  const api = open();
  const id = await api.pause();
  const response = await api.ask("GET", `/runs/${id}/events`, { accept: "text/event-stream" });
  const reader = response.body?.getReader();
  for (let text = ""; !text.includes("run-paused");) text += new TextDecoder().decode((await reader?.read())?.value);
  expect(api.used()).toBe(1);

  await settle();
  await reader?.cancel();

  await expect.poll(api.used).toBe(0);
});

test("a client that cancels the body of a call's stream cancels the call", async () => {
  const api = open();
  const response = await api.ask("POST", "/tools/wait/call", { accept: "text/event-stream" }, {});
  const reader = response.body?.getReader();
  await reader?.read();
  await expect.poll(() => api.calls.begun).toBe(1);

  await settle();
  await reader?.cancel();

  await expect.poll(() => api.calls.cancelled).toBe(1);
  await expect.poll(api.used).toBe(0);
});

test("HEAD of a stream begins none", async () => {
  const api = open();
  const id = await api.pause();

  const response = await api.ask("HEAD", `/runs/${id}/events`, { accept: "text/event-stream" });

  expect([response.status, response.body]).toEqual([200, null]);
  expect(api.used()).toBe(0);
});

test("a stream whose store fails ends with a problem that tells no reason, and the service goes on", async () => {
  const api = open();
  const response = await api.ask("POST", "/agents/helper/runs", { accept: "text/event-stream" }, { task: "Wait" });
  const reader = response.body?.getReader();
  await reader?.read();

  api.fail(new Error("password=hunter2 in /home/kitbag/db.sqlite"));
  const text = await readAll(reader);

  expect(text).toContain("event: problem");
  expect(text).not.toMatch(/hunter2|\/home/u);
  expect(api.reported).toMatchObject([{ message: expect.stringContaining("hunter2") }]);
  await expect.poll(api.used).toBe(0);
});

test("a stream ends when its run is stopped", async () => {
  const api = open();
  const response = await api.ask(
    "POST",
    "/agents/waiting/runs",
    { accept: "text/event-stream" },
    { task: "x", id: "one" },
  );
  await expect.poll(() => api.calls.begun).toBe(1);

  await api.ask("POST", "/runs/one/stop", {}, {});

  expect(await response.text()).toMatch(/event: result\ndata: .*"stopped"/u);
});

test("Last-Event-ID that the log of the run does not have is refused", async () => {
  const api = open();
  const id = await api.pause();

  const answers = await Promise.all(
    ["100000", "-1", "9007199254740993", "x"].map((last) =>
      api.ask("GET", `/runs/${id}/events`, { accept: "text/event-stream", "last-event-id": last }),
    ),
  );

  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
});

test("a page of another site cannot make a call without a body", async () => {
  const api = open();

  const strange = await api.ask("POST", "/tools/wait/call", { origin: "https://evil.example" });
  const opaque = await api.ask("POST", "/tools/wait/call", { origin: "null", "content-type": "text/plain" });

  expect([strange.status, opaque.status]).toEqual([415, 415]);
  expect(api.calls.begun).toBe(0);
});

test("a parameter named __proto__ is refused as unknown", async () => {
  const api = open();

  const one = await api.ask("GET", "/search?query=x&__proto__=1");
  const many = await api.ask("GET", "/search?query=x&__proto__=1&__proto__=2");
  const body = await api.ask("POST", "/tools/wait/call", {}, JSON.parse('{"__proto__":{"input":1}}'));

  expect([one.status, many.status, body.status]).toEqual([422, 422, 422]);
});

test("the page and every answer say that browsers run nothing of them", async () => {
  const api = open();

  const page = await api.ask("GET", "/");
  const list = await api.ask("GET", "/tools");
  const missing = await api.ask("GET", "/<script>alert(1)</script>");
  const types = [page, list, missing].map(({ headers }) => headers.get("x-content-type-options"));

  expect(page.headers.get("content-security-policy")).toMatch(/default-src 'none'/u);
  expect(types).toEqual(["nosniff", "nosniff", "nosniff"]);
});

interface Opened {
  readonly calls: { begun: number; cancelled: number };
  readonly reported: unknown[];
  ask(method: string, path: string, headers?: Record<string, string>, body?: unknown): Promise<Response>;
  /** Makes a run that waits for approval; answers its id. */
  pause(): Promise<string>;
  /** From now on nothing can be read from the logs of runs. */
  fail(cause: Error): void;
  /** How many uses of sessions have not ended. */
  used(): number;
}

function open(): Opened {
  const kept = memoryStore();
  let failure: Error | undefined;
  let release = (): void => {};
  const store: Store = {
    ...kept,
    log: {
      ...kept.log,
      async *tail(stream, options) {
        for await (const entry of kept.log.tail(stream, options)) {
          if (failure !== undefined) throw failure;
          yield entry;
        }
      },
      async position(stream) {
        if (failure !== undefined) throw failure;
        return kept.log.position(stream);
      },
    },
  };
  const calls = { begun: 0, cancelled: 0 };
  const wait = defineTool({
    name: "wait",
    description: "Waits",
    run: (_input, { signal }) => {
      calls.begun += 1;
      return new Promise<string>((_resolve, reject) =>
        signal.addEventListener("abort", () => {
          calls.cancelled += 1;
          reject(new Error("over"));
        }),
      );
    },
  });
  const send = defineTool({ name: "send", description: "Sends", needsApproval: true, run: () => "sent" });
  const workspace = createWorkspace({ tools: [wait, send], store });
  const use = { tool: "send", input: {} };
  const agents = {
    helper: createAgent({
      model: mockModel(async () => {
        await new Promise<void>((resolve) => (release = resolve));
        return "Done";
      }),
      workspace,
      store,
    }),
    careful: createAgent({ model: mockModel([{ calls: [use] }]), workspace, store }),
    waiting: createAgent({ model: mockModel([{ calls: [{ ...use, tool: "wait" }] }]), workspace, store }),
  };
  const session = workspace.openSession();
  let uses = 0;
  const use1 = (): ReturnType<UserSessions["use"]> => {
    uses += 1;
    return {
      session,
      key: "only",
      isRemote: true,
      touch: () => {},
      hold() {
        uses += 1;
        return () => (uses -= 1);
      },
      end: () => (uses -= 1),
    };
  };
  const users: UserSessions = { use: use1, size: 1, closeAll: () => session.close() };
  const reported: unknown[] = [];
  const handle = createHandler(
    { workspace, agents, store, users },
    { caller: () => localCaller, onError: (error) => reported.push(error) },
  );
  const ask: Opened["ask"] = (method, path, headers = {}, body) =>
    handle(
      new Request(`http://localhost/api${path}`, {
        method,
        headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  onTestFinished(() => kept.close());
  return {
    calls,
    reported,
    ask,
    async pause() {
      const response = await ask("POST", "/agents/careful/runs", {}, { task: "Send it" });
      const { run } = (await response.json()) as { readonly run: string };
      return run;
    },
    fail(cause) {
      failure = cause;
      release();
    },
    used: () => uses,
  };
}

async function readAll(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const next = await reader?.read();
    if (next?.value === undefined) return text;
    text += decoder.decode(next.value, { stream: true });
  }
}

/** Lets the stream ask for an event that does not come. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}
