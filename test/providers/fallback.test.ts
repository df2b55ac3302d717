import { expect, test } from "vitest";

import { toImagePart } from "../../src/models/images/to-image-part.ts";
import type { Model, ModelTool } from "../../src/models/model.ts";
import { fallback, type Fallback } from "../../src/models/route/fallback.ts";
import type { ScriptedAnswer, ScriptedCall, ScriptedReply } from "../support/model-server-answer.ts";
import type { ReceivedRequest } from "../support/model-server.ts";
import { makeImage } from "../support/make-image.ts";
import { say, toAssistantMessage, toToolMessage, ways } from "./conversation.ts";
import { providers, resolveProvider, startProvider, type Provider } from "./providers.ts";

const clock: ModelTool = {
  type: "function",
  name: "clock",
  inputSchema: { type: "object", properties: { zone: { type: "string" } } },
};

const calls: readonly ScriptedCall[] = [
  { id: "call_1", name: "clock", input: { zone: "Europe/Zurich" } },
  { id: "call_2", name: "clock", input: { zone: "Asia/Tokyo" } },
];

const pairs = providers.flatMap((first) =>
  providers
    .filter(({ name }) => name !== first.name)
    .map((second) => ({ from: first.name, to: second.name, first, second })),
);

test.for(pairs)("fallback() goes on with $to where $from thought and called tools", async ({ first, second }) => {
  const thought: ScriptedAnswer = {
    reasoning: { text: "Two clocks.", signature: "sig+one/==" },
    text: "I look.",
    calls,
  };
  const { model, servers, switches } = await startPair(first, second, [thought, { status: 529, message: "busy" }]);
  const prompt = [say("What time is it?")];

  const before = await ways.stream(model, { prompt, tools: [clock], reasoning: "medium" });
  prompt.push(
    toAssistantMessage(before.content),
    toToolMessage(before.content, () => "12:00"),
  );
  const after = await ways.stream(model, { prompt, tools: [clock], reasoning: "medium" });

  expect(after.text).toBe("Noon.");
  expect(switches).toMatchObject([{ error: { code: "model-overloaded" } }]);
  const [request] = servers[1]?.requests ?? [];
  expect(request).toMatchObject({
    calls: calls.map(({ name, input }) => ({ name, input })),
    results: [{ text: "12:00" }, { text: "12:00" }],
  });
  expect(JSON.stringify(request?.body)).not.toContain("sig+one");
});

const compatible = providers.find(({ name }) => name === "openai-compatible")!;

/** Ids as Kimi and vLLM give them. */
const oddCalls: readonly ScriptedCall[] = [
  { ...calls[0]!, id: "functions.clock:0" },
  { ...calls[1]!, id: `chatcmpl-tool-${"0123456789abcdef".repeat(4)}` },
];

test.for(providers)("fallback() goes on with $name whatever ids another gave to its calls", async (provider) => {
  const { model, servers } = await startPair(compatible, provider, [
    { calls: oddCalls },
    { status: 503, message: "busy" },
  ]);
  const prompt = [say("What time is it?")];

  const before = await ways.stream(model, { prompt, tools: [clock] });
  prompt.push(
    toAssistantMessage(before.content),
    toToolMessage(before.content, (input) => `in ${(input as { zone: string }).zone}`),
  );
  const after = await ways.stream(model, { prompt, tools: [clock] });

  expect(after.text).toBe("Noon.");
  expect(servers[1]?.requests[0]).toMatchObject({
    calls: oddCalls.map(({ input }) => ({ input })),
    results: oddCalls.map(({ input }) => ({ text: `in ${String(input["zone"])}` })),
  });
});

test.for(providers)("$name by its name goes on with a conversation of another model", async (provider) => {
  const { model: first } = await startProvider(compatible, [{ calls: oddCalls }]);
  const { server, model } = await resolveProvider(provider, [{ text: "Noon." }]);
  const prompt = [say("What time is it?")];

  const before = await ways.stream(first, { prompt, tools: [clock] });
  prompt.push(
    toAssistantMessage(before.content),
    toToolMessage(before.content, () => "12:00"),
  );
  const after = await ways.generate(model, { prompt, tools: [clock] });

  expect(after.text).toBe("Noon.");
  const ids = server.requests[0]?.calls.map(({ id }) => id) ?? [];
  // A server that copies OpenAI may be the one that gave them, and want them back. Google knows none.
  const isSame = provider.name === "openai-compatible" || provider.name === "ollama";
  if (provider.name !== "google") expect(ids.every((id, index) => (id === oddCalls[index]?.id) === isSame)).toBe(true);
});

test.for(pairs)("fallback() gives $to a picture that $from took and it does not", async ({ first, second }) => {
  const { model, servers } = await startPair(first, second, [{ status: 503, message: "busy" }]);
  const picture = await toImagePart(await makeImage("gif", { width: 8, height: 6 }));

  const answer = await ways.stream(model, { prompt: [say("What is it?"), { role: "user", content: [picture] }] });

  expect(answer.text).toBe("Noon.");
  expect(servers[1]?.requests[0]?.images).toHaveLength(1);
});

async function startPair(
  first: Provider,
  second: Provider,
  script: readonly ScriptedReply[],
): Promise<{ model: Model; servers: readonly { requests: readonly ReceivedRequest[] }[]; switches: Fallback[] }> {
  const one = await startProvider(first, script);
  const two = await startProvider(second, [{ text: "Noon." }]);
  const switches: Fallback[] = [];
  const model = fallback([one.model, two.model], { onFallback: (each) => switches.push(each) });
  return { model, servers: [one.server, two.server], switches };
}
