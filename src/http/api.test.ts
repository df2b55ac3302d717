import { expect, expectTypeOf, onTestFinished, test } from "vitest";

import { createAgent } from "../agent/create-agent.ts";
import { defineSkill } from "../core/define-skill.ts";
import { defineTool } from "../core/define-tool.ts";
import type { Scopes } from "../core/scopes.ts";
import { openGate } from "../gate/open-gate.ts";
import { memoryStore } from "../store/memory-store.ts";
import { mockModel } from "../testing/models/mock-model.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import { createClient, ProblemError, type Client, type StreamEvent } from "./api-client.ts";
import { createApiRoute } from "./gate-route.ts";
import type { HttpParts } from "./http-options.ts";

test("tools.call answers with the outcome of the call", async () => {
  const { client } = await serve();

  const outcome = await client.tools.call({ address: "add", input: { a: 2, b: 40 } });

  expect(outcome).toMatchObject({ status: "ok", output: 42 });
  expectTypeOf(outcome.status).toEqualTypeOf<"ok">();
});

test("tools.call answers with a problem that names the error when the call fails", async () => {
  const { client } = await serve();

  const wrong = client.tools.call({ address: "add", input: { a: "x" } });
  const missing = client.tools.call({ address: "ad", input: {} });

  await expect(wrong).rejects.toMatchObject({ problem: { status: 422, code: "input-invalid" } });
  await expect(missing).rejects.toMatchObject({ problem: { status: 404, code: "tool-not-found" } });
  await expect(missing).rejects.toBeInstanceOf(ProblemError);
});

test("tools.call as a stream gives the events of the call, and its outcome last", async () => {
  const { client } = await serve();

  const events = await collect(client.stream("tools.call", { address: "add", input: { a: 1, b: 2 } }));

  expect(events.map(({ event }) => event)).toEqual(["call", "call-start", "call-progress", "call-end", "outcome"]);
  expect(events.at(-1)?.data).toMatchObject({ output: 3 });
});

test("calls.cancel ends a call of the same caller, and of no other", async () => {
  const { client, other } = await serve();
  const events: StreamEvent[] = [];

  for await (const event of client.stream("tools.call", { address: "wait", input: {} })) {
    events.push(event);
    if (event.event !== "call-start") continue;
    const { id } = (events[0] as StreamEvent).data as { readonly id: string };
    expect(await other.calls.cancel({ id })).toEqual({ cancelled: false });
    expect(await client.calls.cancel({ id })).toEqual({ cancelled: true });
  }

  expect(events.at(-1)).toMatchObject({ event: "problem", data: { code: "call-cancelled" } });
});

test("outputs.keep keeps a file for the caller alone, and outputs.read gives it back", async () => {
  const { client, other, url } = await serve();

  const text = await client.outputs.keep({ text: "a,b\n1,2\n" });
  const binary = await client.outputs.keep({ base64: Buffer.from([0, 255, 7]).toString("base64") });

  expect(text).toEqual({ handle: expect.stringMatching(/^output:sha256:/u), bytes: 8 });
  const headers = { authorization: `Bearer ${tokens.ann}` };
  const read = await fetch(`${url}/outputs/${encodeURIComponent(binary.handle)}`, { headers });
  expect([...(await read.bytes())]).toEqual([0, 255, 7]);
  await expect(other.outputs.read({ handle: text.handle })).rejects.toMatchObject({ code: "output-missing" });
});

test.for([{}, { text: "a", base64: "YQ==" }, { base64: "no base64!" }])(
  "outputs.keep refuses what is no file: %j",
  async (given) => {
    const { client } = await serve();

    await expect(client.outputs.keep(given)).rejects.toMatchObject({ problem: { status: 422 } });
  },
);

test("skills.open makes the tools of a skill callable in the session of this name alone", async () => {
  const { client, url } = await serve();
  const elsewhere = createClient({ url, token: tokens.ann, session: "elsewhere" });

  const before = client.tools.call({ address: "pdf/pages" });
  await expect(before).rejects.toMatchObject({ code: "tool-unavailable" });
  await client.skills.open({ name: "pdf" });

  expect(await client.tools.call({ address: "pdf/pages" })).toMatchObject({ output: 3 });
  expect((await client.skills.list()).items).toMatchObject([{ name: "pdf", open: true, tools: ["pdf/pages"] }]);
  expect((await elsewhere.skills.list()).items).toMatchObject([{ name: "pdf", open: false }]);
  expect(await client.skills.close({ name: "pdf" })).toEqual({ open: [] });
});

