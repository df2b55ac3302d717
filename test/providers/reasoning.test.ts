import { expect, test } from "vitest";

import type { ModelTool } from "../../src/models/model.ts";
import type { ScriptedAnswer } from "../support/model-server-answer.ts";
import { say, toAssistantMessage, toToolMessage, wayNames, ways } from "./conversation.ts";
import { providers, startProvider } from "./providers.ts";

const table = providers.flatMap((provider) => wayNames.map((way) => ({ ...provider, way })));
const signed = table.filter(({ signature }) => signature !== "none");

const clock: ModelTool = {
  type: "function",
  name: "clock",
  inputSchema: { type: "object", properties: { zone: { type: "string" } } },
};

const calls = [
  { id: "call_1", name: "clock", input: { zone: "Europe/Zurich" } },
  { id: "call_2", name: "clock", input: { zone: "Asia/Tokyo" } },
];

/** What makes each of them think, and keep what it thought with the caller instead of at the provider. */
const thinking = {
  providerOptions: {
    openai: { store: false, include: ["reasoning.encrypted_content"], reasoningSummary: "auto" },
    anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } },
    google: { thinkingConfig: { includeThoughts: true } },
  },
};

test.for(signed)("$name gets the signatures of its thoughts back, over three turns ($way)", async (row) => {
  const { way, ...provider } = row;
  const script: ScriptedAnswer[] = [
    { reasoning: { text: "Two clocks 🕰.", signature: "sig+one/==" }, text: "I look.", calls },
    { reasoning: { text: "Once more.", signature: "sig+two/==" }, calls: [{ ...calls[0]!, id: "call_3" }] },
    { reasoning: { text: "Enough.", signature: "sig+three/==" }, text: "Noon." },
    { text: "You are welcome." },
  ];
  const { server, model } = await startProvider(provider, script);
  const prompt = [say("What time is it?")];

  for (const _step of [1, 2, 3]) {
    const { content } = await ways[way](model, { prompt, tools: [clock], ...thinking });
    prompt.push(toAssistantMessage(content));
    const results = toToolMessage(content, () => "12:00");
    prompt.push(results.content.length > 0 ? results : say("Thanks"));
  }
  const last = await ways[way](model, { prompt, tools: [clock], ...thinking });

  expect(last.text).toBe("You are welcome.");
  expect(server.requests.map(({ signatures }) => signatures)).toEqual([
    [],
    ["sig+one/=="],
    ["sig+one/==", "sig+two/=="],
    ["sig+one/==", "sig+two/==", "sig+three/=="],
  ]);
});

test.for(table.filter(({ name }) => name !== "openai-chat"))("$name shows its thoughts ($way)", async (row) => {
  const { way, ...provider } = row;
  const answer = { reasoning: { text: "Hm, 思考… 🤔", signature: "sig" }, text: "42" };
  const { model } = await startProvider(provider, [answer]);

  const { text, reasoning } = await ways[way](model, { prompt: [say("Why?")], ...thinking });

  expect(reasoning).toBe("Hm, 思考… 🤔");
  expect(text).toBe("42");
});

test.for(["anthropic", "openai-responses"] as const)("%s refuses thoughts with a forged signature", async (name) => {
  const provider = providers.find((each) => each.name === name)!;
  const { model } = await startProvider(provider, [{ reasoning: { text: "x", signature: "true" }, text: "y" }]);
  const { content } = await ways.generate(model, { prompt: [say("Hi")], ...thinking });
  const forged = JSON.parse(JSON.stringify(content).replaceAll('"true"', '"forged"')) as typeof content;

  const answer = ways.generate(model, { prompt: [say("Hi"), toAssistantMessage(forged), say("?")], ...thinking });

  await expect(answer).rejects.toMatchObject({ statusCode: 400 });
});

test.for(["anthropic", "openai-responses"] as const)("%s refuses calls whose thoughts were dropped", async (name) => {
  const provider = providers.find((each) => each.name === name)!;
  const { model } = await startProvider(provider, [{ reasoning: { text: "x", signature: "true" }, calls }]);
  const { content } = await ways.generate(model, { prompt: [say("Hi")], tools: [clock], ...thinking });
  const bare = content.filter(({ type }) => type !== "reasoning");
  const prompt = [say("Hi"), toAssistantMessage(bare), toToolMessage(bare, () => "12:00")];

  const answer = ways.generate(model, { prompt, tools: [clock], ...thinking });

  await expect(answer).rejects.toMatchObject({ statusCode: 400 });
});
