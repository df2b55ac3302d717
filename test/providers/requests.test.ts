import { expect, test } from "vitest";

import type { ModelMessage, ModelTool } from "../../src/models/model.ts";
import { say, toAssistantMessage, ways } from "./conversation.ts";
import { providers, startProvider } from "./providers.ts";

const now: ModelTool = { type: "function", name: "now", inputSchema: { type: "object", properties: {} } };

test.for(providers)(
  "$name sends the same bytes for the same request, so that a cache can know it",
  async (provider) => {
    const { server, model } = await startProvider(provider, [{ text: "a" }, { text: "b" }]);
    const call = { prompt: [{ role: "system", content: "Be brief." } as const, say("Hi")], tools: [now] };

    await ways.generate(model, call);
    await ways.generate(model, call);

    const [first, second] = server.requests.map(({ body }) => JSON.stringify(body));
    expect(first).toBe(second);
  },
);

test("anthropic marks where the prompt is cached", async () => {
  const provider = providers.find(({ name }) => name === "anthropic")!;
  const { server, model } = await startProvider(provider, [{ text: "ok" }]);
  const providerOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };
  const system: ModelMessage = { role: "system", content: "Long.", providerOptions };

  await ways.generate(model, { prompt: [system, say("Hi")], tools: [{ ...now, providerOptions }] });

  const cache_control = { type: "ephemeral" };
  expect(server.requests[0]?.body).toMatchObject({
    system: [{ type: "text", text: "Long.", cache_control }],
    tools: [{ name: "now", cache_control }],
  });
});

test.for(["openai-chat", "openai-responses"] as const)("%s is told the key of the prompt cache", async (name) => {
  const provider = providers.find((each) => each.name === name)!;
  const { server, model } = await startProvider(provider, [{ text: "ok" }]);

  await ways.generate(model, { prompt: [say("Hi")], providerOptions: { openai: { promptCacheKey: "run-1" } } });

  expect(server.requests[0]?.body).toMatchObject({ prompt_cache_key: "run-1" });
});

test.for(providers)("$name refuses a prompt in which a call has no result", async (provider) => {
  const { model } = await startProvider(provider, [{ calls: [{ id: "call_1", name: "now", input: {} }] }]);
  const { content } = await ways.generate(model, { prompt: [say("Time?")], tools: [now] });

  const answer = ways.generate(model, { prompt: [say("Time?"), toAssistantMessage(content), say("Well?")] });

  await expect(answer).rejects.toMatchObject({ statusCode: 400 });
});

test.for(providers)("$name is asked with its own header for the key, and nowhere else is the key", async (provider) => {
  const { server, model } = await startProvider(provider, [{ text: "ok" }]);

  await ways.generate(model, { prompt: [say("Hi")] });

  const [request] = server.requests;
  const headers = Object.entries(request?.headers ?? {}).filter(([, value]) => value.includes(server.key));
  expect(headers).toHaveLength(1);
  expect(JSON.stringify(request?.body)).not.toContain(server.key);
});
