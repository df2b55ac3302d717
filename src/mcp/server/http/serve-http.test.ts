import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, onTestFinished, test, vi } from "vitest";

import { connectHttp, listen, textOf } from "../../../../test/support/mcp-clients.ts";
import { beginSession, initialize, post, post2026, readAnswer } from "../../../../test/support/mcp-raw.ts";
import { defineTool } from "../../../core/define-tool.ts";
import { openGate } from "../../../gate/open-gate.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import type { Workspace } from "../../../workspace/workspace.ts";
import { createMcpServer } from "../create-mcp-server.ts";
import type { McpServerEvent } from "../mcp-server-options.ts";

const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
const tokens = [
  { id: "one", token: "token-of-one-1234567890" },
  { id: "two", token: "token-of-two-1234567890" },
];

test("route() answers 404 to a session that was never there, and to one that was deleted", async () => {
  const { url, server } = await listen({ workspace: createWorkspace() });
  const session = await beginSession(url);

  const other = session.endsWith("_") ? "-" : "_";
  const forged = await post(url, ping, { "mcp-session-id": `${session.slice(0, -1)}${other}` });
  const deleted = await fetch(url, { method: "DELETE", headers: { "mcp-session-id": session } });
  const after = await post(url, ping, { "mcp-session-id": session });

  expect([forged.status, deleted.status, after.status]).toEqual([404, 200, 404]);
  expect(await readAnswer(after)).toMatchObject({ error: { code: -32_001 } });
  expect(server.sessions).toBe(0);
});

test("route() answers 404 to whoever uses the session of somebody else", async () => {
  const { url } = await listen({ workspace: createWorkspace() }, { tokens });
  const [one, two] = tokens.map(({ token }) => ({ authorization: `Bearer ${token}` }));
  const session = await beginSession(url, one);

  const other = await post(url, ping, { ...two, "mcp-session-id": session });
  const stream = await fetch(url, { headers: { ...two, accept: "text/event-stream", "mcp-session-id": session } });
  const deleting = await fetch(url, { method: "DELETE", headers: { ...two, "mcp-session-id": session } });
  const own = await post(url, ping, { ...one, "mcp-session-id": session });

  expect([other.status, stream.status, deleting.status, own.status]).toEqual([404, 404, 404, 200]);
});

test("route() closes sessions that nobody uses, but none that listens", async () => {
  const { url, server } = await listen({ workspace: createWorkspace(), limits: { idleMs: 1000 } });
  const listening = await beginSession(url);
  const stream = await fetch(url, { headers: { accept: "text/event-stream", "mcp-session-id": listening } });
  const unused = await beginSession(url);

  await vi.waitFor(() => expect(server.sessions).toBe(1), { timeout: 20_000 });

  await sleep(1500);
  expect((await post(url, ping, { "mcp-session-id": unused })).status).toBe(404);
  expect((await post(url, ping, { "mcp-session-id": listening })).status).toBe(200);
  await stream.body?.cancel();
});

test("route() closes the oldest unused session of a caller that has too many, and says so", async () => {
  const events: McpServerEvent[] = [];
  const limits = { maxSessionsPerCaller: 2 };
  const workspace = createWorkspace();
  const { url, server } = await listen({ workspace, limits, report: (event) => events.push(event) }, { tokens });
  const { one } = headersOf();
  const first = await beginSession(url, one);
  await sleep(5);
  const second = await beginSession(url, one);
  await beginSession(url, one);

  const statuses = [first, second].map(async (id) => (await post(url, ping, { ...one, "mcp-session-id": id })).status);

  expect(await Promise.all(statuses)).toEqual([404, 200]);
  expect(server.sessions).toBe(2);
  expect(events).toEqual([{ type: "session-dropped", caller: "one", held: 2, open: 2 }]);
});

test("route() takes room for a session from the caller that holds the most, from unused ones first", async () => {
  const events: McpServerEvent[] = [];
  const limits = { maxSessions: 4 };
  const workspace = createWorkspace();
  const { url, server } = await listen({ workspace, limits, report: (event) => events.push(event) }, { tokens });
  const { one, two } = headersOf();
  const others = await beginSession(url, two);
  const listening = await beginSession(url, one);
  const stream = await fetch(url, { headers: { ...one, accept: "text/event-stream", "mcp-session-id": listening } });
  await beginSession(url, one);
  await beginSession(url, one);

  for (let index = 0; index < 3; index += 1) await beginSession(url, two);

  expect(events.map(({ caller }) => caller)).toEqual(["one", "two", "two"]);
  expect((await post(url, ping, { ...one, "mcp-session-id": listening })).status).toBe(200);
  expect((await post(url, ping, { ...two, "mcp-session-id": others })).status).toBe(404);
  expect(server.sessions).toBe(4);
  await stream.body?.cancel();
});