test("the API shows and calls only what the token allows", async () => {
  const { reader } = await serve();

  const { items } = await reader.tools.list();

  expect(items.map(({ address }) => address)).toEqual(["add"]);
  await expect(reader.tools.call({ address: "wait" })).rejects.toMatchObject({ code: "scope-missing" });
  await expect(reader.runs.list()).rejects.toMatchObject({ problem: { status: 403 } });
});

test("runs.start answers with how the run ended, and runs.get reads its log", async () => {
  const { client } = await serve();

  const result = await client.runs.start({ agent: "helper", task: "Add 19 and 23" });
  const log = await client.runs.get({ id: result.run });

  expect(result).toMatchObject({ status: "ok", text: "It is 42" });
  expect(log.items.map((item) => (item as { readonly type: string }).type)).toEqual([
    "task-start",
    "model-answer",
    "tool-start",
    "tool-end",
    "model-answer",
    "run-end",
  ]);
  expect(log.items[2]).toMatchObject({ tool: "add", input: { a: 19, b: 23 } });
});

test("runs.events gives a client that comes back every line that it has not, and no line twice", async () => {
  const { client } = await serve();
  const { run: id } = await client.runs.start({ agent: "helper", task: "Add 19 and 23" });

  const all = await collect(client.stream("runs.events", { id }));
  const rest = await collect(client.stream("runs.events", { id, after: all[2]?.id ?? 0 }));

  expect(rest).toEqual(all.slice(3));
  expect(all.map(({ id: position }) => position)).toEqual(all.map(({ id: position }) => position).toSorted(byNumber));
});

test("runs.start as a stream tells pieces of the text between the lines of the log, and the result last", async () => {
  const { client } = await serve();

  const events = await collect(client.stream("runs.start", { agent: "helper", task: "Add 19 and 23" }));

  expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(["text-delta", "tool-end", "run-end"]));
  expect(events.at(-1)).toMatchObject({ event: "result", data: { text: "It is 42" } });
});

test("runs.start as a stream ends with the reason when a run fails before its first line", async () => {
  const { client } = await serve();

  const events = await collect(client.stream("runs.start", { agent: "broken", task: "Add" }));

  expect(events.map(({ event }) => event)).toEqual(["result"]);
  expect(events[0]).toMatchObject({ data: { status: "failed", error: { code: "user-unknown" } } });
});

test("runs of one user are not there for another", async () => {
  const { client, other } = await serve();
  const { run: id } = await client.runs.start({ agent: "helper", task: "Add", conversation: "sums" });

  expect((await other.runs.list()).items).toEqual([]);
  expect((await other.conversations.list()).items).toEqual([]);
  expect((await client.conversations.list()).items).toMatchObject([{ name: "sums" }]);
  await expect(other.runs.get({ id })).rejects.toMatchObject({ code: "run-not-found" });
  await expect(collect(other.stream("runs.events", { id }))).rejects.toMatchObject({ code: "run-not-found" });
});

test("approvals.decide lets a run that waits go on when it is resumed", async () => {
  const { client, other } = await serve();
  const paused = await client.runs.start({ agent: "careful", task: "Send it" });

  const [waiting] = (await client.approvals.list()).items;
  const approval = waiting?.approval ?? "";
  const stranger = other.approvals.decide({ approval, decision: "approve" });
  await expect(stranger).rejects.toMatchObject({ code: "run-not-found" });
  await client.approvals.decide({ approval, decision: "approve" });
  const result = await client.runs.resume({ id: paused.run, agent: "careful" });

  expect(paused).toMatchObject({ status: "paused", approvals: [approval] });
  expect(waiting).toMatchObject({ tool: "send", input: { to: "ann" } });
  expect(result).toMatchObject({ status: "ok", text: "Sent" });
});

test.for<
  [string, string, Pick<RequestInit, "method" | "body"> & { readonly headers?: Record<string, string> }, number, string]
