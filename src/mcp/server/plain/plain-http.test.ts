import fc from "fast-check";
import { expect, test } from "vitest";

import { listen } from "../../../../test/support/mcp-clients.ts";
import { createPlainWorkspace, plainRequests } from "../../../../test/support/plain-requests.ts";
import { defineTool } from "../../../core/define-tool.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";

test("plain requests over HTTP are answered as the SDK answers them", async () => {
  const { both } = await startBoth();

  for (const [method, params] of plainRequests) {
    const [plain, sdk] = await both(toRequest(method, params));

    expect([method, params, plain]).toEqual([method, params, sdk]);
  }
});

test("other requests over HTTP get the same answer from both", async () => {
  const { both } = await startBoth();
  const echo = toRequest("tools/call", { name: "echo", arguments: { text: "hi" } });

  for (const [what, other] of otherRequests(echo)) {
    const [plain, sdk] = await both(other);

    expect([what, plain]).toEqual([what, sdk]);
  }
});

test("requests over HTTP get the same answer from both, whatever is wrong with them", async () => {
  const { both } = await startBoth();

  await fc.assert(
    fc.asyncProperty(brokenRequests, async (request) => {
      const [plain, sdk] = await both(request);

      expect([plain.status, plain.body]).toEqual([sdk.status, sdk.body]);
    }),
    { numRuns: 300 },
  );
});

test("a plain call over HTTP is cancelled when its client goes away", async () => {
  let reason: unknown;
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const wait = defineTool({
    name: "wait",
    description: "Waits",
    run: (_input, { signal }) =>
      new Promise<never>((_resolve, reject) => {
        begin();
        signal.addEventListener("abort", () => {
          ({ reason } = signal);
          stop();
          reject(new Error("stopped"));
        });
      }),
  });
  const { url } = await listen({ workspace: createWorkspace({ tools: [wait] }) });
  const leave = new AbortController();
  const { headers, body } = toRequest("tools/call", { name: "wait" });
  const answer = fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal: leave.signal });
  await begun;

  leave.abort();

  await expect(answer).rejects.toThrow();
  await stopped;
  expect(reason).toBeDefined();
});

interface HttpRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface HttpAnswer {
  readonly status: number;
  readonly body: unknown;
}

type Both = (request: HttpRequest) => Promise<readonly [plain: HttpAnswer, sdk: HttpAnswer]>;

/** The same workspace twice: as it is, and with something that leaves every request to the SDK. */
async function startBoth(): Promise<{ readonly both: Both }> {
  const workspace = createPlainWorkspace();
  const plain = await listen({ workspace });
  const sdk = await listen({ workspace, extend: () => {} });
  return { both: (request) => Promise.all([send(plain.url, request), send(sdk.url, request)]) };
}

async function send(url: string | URL, { headers, body }: HttpRequest): Promise<HttpAnswer> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await fetch(url, { method: "POST", headers, body: text });
  const received = await answer.text();
  return { status: answer.status, body: toJson(received) };
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const metaKey = "io.modelcontextprotocol/";

function toMeta(more: object = {}): object {
  return {
    [`${metaKey}protocolVersion`]: "2026-07-28",
    [`${metaKey}clientCapabilities`]: {},
    [`${metaKey}clientInfo`]: { name: "test", version: "1.0.0" },
    ...more,
  };
}

function toRequest(method: string, params: object, meta: object = toMeta()): HttpRequest {
  const name = "name" in params ? { "mcp-name": String(params.name) } : {};
  return {
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...name,
    },
    body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } },
  };
}

function* otherRequests({ headers, body }: HttpRequest): Generator<readonly [what: string, request: HttpRequest]> {
  const message = body as { readonly params: object };
  const echo = { name: "echo", arguments: { text: "hi" } };
  yield ["a tool that needs a yes", toRequest("tools/call", { name: "risky" })];
  yield ["a tool that is not there", toRequest("tools/call", { name: "missing" })];
  yield [
    "an argument that a header must repeat",
    toRequest("tools/call", { name: "repeated", arguments: { region: "eu" } }),
  ];
  yield [
    "a tool that needs a yes, by call_tool",
    toRequest("tools/call", { name: "call_tool", arguments: { name: "risky" } }),
  ];
  const canElicit = toMeta({ [`${metaKey}clientCapabilities`]: { elicitation: {} } });
  yield ["a client that can be asked, of a call that may need it inside", toRequest("tools/call", echo, canElicit)];
  yield ["a page of a list", toRequest("tools/list", { cursor: "x" })];
  yield ["another method", toRequest("prompts/list", {})];
  yield ["no method", { headers, body: { ...message, method: undefined } }];
  yield ["a fraction as its number", { headers, body: { ...message, id: 1.5 } }];
  yield ["no number", { headers, body: { ...message, id: null } }];
  yield ["several messages", { headers, body: [body, body] }];
  yield ["another name in the header", { headers: { ...headers, "mcp-name": "count" }, body }];
  yield ["another method in the header", { headers: { ...headers, "mcp-method": "tools/list" }, body }];
  yield ["another revision in the header", { headers: { ...headers, "mcp-protocol-version": "2025-11-25" }, body }];
  yield ["no JSON by its type", { headers: { ...headers, "content-type": "text/plain" }, body }];
  yield ["no JSON", { headers, body: "{" }];
  yield ["a form as input", toRequest("tools/call", { name: "echo", arguments: [] })];
  yield [
    "a capability with something in it",
    toRequest("tools/call", echo, toMeta({ [`${metaKey}clientCapabilities`]: { sampling: { a: 1 } } })),
  ];
  yield [
    "a client without a name",
    toRequest("tools/call", echo, toMeta({ [`${metaKey}clientInfo`]: { version: "1" } })),
  ];
  yield [
    "a revision that is none",
    toRequest("tools/call", echo, toMeta({ [`${metaKey}protocolVersion`]: "2027-01-01" })),
  ];
  yield ["no revision", toRequest("tools/call", echo, {})];
}

const oddValues = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom("tools/call", "echo", "2.0", "2026-07-28", "2025-11-25", "missing", { text: "hi" }, "", -1, 0.5),
);

/** A plain request of which one thing is changed or taken away. */
const brokenRequests: fc.Arbitrary<HttpRequest> = fc
  .tuple(
    fc.constantFrom(...plainRequests),
    fc.constantFrom(
      "jsonrpc",
      "id",
      "method",
      "params",
      "name",
      "arguments",
      "_meta",
      "protocolVersion",
      "clientInfo",
      "clientCapabilities",
      "mcp-name",
      "mcp-method",
      "mcp-protocol-version",
      "accept",
      "extra",
    ),
    fc.option(oddValues, { nil: undefined, freq: 4 }),
  )
  .map(([[method, params], place, value]) => breakAt(toRequest(method, params), place, value));

function breakAt({ headers, body }: HttpRequest, place: string, value: unknown): HttpRequest {
  const message = body as Readonly<Record<string, unknown>> & { readonly params: Readonly<Record<string, unknown>> };
  if (place.startsWith("mcp-") || place === "accept") {
    const text = String(value).replaceAll(/[^\x20-\x7E]/gu, "?");
    return { headers: { ...headers, [place]: text }, body };
  }
  if (["jsonrpc", "id", "method", "params", "extra"].includes(place)) {
    return { headers, body: { ...message, [place]: value } };
  }
  if (["name", "arguments", "_meta"].includes(place)) {
    return { headers, body: { ...message, params: { ...message.params, [place]: value } } };
  }
  return { headers, body: { ...message, params: { ...message.params, _meta: toMeta({ [metaKey + place]: value }) } } };
}
