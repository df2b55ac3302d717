import { setTimeout as sleep } from "node:timers/promises";

import { expect, test, vi } from "vitest";

import { connectHttp, listen, textOf, type ClientKind } from "../../../../test/support/mcp-clients.ts";
import { beginSession, initialize, post, readAnswer } from "../../../../test/support/mcp-raw.ts";
import { createPlainWorkspace } from "../../../../test/support/plain-requests.ts";
import { defineTool } from "../../../core/define-tool.ts";
import type { Tool } from "../../../core/tool.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";

const kinds: readonly ClientKind[] = ["v1", "legacy"];
const soon = { timeout: 20_000 };

test("a session of 2025 answers a call before the client says that it is initialized", async () => {
  const { url } = await listen({ workspace: createPlainWorkspace() });
  const begun = await post(url, initialize());
  await begun.text();
  const headers = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "", ...revision };

  const answer = await post(url, toMessage("tools/call", { name: "count" }), headers);

  expect(await readAnswer(answer)).toMatchObject({ result: { structuredContent: { result: 3 } } });
});

test.for(kinds)("a call of a %s client is made once, however long it takes", async (kind) => {
  const { tools, begun } = createSlow();
  const { url } = await listen({ workspace: createWorkspace({ tools }) });
  const client = await connectHttp(url, { kind });

  const results = await Promise.all([0, 50, 99, 100, 101, 200, 400].map((ms) => callSlow(client, ms)));

  expect(results.map(textOf)).toEqual(["0", "50", "99", "100", "101", "200", "400"]);
  expect(begun).toHaveLength(7);
});

test("what tools log comes before the answer, in the same stream, and the call is made once", async () => {
  const { tools, begun } = createSlow();
  const { url } = await listen({ workspace: createWorkspace({ tools }) });
  const session = await beginSession(url);
  const answer = await post(url, toMessage("tools/call", { name: "talk", arguments: {} }), {
    "mcp-session-id": session,
    ...revision,
  });

  const data = (await answer.text()).split("\n").filter((line) => line.startsWith("data: {"));

  expect(data.map((line) => JSON.parse(line.slice(6)) as object)).toMatchObject([
    { method: "notifications/message", params: { data: "one" } },
    { method: "notifications/message", params: { data: "two" } },
    { id: 7, result: { content: [{ text: "said" }] } },
  ]);
  expect(begun).toEqual(["talk"]);
});

test.for([20, 300])("a call in a session of 2025 is cancelled after %i ms, and not answered", async (afterMs) => {
  const { tools, stopped, begun } = createSlow();
  const { url } = await listen({ workspace: createWorkspace({ tools }) });
  const headers = { "mcp-session-id": await beginSession(url), ...revision };
  const leave = new AbortController();
  const message = toMessage("tools/call", { name: "slow", arguments: { ms: 60_000 } });
  const answer = fetchText(url, message, headers, leave.signal);
  await vi.waitFor(() => expect(begun).toHaveLength(1), soon);
  await sleep(afterMs);

  const params = { requestId: 7, reason: "enough" };
  const heard = await post(url, { jsonrpc: "2.0", method: "notifications/cancelled", params }, headers);

  await vi.waitFor(() => expect(stopped).toHaveLength(1), soon);
  expect(heard.status).toBe(202);
  const again = await post(url, toMessage("tools/call", { name: "slow", arguments: { ms: 0 } }), headers);
  expect(await readAnswer(again)).toMatchObject({ id: 7, result: { content: [{ text: "0" }] } });
  leave.abort();
  expect(await answer).not.toContain('"result"');
});

test.for([20, 300])("a call ends when its session of 2025 is deleted after %i ms", async (afterMs) => {
  const { tools, stopped, begun } = createSlow();
  const { url } = await listen({ workspace: createWorkspace({ tools }) });
  const headers = { "mcp-session-id": await beginSession(url), ...revision };
  const leave = new AbortController();
  const answer = fetchText(
    url,
    toMessage("tools/call", { name: "slow", arguments: { ms: 60_000 } }),
    headers,
    leave.signal,
  );
  await vi.waitFor(() => expect(begun).toHaveLength(1), soon);
  await sleep(afterMs);

  await fetch(url, { method: "DELETE", headers });

  await vi.waitFor(() => expect(stopped).toHaveLength(1), soon);
  leave.abort();
  await answer;
});

test("a client of 2025 whose connection broke comes back for the answer of a call that takes long", async () => {
  const { tools, begun } = createSlow();
  const { url } = await listen({ workspace: createWorkspace({ tools }) });
  const headers = { "mcp-session-id": await beginSession(url), ...revision };
  const leave = new AbortController();
  const first = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify(toMessage("tools/call", { name: "slow", arguments: { ms: 800 } })),
    signal: leave.signal,
  });
  const reader = first.body?.getReader();
  const primed = new TextDecoder().decode((await reader?.read())?.value);
  const last = /^id: (.+)$/mu.exec(primed)?.[1] ?? "";
  leave.abort();
  await reader?.cancel().catch(() => {});
  // A server hears a little later that a connection broke.
  await sleep(200);

  const resumed = await fetch(url, { headers: { accept: "text/event-stream", "last-event-id": last, ...headers } });

  expect(await readUntil(resumed, '"result"')).toContain('"text":"800"');
  expect(begun).toHaveLength(1);
});

const revision = { "mcp-protocol-version": "2025-11-25" };

function toMessage(method: string, params: object): Record<string, unknown> {
  return { jsonrpc: "2.0", id: 7, method, params };
}

function createSlow(): { tools: Tool[]; begun: string[]; stopped: string[] } {
  const begun: string[] = [];
  const stopped: string[] = [];
  const slow = defineTool({
    name: "slow",
    description: "Takes its time",
    input: { type: "object", properties: { ms: { type: "integer" } }, required: ["ms"] },
    async run({ ms }, { signal }) {
      begun.push(String(ms));
      await sleep(Number(ms), undefined, { signal }).catch(() => stopped.push(String(ms)));
      return String(ms);
    },
  });
  const talk = defineTool({
    name: "talk",
    description: "Says something",
    async run(_input, { log }) {
      begun.push("talk");
      log("one");
      await sleep(20);
      log("two");
      return "said";
    },
  });
  return { tools: [slow, talk], begun, stopped };
}

type Client = Awaited<ReturnType<typeof connectHttp>>;

function callSlow(client: Client, ms: number): Promise<unknown> {
  return client.callTool({ name: "slow", arguments: { ms } });
}

/** What came of a request before it was given up. */
async function fetchText(
  url: string,
  message: object,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<string> {
  const common = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  let text = "";
  try {
    const body = JSON.stringify(message);
    const answer = await fetch(url, { method: "POST", headers: { ...common, ...headers }, body, signal });
    for await (const chunk of answer.body ?? []) text += new TextDecoder().decode(chunk);
  } catch {
    // It was given up.
  }
  return text;
}

async function readUntil(answer: Response, word: string): Promise<string> {
  let text = "";
  for await (const chunk of answer.body ?? []) {
    text += new TextDecoder().decode(chunk);
    if (text.includes(word)) break;
  }
  return text;
}