>([
  ["an unknown path", "/tolls", {}, 404, "/tools"],
  ["a wrong method", "/tools", { method: "DELETE" }, 405, "GET"],
  ["a body that is no JSON", "/tools/add/call", { method: "POST", body: "{" }, 400, "not JSON"],
  [
    "a body of another type",
    "/tools/add/call",
    { method: "POST", body: "{}", headers: { "content-type": "text/plain" } },
    415,
    "application/json",
  ],
  ["a body that is a list", "/tools/add/call", { method: "POST", body: "[]" }, 422, "object"],
  [
    "a body with 100 levels",
    "/tools/add/call",
    { method: "POST", body: `{"input":${"[".repeat(100)}${"]".repeat(100)}}` },
    422,
    "levels",
  ],
  ["an unknown property", "/tools/add/call", { method: "POST", body: '{"inputs":{}}' }, 422, "inputs"],
  [
    "a body of 5 MB",
    "/tools/add/call",
    { method: "POST", body: JSON.stringify({ input: "x".repeat(5_000_000) }) },
    413,
    "larger",
  ],
  ["a wrong query", "/runs?limit=many", {}, 422, "limit"],
  ["a name of a session that is none", "/tools?session=a/b", {}, 400, "session"],
  ["a path that is encoded wrong", "/tools/%zz", {}, 404, "nothing"],
])("the API refuses %s, and says what to do", async ([, path, init, status, part]) => {
  const { url } = await serve();

  const response = await fetch(`${url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${tokens.ann}`, "content-type": "application/json", ...init.headers },
  });

  expect([response.status, response.headers.get("content-type")]).toEqual([status, "application/problem+json"]);
  expect(await response.json()).toMatchObject({ status, detail: expect.stringContaining(part) });
});

test("the API lets in no one without a good token", async () => {
  const { url } = await serve();

  const without = await fetch(`${url}/tools`);
  const wrong = await fetch(`${url}/tools`, { headers: { authorization: "Bearer wrong-wrong-wrong-wrong" } });

  expect([without.status, wrong.status]).toEqual([401, 401]);
});

test("GET /openapi.json and the page at / describe every operation", async () => {
  const { url } = await serve();
  const headers = { authorization: `Bearer ${tokens.ann}` };

  const document = (await (await fetch(`${url}/openapi.json`, { headers })).json()) as { readonly paths: object };
  const page = await (await fetch(`${url}/`, { headers })).text();

  expect(document).toMatchObject({ openapi: "3.1.0", servers: [{ url: "/api" }] });
  expect(Object.keys(document.paths)).toContain("/tools/{address}/call");
  expect(page).toContain('id="runs.events"');
});

const tokens = {
  ann: "token-of-ann-1234567890",
  bob: "token-of-bob-1234567890",
  reader: "token-of-reader-1234567890",
} as const;

interface Served {
  readonly url: string;
  readonly client: Client;
  readonly other: Client;
  /** May call tools that only read. */
  readonly reader: Client;
}

async function serve(): Promise<Served> {
  const parts = createParts();
  const route = createApiRoute(parts, {
    onError(error) {
      throw error;
    },
  });
  const gate = await openGate({
    routes: [route],
    tokens: [
      { id: "ann", token: tokens.ann },
      { id: "bob", token: tokens.bob },
      { id: "reader", token: tokens.reader, scopes: ["tools:read"] },
    ],
  });
  onTestFinished(async () => {
    await gate.close({ graceMs: 0 });
    await route.close();
  });
  const url = `${gate.url}/api`;
  const [client, other, reader] = [tokens.ann, tokens.bob, tokens.reader].map((token) => createClient({ url, token }));
  return { url, client: client as Client, other: other as Client, reader: reader as Client };
}

function createParts(): HttpParts {
  const store = memoryStore();
  const add = defineTool({
    name: "add",
    description: "Adds two numbers",
    input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
    annotations: { readOnly: true },
    run({ a, b }, { progress }) {
      progress({ message: "adding" });
      return Number(a) + Number(b);
    },
  });
  const wait = defineTool({
    name: "wait",
    description: "Waits until it is cancelled",
    run: (_input, { signal }) =>
      new Promise<string>((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("cancelled")))),
  });
  const send = defineTool({
    name: "send",
    description: "Sends something",
    input: { type: "object", properties: { to: { type: "string" } } },
    needsApproval: true,
    run: () => "sent",
  });
  const pages = defineTool({ name: "pages", description: "Counts pages", run: () => 3 });
  const pdf = defineSkill({
    name: "pdf",
    description: "Works with PDF files",
    tools: [pages],
  });
  const workspace = createWorkspace({ tools: [add, wait, send], skills: [pdf], store });
  const scopesOf = (): Scopes => "all";
  const sums = () => mockModel([{ calls: [{ tool: "add", input: { a: 19, b: 23 } }] }, "It is 42"]);
  const helper = createAgent({ model: sums(), workspace, store, scopesOf });
  const careful = createAgent({
    model: mockModel([{ calls: [{ tool: "send", input: { to: "ann" } }] }, "Sent"]),
    workspace,
    store,
    scopesOf,
  });
  const broken = createAgent({ model: sums(), workspace, store, scopesOf: () => undefined });
  return { workspace, store, agents: { helper, careful, broken }, scopesOf };
}

async function collect(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const all: StreamEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

function byNumber(left: number | undefined, right: number | undefined): number {
  return (left ?? 0) - (right ?? 0);
}
