import { expect, test } from "vitest";

import type { ModelMessage, ModelTool } from "../../src/models/model.ts";
import { say, toAssistantMessage, wayNames, ways } from "./conversation.ts";
import { providers, resolveProvider, startProvider } from "./providers.ts";

const table = providers.flatMap((provider) => wayNames.map((way) => ({ ...provider, way })));
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

const settings = { temperature: 0.3, maxOutputTokens: 99, stop: ["END"], seed: 7, reasoning: "low" } as const;

/** How each is told the settings, and which of them it does not have. */
const told: Readonly<Record<string, { readonly body: object; readonly missing: readonly string[] }>> = {
  "openai-chat": {
    body: { max_completion_tokens: 99, stop: ["END"], seed: 7, reasoning_effort: "low" },
    missing: ["temperature"],
  },
  "openai-responses": {
    body: { max_output_tokens: 99, reasoning: { effort: "low" } },
    missing: ["seed", "stopSequences", "temperature"],
  },
  // The thoughts come on top of what it may say.
  anthropic: {
    body: { max_tokens: 6499, stop_sequences: ["END"], thinking: { type: "enabled", budget_tokens: 6400 } },
    missing: ["seed", "temperature"],
  },
  google: {
    body: {
      generationConfig: {
        temperature: 0.3,
        maxOutputTokens: 99,
        stopSequences: ["END"],
        seed: 7,
        thinkingConfig: { thinkingLevel: "low" },
      },
    },
    missing: [],
  },
  "openai-compatible": {
    body: { temperature: 0.3, max_tokens: 99, stop: ["END"], seed: 7, reasoning_effort: "low" },
    missing: [],
  },
  ollama: {
    body: { options: { temperature: 0.3, num_predict: 99, stop: ["END"], seed: 7 }, think: "low" },
    missing: [],
  },
};

test.for(table)("$name is told the settings, and says which it does not have ($way)", async ({ way, ...provider }) => {
  const { server, model } = await resolveProvider(provider, [{ text: "ok" }], {}, { settings });

  const { warnings } = await ways[way](model, { prompt: [say("Hi")] });

  expect(server.requests[0]?.body).toMatchObject(told[provider.name]?.body ?? {});
  const missing = warnings.map((warning) => ("feature" in warning ? warning.feature : ""));
  expect(missing.toSorted()).toEqual(told[provider.name]?.missing);
});

test.for(table)("$name is told no reasoning and a temperature ($way)", async ({ way, ...provider }) => {
  const { server, model } = await resolveProvider(
    provider,
    [{ text: "ok" }],
    {},
    {
      settings: { temperature: 0.3, reasoning: "none" },
    },
  );

  await ways[way](model, { prompt: [say("Hi")] });

  const { body } = server.requests[0]!;
  const inside = (body["generationConfig"] ?? body["options"] ?? body) as { temperature: number };
  expect(inside.temperature).toBe(0.3);
});

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
