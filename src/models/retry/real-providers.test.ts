import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { fakeClock, question, readParts, textOf } from "../../../test/support/scripted-models.ts";
import { isKitbagError, type KitbagError } from "../../core/errors.ts";
import type { Model } from "../model.ts";
import { resolveModel } from "../resolve/resolve-model.ts";
import { withRetries } from "./with-retries.ts";

/** How each provider writes an error, and the names that its models have here. */
const providers = {
  "openai/gpt-6-sol": (type: string, message: string) => ({ error: { message, type, param: null, code: type } }),
  "openai-chat/gpt-6-sol": (type: string, message: string) => ({ error: { message, type, param: null, code: type } }),
  "anthropic/claude-sonnet-5": (type: string, message: string) => ({ type: "error", error: { type, message } }),
  "google/gemini-3.8-flash": (type: string, message: string) => ({ error: { code: 400, message, status: type } }),
  "ollama/qwen3": (type: string, message: string) => ({ error: { message, type, param: null, code: null } }),
};
const names = Object.keys(providers) as (keyof typeof providers)[];

const cases = names.flatMap((name) => [
  { name, status: 400, type: "invalid_request_error", message: "tools is wrong", code: "model-refused" },
  {
    name,
    status: 400,
    type: "invalid_request_error",
    message: "prompt is too long: 9 tokens > 8 maximum",
    code: "model-context-exceeded",
  },
  { name, status: 401, type: "authentication_error", message: "invalid x-api-key", code: "model-denied" },
  { name, status: 403, type: "permission_error", message: "not for you", code: "model-denied" },
  { name, status: 404, type: "not_found_error", message: "model not found", code: "model-refused" },
  { name, status: 429, type: "rate_limit_error", message: "slow down", code: "model-overloaded" },
  { name, status: 500, type: "api_error", message: "oops", code: "model-unavailable" },
  { name, status: 503, type: "unavailable", message: "later", code: "model-overloaded" },
  { name, status: 529, type: "overloaded_error", message: "Overloaded", code: "model-overloaded" },
]);

test.for(cases)(
  "withRetries() knows $status of $name ($message) as $code",
  async ({ name, status, type, message, code }) => {
    const error = await withServer(
      (response) => response.writeHead(status, json).end(JSON.stringify(providers[name](type, message))),
      async (baseUrl) => failureOf(readParts(withRetries(await open(name, baseUrl), { maxRetries: 0 }))),
    );

    expect(error).toMatchObject({ code, details: { status } });
    if (code !== "model-denied") expect(error.message).toContain(message);
  },
);

test.for(names)("withRetries() waits as long as the server of %s says, and asks again", async (name) => {
  const clock = fakeClock();
  const waits: number[] = [];

  const asked = await withServer(
    (response) => response.writeHead(429, { ...json, "retry-after": "7" }).end("{}"),
    async (baseUrl, count) => {
      const options = {
        clock,
        maxRetries: 1,
        random: () => 0,
        onRetry: ({ waitMs }: { waitMs: number }) => waits.push(waitMs),
      };
      const failure = failureOf(readParts(withRetries(await open(name, baseUrl), options)));
      await until(() => waits.length === 1);
      await clock.advance(7000);
      await failure;
      return count();
    },
  );

  expect(waits).toEqual([7000]);
  expect(asked).toBe(2);
});

test.for(names)("withRetries() says of %s that nobody is there", async (name) => {
  const baseUrl = await withServer(
    () => {},
    (url) => Promise.resolve(url),
  );

  const error = await failureOf(readParts(withRetries(await open(name, baseUrl), { maxRetries: 0 })));

  expect(error).toMatchObject({ code: "model-unavailable", details: { reason: expect.stringMatching(/connect/iu) } });
});