test("route() lets a caller in whatever sessions others left open, also those that only listen", async () => {
  const limits = { maxSessions: 3 };
  const { url } = await listen({ workspace: createWorkspace(), limits }, { tokens });
  const { one, two } = headersOf();
  for (let index = 0; index < 3; index += 1) {
    const id = await beginSession(url, one);
    await fetch(url, { headers: { ...one, accept: "text/event-stream", "mcp-session-id": id } });
  }

  const begun = await post(url, initialize(), two);

  expect(begun.status).toBe(200);
});

test("route() opens no session when all are in use", async () => {
  const events: McpServerEvent[] = [];
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const wait = defineTool({ name: "wait", description: "Waits", run: () => finished });
  const workspace = createWorkspace({ tools: [wait] });
  const options = { workspace, limits: { maxSessions: 1 }, report: (event: McpServerEvent) => events.push(event) };
  const { url } = await listen(options, { tokens });
  const { one, two } = headersOf();
  const session = await beginSession(url, one);
  const call = { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "wait", arguments: {} } };
  const answer = await post(url, call, { ...one, "mcp-session-id": session });

  const refused = await post(url, initialize(), two);
  finish();
  await answer.text();

  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "30"]);
  expect(events).toEqual([{ type: "session-refused", caller: "two", open: 1 }]);
});

const scoped = [
  { id: "zoe", token: "token-of-zoe-wide-1234567890" },
  { id: "zoe", token: "token-of-zoe-narrow-1234567890", scopes: ["tools:read"] },
];

test.for(["call_tool", "call_tools"])("route() judges %s in a session with the scopes of the request", async (name) => {
  const { url } = await listen({ workspace: createScoped() }, { tokens: scoped });
  const [wide, narrow] = scoped.map(({ token }) => ({ authorization: `Bearer ${token}` }));
  const session = await beginSession(url, wide);
  const input = { name: "write", input: {} };
  const params = { name, arguments: name === "call_tool" ? input : { calls: [input] } };
  const ask = async (headers: Record<string, string> | undefined): Promise<string> => {
    const call = { jsonrpc: "2.0", id: 3, method: "tools/call", params };
    return JSON.stringify(await readAnswer(await post(url, call, { ...headers, "mcp-session-id": session })));
  };

  const answers = [await ask(wide), await ask(narrow), await ask(wide)];

  expect(answers.map((answer) => answer.includes("written"))).toEqual([true, false, true]);
});

test("route() gives a request with more scopes than the session was opened with what they allow", async () => {
  const { url } = await listen({ workspace: createScoped() }, { tokens: scoped });
  const [wide, narrow] = scoped.map(({ token }) => ({ authorization: `Bearer ${token}` }));
  const session = await beginSession(url, narrow);
  const namesFor = async (headers: Record<string, string> | undefined): Promise<unknown> => {
    const list = { jsonrpc: "2.0", id: 3, method: "tools/list" };
    const version = { "mcp-protocol-version": "2025-11-25" };
    const answer = await readAnswer(await post(url, list, { ...headers, ...version, "mcp-session-id": session }));
    return (answer["result"] as { tools: { name: string }[] }).tools.map((tool) => tool.name).includes("write");
  };

  expect([await namesFor(narrow), await namesFor(wide), await namesFor(narrow)]).toEqual([false, true, false]);
});

test("route() closes the sessions of a token that is gone, and ends what runs in them", async () => {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<string>();
  const wait = defineTool({
    name: "wait",
    description: "Waits",
    run: (_input, { signal }) => new Promise(() => signal.addEventListener("abort", () => stop("stopped"))),
  });
  const server = createMcpServer({ workspace: createWorkspace({ tools: [wait] }) });
  const gate = await openGate({ routes: [server.route()], tokens });
  onTestFinished(async () => {
    await gate.close({ graceMs: 0 });
    await server.close();
  });
  const url = `${gate.url}/mcp`;
  const { one, two } = headersOf();
  const ids = [await beginSession(url, one), await beginSession(url, two)];
  const call = { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "wait", arguments: {} } };
  const answer = await post(url, call, { ...one, "mcp-session-id": ids[0] ?? "" });

  gate.setTokens(tokens.slice(1));

  expect(await stopped).toBe("stopped");
  await expect(answer.text()).rejects.toThrow();
  expect(server.sessions).toBe(1);
  expect((await post(url, ping, { ...two, "mcp-session-id": ids[1] ?? "" })).status).toBe(200);
});

