import { expect, test } from "vitest";

import type { ModelTool } from "../../src/models/model.ts";
import type { ScriptedAnswer } from "../support/model-server-answer.ts";
import { say, toAssistantMessage, toToolMessage, wayNames, ways } from "./conversation.ts";
import { providers, startProvider } from "./providers.ts";

const table = providers.flatMap((provider) => wayNames.map((way) => ({ ...provider, way })));

const words = "Grüße, 世界! 🧳 Ω≈ç√ – naïve “quotes” \n\ttabs \\ and \u0000 too";

const weather: ModelTool = {
  type: "function",
  name: "weather__look_up",
  description: "Tells the weather of a city.",
  inputSchema: {
    type: "object",
    properties: { city: { type: "string", description: "its name" }, days: { type: "integer" } },
    required: ["city"],
    additionalProperties: false,
  },
};

const callZurich = { id: "call_a1", name: weather.name, input: { city: "Zürich 🏔", days: 2 } };
const callBasel = { id: "call_b2", name: weather.name, input: { city: "Basel" } };

test.for(table)("$name answers with text ($way)", async ({ way, ...provider }) => {
  const { model } = await startProvider(provider, [{ text: words, usage: { input: 12, output: 7 } }]);

  const { text, finish, usage } = await ways[way](model, { prompt: [say("Hi")] });

  expect(text).toBe(words);
  expect(finish?.unified).toBe("stop");
  expect(usage?.inputTokens.total).toBe(12);
  expect(usage?.outputTokens.total).toBe(7);
});

test.for(providers.flatMap((provider) => [1, 2, 3, 4, 5].map((seed) => ({ ...provider, seed }))))(
  "$name puts a stream together wherever it was split (seed $seed)",
  async ({ seed, ...provider }) => {
    const answer = { text: words.repeat(20), calls: [callZurich] };
    const { model } = await startProvider(provider, [answer], { seed });

    const { text, content, errors } = await ways.stream(model, { prompt: [say("Hi")], tools: [weather] });

    expect(errors).toEqual([]);
    expect(text).toBe(answer.text);
    expect(content.filter(({ type }) => type === "tool-call")).toMatchObject([{ input: expect.any(String) }]);
  },
);

test.for(table)("$name calls a tool ($way)", async ({ way, ...provider }) => {
  const { server, model } = await startProvider(provider, [{ calls: [callZurich] }]);

  const { content, finish } = await ways[way](model, { prompt: [say("Weather?")], tools: [weather] });

  const calls = content.filter((part) => part.type === "tool-call");
  expect(calls.map(({ toolName, input }) => [toolName, JSON.parse(input)])).toEqual([[weather.name, callZurich.input]]);
  expect(finish?.unified).toBe("tool-calls");
  expect(server.requests[0]?.tools).toMatchObject([
    {
      name: weather.name,
      description: weather.description,
      schema: { type: "object", required: ["city"], properties: { city: { type: "string", description: "its name" } } },
    },
  ]);
});

test.for(table)("$name calls a tool without input ($way)", async ({ way, ...provider }) => {
  const { model } = await startProvider(provider, [{ calls: [{ id: "call_1", name: "now", input: {} }] }]);
  const now: ModelTool = { type: "function", name: "now", inputSchema: { type: "object", properties: {} } };

  const { content } = await ways[way](model, { prompt: [say("Time?")], tools: [now] });

  const calls = content.filter((part) => part.type === "tool-call");
  expect(calls.map(({ input }) => JSON.parse(input || "{}"))).toEqual([{}]);
});

test.for(table)("$name calls several tools at once, and takes their results ($way)", async ({ way, ...provider }) => {
  const script: ScriptedAnswer[] = [{ text: "I look.", calls: [callZurich, callBasel] }, { text: "Rain, sun." }];
  const { server, model } = await startProvider(provider, script);
  const prompt = [{ role: "system" as const, content: "Be brief." }, say("Weather?")];

  const first = await ways[way](model, { prompt, tools: [weather] });
  const results = toToolMessage(first.content, (input) => `in ${(input as { city: string }).city}: 20 °C`);
  const next = [...prompt, toAssistantMessage(first.content), results];
  const second = await ways[way](model, { prompt: next, tools: [weather] });

  const ids = first.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
  expect(new Set(ids).size).toBe(2);
  expect(second.text).toBe("Rain, sun.");
  expect(server.requests[1]).toMatchObject({
    system: "Be brief.",
    calls: [{ input: callZurich.input }, { input: callBasel.input }],
    results: [{ text: "in Zürich 🏔: 20 °C" }, { text: "in Basel: 20 °C" }],
  });
});

test.for(table)("$name says that an answer was cut short ($way)", async ({ way, ...provider }) => {
  const { model } = await startProvider(provider, [{ text: "Once upon", isCutShort: true }]);

  const { text, finish } = await ways[way](model, { prompt: [say("A tale")], maxOutputTokens: 16 });

  expect(text).toBe("Once upon");
  expect(finish?.unified).toBe("length");
});

/** Ollama does not say what came from its cache, or what were thoughts. */
const counting = table.filter(({ name }) => name !== "ollama");

test.for(counting)("$name tells what came from the cache ($way)", async ({ way, ...provider }) => {
  const usage = { input: 1000, cacheRead: 600, cacheWrite: provider.name === "anthropic" ? 100 : 0, output: 50 };
  const { model } = await startProvider(provider, [{ text: "ok", usage }]);

  const { usage: told } = await ways[way](model, { prompt: [say("Hi")] });

  expect(told?.inputTokens).toMatchObject({
    total: 1000,
    cacheRead: 600,
    noCache: provider.name === "anthropic" ? 300 : 400,
  });
  if (provider.name === "anthropic") expect(told?.inputTokens.cacheWrite).toBe(100);
});

test.for(counting.filter(({ name }) => name !== "anthropic"))(
  "$name tells how many tokens were thoughts ($way)",
  async ({ way, ...provider }) => {
    const usage = { input: 10, output: 50, reasoning: 30 };
    const { model } = await startProvider(provider, [{ text: "ok", usage }]);

    const { usage: told } = await ways[way](model, { prompt: [say("Hi")] });

    expect(told?.outputTokens).toEqual({ total: 50, text: 20, reasoning: 30 });
  },
);

test.for(providers)("$name passes options on", async (provider) => {
  const { server, model } = await startProvider(provider, [{ text: "ok" }]);

  await model.doGenerate({ prompt: [say("Hi")], maxOutputTokens: 77, headers: { "x-own": "1" } });

  const [request] = server.requests;
  expect(JSON.stringify(request?.body)).toMatch(
    /"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens|num_predict)":77/u,
  );
  expect(request?.headers["x-own"]).toBe("1");
});

test.for(providers)("$name is told the schema of the answer", async (provider) => {
  const { server, model } = await startProvider(provider, [{ text: '{"city":"Bern"}' }]);
  const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;

  const { content } = await model.doGenerate({
    prompt: [say("The capital, as JSON")],
    responseFormat: { type: "json", schema: { ...schema, required: ["city"], additionalProperties: false } },
  });

  expect(content.find(({ type }) => type === "text")).toMatchObject({ text: '{"city":"Bern"}' });
  // A server that only copies OpenAI may not know schemas: the package then asks for JSON, and warns.
  const told = JSON.stringify(server.requests[0]?.body);
  if (provider.name === "openai-compatible") expect(told).toContain('"json_object"');
  else expect(told).toContain('"city"');
});