test("withRetries() passes a whole answer of a real provider on", async () => {
  const stop = sse({ type: "content_block_stop", index: 0 });
  const end = sse({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage }) + sse({ type: "message_stop" });
  const parts = await withServer(
    (response) => response.writeHead(200, events).end(anthropicStart + anthropicText + stop + end),
    async (baseUrl) => readParts(withRetries(await open("anthropic/claude-sonnet-5", baseUrl)), question),
  );

  expect(textOf(parts)).toBe("Hel");
  expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: { unified: "stop" } });
});

test("withRetries() knows an overload that Anthropic sends in the stream, before and after something was shown", async () => {
  const overload = sse({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });

  const early = await withServer(
    (response) => response.writeHead(200, events).end(anthropicStart + overload),
    async (baseUrl) =>
      failureOf(readParts(withRetries(await open("anthropic/claude-sonnet-5", baseUrl), { maxRetries: 0 }))),
  );
  const late = await withServer(
    (response) => response.writeHead(200, events).end(anthropicStart + anthropicText + overload),
    async (baseUrl) => readParts(withRetries(await open("anthropic/claude-sonnet-5", baseUrl))),
  );

  expect(early.code).toBe("model-overloaded");
  expect(textOf(late)).toBe("Hel");
  expect(late.slice(-2)).toMatchObject([
    { type: "error", error: { code: "model-overloaded" } },
    { type: "finish", finishReason: { unified: "interrupted" } },
  ]);
});

test("withRetries() tells that a connection was cut in the middle of an answer", async () => {
  const parts = await withServer(
    (response) => {
      response.writeHead(200, events).write(anthropicStart + anthropicText);
      setTimeout(() => response.destroy(), 20);
    },
    async (baseUrl) => readParts(withRetries(await open("anthropic/claude-sonnet-5", baseUrl))),
  );

  expect(textOf(parts)).toBe("Hel");
  expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: { unified: "interrupted" } });
});

test("withRetries() stops the request when nothing comes in time", async () => {
  let closed = false;
  const error = await withServer(
    (response) => {
      response.writeHead(200, events).flushHeaders();
      response.on("close", () => (closed = true));
    },
    async (baseUrl) => {
      const model = await open("anthropic/claude-sonnet-5", baseUrl);
      const failure = await failureOf(readParts(withRetries(model, { maxRetries: 0, firstPartMs: 500 })));
      await until(() => closed);
      return failure;
    },
  );

  expect(error).toMatchObject({ code: "model-timeout", details: { phase: "first part", limitMs: 500 } });
});

const json = { "content-type": "application/json" };
const events = { "content-type": "text/event-stream" };
const usage = { input_tokens: 3, output_tokens: 1 };
const anthropicStart = sse({
  type: "message_start",
  message: { id: "m1", type: "message", role: "assistant", model: "claude-sonnet-5", content: [], usage },
});
const anthropicText =
  sse({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }) +
  sse({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } });

function sse(data: { readonly type: string; readonly [name: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function open(name: string, baseUrl: string): Promise<Model> {
  return resolveModel(name, { env: {}, baseUrl, ...(name.startsWith("ollama") ? {} : { apiKey: "a-key" }) });
}

async function failureOf(work: Promise<unknown>): Promise<KitbagError> {
  const cause = await work.catch((cause: unknown) => cause);
  if (isKitbagError(cause)) return cause;
  throw new Error("expected a KitbagError", { cause });
}

/** Waits until something is so; the test's own time is the limit. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => void setTimeout(resolve, 5));
}

/** Runs a server that answers every request in the same way. */
async function withServer<Result>(
  answer: (response: ServerResponse) => unknown,
  use: (baseUrl: string, count: () => number) => Promise<Result>,
): Promise<Result> {
  let count = 0;
  const server = createServer((request, response) => {
    // What a server of one's own is asked about itself is no question to a model.
    if (request.method === "GET" || request.url === "/api/show") return void response.writeHead(404).end();
    count += 1;
    request.resume().on("end", () => answer(response));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => count);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