test.for<[what: string, headers: Record<string, string>, capabilities: object]>([
  ["without the SDK", { "mcp-protocol-version": "2025-11-25" }, {}],
  ["by the SDK", {}, {}],
  ["for a client that can be asked", {}, { elicitation: {} }],
])("route() ends a call %s whose token is gone, in a session of another token of its user", async (given) => {
  const [, headers, capabilities] = given;
  const { promise: stopped, resolve: stop } = Promise.withResolvers<string>();
  const begun = vi.fn<() => void>();
  const wait = defineTool({
    name: "wait",
    description: "Waits",
    run(_input, { signal }) {
      begun();
      return new Promise(() => signal.addEventListener("abort", () => stop("stopped")));
    },
  });
  const server = createMcpServer({ workspace: createWorkspace({ tools: [wait] }) });
  const both = tokens.map(({ token }) => ({ token, id: "dan" }));
  const gate = await openGate({ routes: [server.route()], tokens: both });
  onTestFinished(async () => {
    await gate.close({ graceMs: 0 });
    await server.close();
  });
  const url = `${gate.url}/mcp`;
  const { one, two } = headersOf();
  const opened = await post(url, initialize(capabilities), two);
  await opened.text();
  const session = { ...headers, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, { ...two, ...session });
  const call = { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "wait", arguments: {} } };
  const answer = post(url, call, { ...one, ...session }).then((response) => response.text());
  answer.catch(() => {});
  await vi.waitFor(() => expect(begun).toHaveBeenCalledOnce(), { timeout: 20_000 });

  gate.setTokens(both.slice(1));

  expect(await Promise.race([stopped, sleep(5000, "it runs on")])).toBe("stopped");
  await expect(answer).rejects.toThrow();
  expect((await post(url, ping, { ...two, ...session })).status).toBe(200);
});

test("route() closes no session because the clock jumps", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const { url, server } = await listen({ workspace: createWorkspace() });
  const session = await beginSession(url);

  vi.setSystemTime(Date.now() + 2 * 60 * 60 * 1000);
  vi.advanceTimersByTime(20_000);
  const later = await post(url, ping, { "mcp-session-id": session });

  expect([later.status, server.sessions]).toEqual([200, 1]);
});

test("route() says what is wrong with a message of 2025", async () => {
  const { url } = await listen({ workspace: createWorkspace() });
  const session = await beginSession(url);
  const inSession = { "mcp-session-id": session };
  const answers = await Promise.all([
    post(url, "{"),
    post(url, "{", inSession),
    post(url, "", inSession),
    post(url, "null", inSession),
    post(url, '{"jsonrpc":"1.0","id":1,"method":"ping"}', inSession),
    post(url, "[]", inSession),
    post(url, ping),
    post(url, ping, { ...inSession, "content-type": "text/plain" }),
    post(url, ping, { ...inSession, accept: "text/html" }),
    post(url, ping, { ...inSession, "mcp-protocol-version": "1999-01-01" }),
    fetch(url, { headers: inSession }),
    fetch(url, { method: "PUT", headers: inSession }),
    fetch(url),
  ]);

  expect(answers.map(({ status }) => status)).toEqual([
    400, 400, 400, 400, 400, 400, 400, 415, 406, 400, 406, 405, 400,
  ]);
  for (const answer of answers) expect(await readAnswer(answer)).toMatchObject({ jsonrpc: "2.0", error: {} });
});

test.for(["TRACE", "PUT", "OPTIONS", "PROPFIND"])("route() refuses the method %s", async (method) => {
  const { url } = await listen({ workspace: createWorkspace() });
  const asked = request(url, { method }).end();

  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();

  expect([answer.statusCode, answer.headers.allow]).toEqual([405, "GET, POST, DELETE"]);
});

