import { request } from "node:http";

import { expect, onTestFinished, test } from "vitest";

import { dialects, startModelServer, type DialectName, type ModelServer } from "../support/model-server.ts";

const names = Object.keys(dialects) as DialectName[];

const requests: Readonly<Record<DialectName, { path: string; body: object; header: string }>> = {
  "openai-chat": { path: "/chat/completions", body: { stream: true, messages: [] }, header: "authorization" },
  "openai-responses": { path: "/responses", body: { stream: true, input: [] }, header: "authorization" },
  anthropic: { path: "/messages", body: { stream: true, messages: [] }, header: "x-api-key" },
  google: { path: "/models/m:streamGenerateContent?alt=sse", body: { contents: [] }, header: "x-goog-api-key" },
  ollama: { path: "/api/chat", body: { messages: [] }, header: "authorization" },
  "openai-compatible": { path: "/chat/completions", body: { stream: true, messages: [] }, header: "authorization" },
};

test.for(names)("startModelServer() splits what it sends in the middle of characters (%s)", async (name) => {
  const server = await start({ text: "Grüße 世界 🧳".repeat(40) }, 7);

  const chunks = await send(server, name);

  const isInside = (chunk: Buffer): boolean => ((chunk[0] ?? 0) & 0xc0) === 0x80;
  expect(chunks.length).toBeGreaterThan(20);
  expect(chunks.filter(isInside).length).toBeGreaterThan(0);
  expect(Buffer.concat(chunks).toString()).toContain("世");
});

test("startModelServer() sends the same bytes whatever the seed is", async () => {
  const [first, second] = await Promise.all([
    send(await start({ text: "Grüße" }, 1), "anthropic"),
    send(await start({ text: "Grüße" }, 2), "anthropic"),
  ]);

  expect(Buffer.concat(first).equals(Buffer.concat(second))).toBe(true);
});

test("startModelServer() knows no other paths", async () => {
  const server = await start({ text: "x" }, 1);

  const { status } = await fetch(`${server.url("anthropic")}/complete`, { method: "POST", body: "{}" });

  expect(status).toBe(404);
});

test("startModelServer() refuses when its script has no reply left", async () => {
  const server = await startModelServer([]);
  onTestFinished(() => server.close());

  const chunks = await send(server, "anthropic");

  expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({
    type: "error",
    error: { type: "invalid_request_error", message: "The script has no reply left" },
  });
});

async function start(answer: { text: string }, seed: number): Promise<ModelServer> {
  const server = await startModelServer([answer], { seed });
  onTestFinished(() => server.close());
  return server;
}

/** What arrives, as it arrives: `fetch` may join what was sent apart. */
function send(server: ModelServer, name: DialectName): Promise<Buffer[]> {
  const { path, body, header } = requests[name];
  const key = header === "authorization" ? `Bearer ${server.key}` : server.key;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${server.url(name)}${path}`,
      { method: "POST", headers: { [header]: key } },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("end", () => resolve(chunks));
        incoming.on("error", reject);
      },
    );
    outgoing.on("error", reject);
    outgoing.end(JSON.stringify(body));
  });
}
