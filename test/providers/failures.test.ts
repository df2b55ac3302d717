import { APICallError } from "@ai-sdk/provider";
import { expect, test } from "vitest";

import type { ScriptedError } from "../support/model-server-answer.ts";
import { say, wayNames, ways } from "./conversation.ts";
import { providers, startProvider } from "./providers.ts";

const table = providers.flatMap((provider) => wayNames.map((way) => ({ ...provider, way })));

const refusals = [
  { status: 400, isRetryable: false },
  { status: 401, isRetryable: false },
  { status: 429, isRetryable: true },
  { status: 500, isRetryable: true },
  { status: 529, isRetryable: true },
] as const;

const tale = { text: "Once upon a time there was a bag of tools that opened by itself." };

test.for(table.flatMap((row) => refusals.map((refusal) => ({ ...row, ...refusal }))))(
  "$name tells a refusal with status $status ($way)",
  async ({ way, status, isRetryable, ...provider }) => {
    const refusal: ScriptedError = { status, message: `Refused with ${status}` };
    const { model } = await startProvider(provider, [refusal]);

    const answer = ways[way](model, { prompt: [say("Hi")] });

    // Kitbag speaks to Ollama itself, and throws what looks like the error of a package.
    if (provider.name !== "ollama") await expect(answer).rejects.toSatisfy((cause) => APICallError.isInstance(cause));
    await expect(answer).rejects.toMatchObject({ statusCode: status, isRetryable, message: `Refused with ${status}` });
  },
);

test.for(table)("$name passes on when to come back ($way)", async ({ way, ...provider }) => {
  const refusal = { status: 429, message: "Slow down", headers: { "Retry-After": "7" } };
  const { model } = await startProvider(provider, [refusal]);

  const answer = ways[way](model, { prompt: [say("Hi")] });

  await expect(answer).rejects.toMatchObject({ responseHeaders: { "retry-after": "7" } });
});

test.for(providers)("$name refuses a key that is wrong", async (provider) => {
  const { server } = await startProvider(provider, [tale]);
  const model = provider.createModel(server.url(provider.name), "another-key");

  const answer = model.doGenerate({ prompt: [say("Hi")] });

  await expect(answer).rejects.toMatchObject({ statusCode: 401, isRetryable: false });
});

test.for(table)("$name tells that a connection ended before the answer ($way)", async ({ way, ...provider }) => {
  const { model } = await startProvider(provider, [{ ...tale, fault: { kind: "refused" } }]);

  const answer = ways[way](model, { prompt: [say("Hi")] });

  await expect(answer).rejects.toMatchObject({ isRetryable: true });
});

test.for(providers)("$name tells that nobody listens", async (provider) => {
  const { server, model } = await startProvider(provider, [tale]);
  await server.close();

  const answer = model.doGenerate({ prompt: [say("Hi")] });

  await expect(answer).rejects.toMatchObject({ isRetryable: true });
});

test.for(providers)("$name does not take half an answer for one (generate)", async (provider) => {
  const { model } = await startProvider(provider, [{ ...tale, fault: { kind: "cut" } }]);

  const answer = model.doGenerate({ prompt: [say("Hi")] });

  await expect(answer).rejects.toThrow();
});

test.for(providers)("$name shows what came before a connection was cut, then the error (stream)", async (provider) => {
  const { model } = await startProvider(provider, [{ ...tale, fault: { kind: "cut" } }]);
  const { stream } = await model.doStream({ prompt: [say("Hi")] });
  const seen: string[] = [];
  const errors: unknown[] = [];

  try {
    for await (const part of stream as typeof stream & AsyncIterable<never>) {
      const { type, delta, error } = part as { type: string; delta?: string; error?: unknown };
      if (type === "text-delta") seen.push(delta ?? "");
      if (type === "error") errors.push(error);
    }
  } catch (cause) {
    errors.push(cause);
  }

  expect(seen.length).toBeGreaterThan(0);
  expect(tale.text.startsWith(seen.join(""))).toBe(true);
  expect(seen.join("")).not.toBe(tale.text);
  expect(errors).toHaveLength(1);
});

test.for(providers)("$name does not say stop when a stream ends too early", async (provider) => {
  const { model } = await startProvider(provider, [{ ...tale, fault: { kind: "ended" } }]);

  const { text, finish } = await ways.stream(model, { prompt: [say("Hi")] });

  expect(tale.text.startsWith(text)).toBe(true);
  expect(finish?.unified).toBe(provider.name === "openai-compatible" ? "error" : "interrupted");
});

test.for(providers)("$name gives an error for an event that is not JSON, and the rest", async (provider) => {
  const { model } = await startProvider(provider, [{ ...tale, fault: { kind: "malformed" } }]);

  const { text, errors } = await ways.stream(model, { prompt: [say("Hi")] });

  expect(errors).toHaveLength(1);
  expect(text).toBe(tale.text);
});

test.for(providers)("$name gives an error when the provider breaks off in the middle", async (provider) => {
  const { model } = await startProvider(provider, [{ ...tale, fault: { kind: "failed" } }]);

  const { text, finish, errors } = await ways.stream(model, { prompt: [say("Hi")] });

  expect(text).not.toBe(tale.text);
  expect(errors).toHaveLength(1);
  expect(finish?.unified).not.toBe("stop");
});

test.for(providers)("$name waits for a first token that is late, until it is told to stop", async (provider) => {
  const { promise: never } = Promise.withResolvers<void>();
  const { server, model } = await startProvider(provider, [{ ...tale, fault: { kind: "slow", until: never } }]);
  const stop = new AbortController();

  const answer = ways.stream(model, { prompt: [say("Hi")], abortSignal: stop.signal });
  while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  stop.abort(new Error("too slow"));

  await expect(answer).rejects.toThrow(/too slow|abort/u);
});

test.for(providers)("$name answers when a first token that was late is there", async (provider) => {
  const late = Promise.withResolvers<void>();
  const { server, model } = await startProvider(provider, [{ ...tale, fault: { kind: "slow", until: late.promise } }]);

  const answer = ways.stream(model, { prompt: [say("Hi")] });
  while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  late.resolve();

  await expect(answer).resolves.toMatchObject({ text: tale.text });
});