test("route() says what is wrong with a message of 2026", async () => {
  const { url } = await listen({ workspace: createWorkspace() });

  const unknown = await post2026(url, "no/such/method");
  const version = await post2026(url, "tools/list", {
    _meta: { "io.modelcontextprotocol/protocolVersion": "2099-01-01" },
  });
  const header = await post2026(url, "tools/list", {}, { headers: { "mcp-method": "tools/call" } });
  const nameless = await post2026(url, "tools/call");
  const wrongName = await post2026(url, "tools/call", { name: "search_tools" }, { headers: { "mcp-name": "other" } });

  expect([unknown, version, header, nameless, wrongName].map(({ status }) => status)).toEqual([
    404, 400, 400, 200, 400,
  ]);
  expect(await readAnswer(nameless)).toMatchObject({ error: { code: -32_602 } });
  expect(await readAnswer(unknown)).toMatchObject({ id: 7, error: { code: -32_601 } });
  expect(await readAnswer(version)).toMatchObject({ error: { code: expect.any(Number) as number } });
  expect(await readAnswer(header)).toMatchObject({ error: { code: -32_020 } });
});

test("route() survives values that are deep, large, or named like prototypes", async () => {
  const echo = defineTool({
    name: "echo",
    description: "Answers with its keys",
    input: { type: "object", additionalProperties: true },
    run: (input) => Object.keys(input),
  });
  const { url } = await listen({ workspace: createWorkspace({ tools: [echo] }) });
  const session = await beginSession(url);
  const call = (input: string): Promise<Response> =>
    post(url, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":${input}}}`, {
      "mcp-session-id": session,
    });

  const deep = await call(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`);
  const named = await call('{"__proto__":{"polluted":true},"constructor":1}');
  const wide = await call(`{"list":[${"{},".repeat(200_000)}1]}`);
  const huge = await call(`{"text":"${"x".repeat(5 * 1024 * 1024)}"}`);

  expect(deep.status).toBeLessThan(600);
  await deep.body?.cancel();
  expect(named.status).toBe(200);
  await named.body?.cancel();
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect(wide.status).toBe(200);
  await wide.body?.cancel();
  expect(huge.status).toBe(413);
  expect(await readAnswer(await call('{"fine":1}'))).toMatchObject({ result: { content: [{ text: '["fine"]' }] } });
});

test("route() cancels the call of a client of 2026 that goes away", async () => {
  const ended = Promise.withResolvers<string>();
  const began = Promise.withResolvers<void>();
  const wait = defineTool({
    name: "wait",
    description: "Waits",
    run: (_input, { signal }) =>
      new Promise<null>((resolve) => {
        began.resolve();
        signal.addEventListener("abort", () => {
          ended.resolve("cancelled");
          resolve(null);
        });
      }),
  });
  const { url } = await listen({ workspace: createWorkspace({ tools: [wait] }) });
  const gone = new AbortController();
  const asking = post2026(url, "tools/call", { name: "wait", arguments: {} }, { signal: gone.signal });
  asking.catch(() => {});

  await began.promise;
  gone.abort();

  expect(await ended.promise).toBe("cancelled");
});

test("route() lets a client of 2025 whose connection broke have the answer that it missed", async () => {
  const go = Promise.withResolvers<string>();
  const wait = defineTool({ name: "wait", description: "Waits", run: () => go.promise });
  const { url } = await listen({ workspace: createWorkspace({ tools: [wait] }) });
  const session = await beginSession(url);
  const headers = { accept: "text/event-stream", "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
  const params = { name: "wait", arguments: {}, _meta: { progressToken: 1 } };
  const call = { jsonrpc: "2.0", id: 5, method: "tools/call", params };
  const broken = await post(url, call, { ...headers, accept: "application/json, text/event-stream" });
  const reader = broken.body?.pipeThrough(new TextDecoderStream()).getReader();
  const [, last = ""] = /^id: (.+)$/mu.exec((await reader?.read())?.value ?? "") ?? [];
  await reader?.cancel();
  go.resolve("finished");
  await sleep(50);

  const again = await fetch(url, { headers: { ...headers, "last-event-id": last } });
  const unknown = await fetch(url, { headers: { ...headers, "last-event-id": "999_x" } });

  const next = again.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await next?.read())?.value).toContain("finished");
  expect(unknown.status).toBe(400);
  await next?.cancel();
});

test("route() ends streams when the gate closes, and lets calls finish", async () => {
  const go = Promise.withResolvers<string>();
  const began = vi.fn<() => void>();
  const wait = defineTool({
    name: "wait",
    description: "Waits",
    run() {
      began();
      return go.promise;
    },
  });
  const server = createMcpServer({ workspace: createWorkspace({ tools: [wait] }) });
  const gate = await openGate({ routes: [server.route()] });
  const url = `${gate.url}/mcp`;
  const session = await beginSession(url);
  const old = await fetch(url, { headers: { accept: "text/event-stream", "mcp-session-id": session } });
  const current = await post2026(url, "subscriptions/listen", { notifications: { toolsListChanged: true } });
  const params = { name: "wait", arguments: {} };
  const calls = [
    post(url, { jsonrpc: "2.0", id: 9, method: "tools/call", params }, { "mcp-session-id": session }),
    post2026(url, "tools/call", params),
    post2026(url, "tools/call", { ...params, _meta: { progressToken: 1 } }),
  ].map(async (asked) => readAnswer(await asked));
  await vi.waitFor(() => expect(began).toHaveBeenCalledTimes(3), { timeout: 20_000 });

  const closing = gate.close({ graceMs: 20_000 });
  await sleep(50);
  go.resolve("finished");

  expect((await Promise.all(calls)).map((answer) => JSON.stringify(answer).includes("finished"))).toEqual([
    true,
    true,
    true,
  ]);
  await Promise.all([old.text(), current.text(), closing]);
  await server.close();
  expect(server.sessions).toBe(0);
});

test("route() answers calls that are not done when the time of grace is over", async () => {
  const began = vi.fn<() => void>();
  const wait = defineTool({
    name: "wait",
    description: "Never ends",
    run: () => {
      began();
      return new Promise(() => {});
    },
  });
  const server = createMcpServer({ workspace: createWorkspace({ tools: [wait] }) });
  const gate = await openGate({ routes: [server.route()] });
  const url = `${gate.url}/mcp`;
  const session = await beginSession(url);
  const params = { name: "wait", arguments: {} };
  const calls = [
    post(url, { jsonrpc: "2.0", id: 9, method: "tools/call", params }, { "mcp-session-id": session }),
    post2026(url, "tools/call", params),
    post2026(url, "tools/call", { ...params, _meta: { progressToken: 1 } }),
  ].map(async (asked) => readAnswer(await asked));
  await vi.waitFor(() => expect(began).toHaveBeenCalledTimes(3), { timeout: 20_000 });

  await gate.close({ graceMs: 100 });

  for (const answer of await Promise.all(calls)) {
    expect(JSON.stringify(answer)).toContain("The server is closing, and the call was not done in time");
  }
  await server.close();
});

test("route() hides tools that the token does not allow, and says which scopes would", async () => {
  const tools = [
    defineTool({ name: "look", description: "Looks", annotations: { readOnly: true }, run: () => "seen" }),
    defineTool({ name: "wipe", description: "Wipes", annotations: { destructive: true }, run: () => "wiped" }),
  ];
  const workspace = createWorkspace({ tools });
  const token = "token-that-only-reads-123";
  const { url } = await listen({ workspace }, { tokens: [{ token, scopes: ["tools:read"] }] });
  const client = await connectHttp(url, { kind: "pinned", token });

  const { tools: listed } = await client.listTools();
  const refused = await post2026(
    url,
    "tools/call",
    { name: "wipe", arguments: {} },
    { headers: { authorization: `Bearer ${token}` } },
  );
  const through = await client.callTool({ name: "call_tool", arguments: { name: "wipe" } });
  const versioned = await client.callTool({ name: "call_tools", arguments: { calls: [{ name: "wipe" }] } });

  expect(listed.map(({ name }) => name)).toContain("look");
  expect(listed.map(({ name }) => name)).not.toContain("wipe");
  expect(refused.status).toBe(403);
  expect(refused.headers.get("www-authenticate")).toContain("tools:of:global:wipe");
  expect(through.isError).toBe(true);
  expect(textOf(versioned)).toContain('"failed":1');
  expect(textOf(await client.callTool({ name: "look", arguments: {} }))).toBe("seen");
});

function headersOf(): { readonly one: Record<string, string>; readonly two: Record<string, string> } {
  const [one = {}, two = {}] = tokens.map(({ token }) => ({ authorization: `Bearer ${token}` }));
  return { one, two };
}

function createScoped(): Workspace {
  const read = { name: "read", description: "Reads", annotations: { readOnly: true }, run: () => "was read" };
  const write = { name: "write", description: "Writes", run: () => "written" };
  return createWorkspace({ tools: [defineTool(read), defineTool(write)] });
}
