import { expect, test } from "vitest";

import {
  apiError,
  type FakeClock,
  fakeClock,
  finishPart,
  question,
  readParts,
  scriptedModel,
  textOf,
  textParts,
  type Turn,
} from "../../../test/support/scripted-models.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { Model, ModelCall, ModelPart, ModelPrompt } from "../model.ts";
import { withRetries } from "../retry/with-retries.ts";
import { withSettings } from "../resolve/with-settings.ts";
import { withSafeIds } from "../shims/call-ids.ts";
import { balance } from "./balance.ts";
import { fallback, type Fallback } from "./fallback.ts";

const openai = { provider: "openai.responses", modelId: "gpt-6-sol" };
const anthropic = { provider: "anthropic.messages", modelId: "claude-sonnet-5" };
const google = { provider: "google.generative-ai", modelId: "gemini-3.8-flash" };
const good: Turn = { parts: textParts("Hel", "lo") };
const overloaded: Turn = { fails: apiError(529, "Overloaded") };

test("fallback() asks only the first model as long as it answers", async () => {
  const [first, second] = [scriptedModel([good], openai), scriptedModel([good], anthropic)];

  const parts = await readParts(fallback([first, second]));

  expect(textOf(parts)).toBe("Hello");
  expect(parts.at(-1)).toMatchObject({ providerMetadata: { kitbag: { model: "openai/gpt-6-sol" } } });
  expect(second.calls).toEqual([]);
});

test.for([
  ["model-overloaded", overloaded],
  ["model-overloaded", { fails: apiError(429) }],
  ["model-overloaded", { fails: apiError(402, "no money left") }],
  ["model-unavailable", { fails: apiError(500) }],
  ["model-unavailable", { fails: new TypeError("fetch failed") }],
  ["model-unavailable", { parts: textParts().slice(0, 3), then: { breaks: new TypeError("terminated") } }],
  ["model-overloaded", { parts: [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }] }],
  ["model-context-exceeded", { fails: apiError(400, "prompt is too long: 300000 tokens > 200000 maximum") }],
] as const)("fallback() asks the next model after %s, and says so", async ([code, turn]) => {
  const seen: Fallback[] = [];
  const [first, second] = [scriptedModel([turn], openai), scriptedModel([good], { provider: "acme", modelId: "two" })];

  const parts = await readParts(fallback([first, second], { onFallback: (event) => seen.push(event) }));

  expect(textOf(parts)).toBe("Hello");
  expect(parts.at(-1)).toMatchObject({ providerMetadata: { kitbag: { model: "acme/two" } } });
  expect(seen).toMatchObject([{ from: "openai/gpt-6-sol", to: "acme/two", error: { code } }]);
});

test.for(["interrupted", "error"] as const)(
  "fallback() asks the next model when a whole answer ends as %s before anything was said",
  async (reason) => {
    const model = fallback([
      scriptedModel([{ parts: [finishPart(reason)] }], openai),
      scriptedModel([good], anthropic),
    ]);

    expect((await model.doGenerate(question)).content).toEqual([{ type: "text", text: "Hello" }]);
  },
);

test("fallback() asks the next model for whole answers too", async () => {
  const model = fallback([scriptedModel([overloaded], openai), scriptedModel([good], anthropic)]);

  const answer = await model.doGenerate(question);

  expect(answer.content).toEqual([{ type: "text", text: "Hello" }]);
  expect(answer.providerMetadata).toMatchObject({ kitbag: { model: "anthropic/claude-sonnet-5" } });
});

test("fallback() asks the next model after a time-out", async () => {
  const clock = fakeClock();
  const slow = withRetries(scriptedModel([{ hangs: true }], openai), { clock, firstPartMs: 1000, maxRetries: 0 });

  const asked = readParts(fallback([slow, scriptedModel([good], anthropic)]));
  await clock.advance(1000);

  expect(textOf(await asked)).toBe("Hello");
});

const hung: Turn = { hangs: true };
const hangsInside: Turn = { parts: textParts().slice(0, 3), then: "hang" };

test.for([
  ["of its own", (models: Model[], clock: FakeClock) => fallback(models, { clock, firstPartMs: 1500 })],
  [
    "of withRetries() around it",
    (models: Model[], clock: FakeClock) =>
      withRetries(fallback(models, { clock }), { clock, firstPartMs: 1500, maxRetries: 1 }),
  ],
  [
    "of withRetries() around other wrappers",
    (models: Model[], clock: FakeClock) =>
      withRetries(withSafeIds(withSettings(fallback(models, { clock }), { temperature: 0 })), {
        clock,
        firstPartMs: 1500,
      }),
  ],
  [
    "of a group around it",
    (models: Model[], clock: FakeClock) =>
      fallback([balance([{ model: fallback(models, { clock }) }], { clock })], { clock, firstPartMs: 1500 }),
  ],
] as const)("fallback() gives each of its models the time limits %s", async ([, make]) => {
  const clock = fakeClock();
  const models = [
    scriptedModel([hung], openai),
    scriptedModel([hangsInside], google),
    scriptedModel([good], anthropic),
  ];

  const asked = readParts(make(models, clock));
  await clock.advance(3000);

  expect(textOf(await asked)).toBe("Hello");
  expect(models.map(({ calls }) => calls.length)).toEqual([1, 1, 1]);
  expect(models[0]?.calls[0]?.abortSignal?.aborted).toBe(true);
  expect(clock.running()).toBe(0);
});

test("fallback() waits for a model as long as is usual for its provider, with or without a stream", async () => {
  const clock = fakeClock();
  const seen: Fallback[] = [];
  const models = [scriptedModel([hung], anthropic), scriptedModel([hung], google), scriptedModel([good], openai)];
  const model = fallback(models, { clock, restMs: 0, onFallback: (event) => seen.push(event) });

  const asked = readParts(model);
  await clock.advance(180_000);
  await asked;
  const whole = model.doGenerate(question);
  await clock.advance(900_000);
  await whole;

  expect(seen.map(({ error }) => error.details)).toMatchObject([
    { phase: "first part", limitMs: 60_000 },
    { phase: "first part", limitMs: 120_000 },
    { phase: "request", limitMs: 300_000 },
    { phase: "request", limitMs: 600_000 },
  ]);
});

test("fallback() leaves the time limits of a model of its own to that model", async () => {
  const clock = fakeClock();
  const slow = withRetries(scriptedModel([hung], anthropic), { clock, firstPartMs: 500_000, maxRetries: 0 });
  const model = fallback([slow, scriptedModel([good], openai)], { clock });

  const asked = readParts(model);
  await clock.advance(499_999);
  const early = clock.running();
  await clock.advance(1);

  expect(textOf(await asked)).toBe("Hello");
  expect(early).toBeGreaterThan(0);
});

test("fallback() begins with the next model for a while after one hung, and then with the first again", async () => {
  const clock = fakeClock();
  const first = scriptedModel([hung, good], openai);
  const second = scriptedModel([good], anthropic);
  const model = fallback([first, second], { clock, firstPartMs: 1000, restMs: 20_000 });

  const asked = readParts(model);
  await clock.advance(1000);
  await asked;
  await readParts(model);
  await clock.advance(19_999);
  await readParts(model);
  const resting = first.calls.length;
  await clock.advance(1);
  await readParts(model);

  expect(resting).toBe(1);
  expect([first.calls.length, second.calls.length]).toEqual([2, 3]);
});

test("fallback() waits for each model once if all hang", async () => {
  const clock = fakeClock();
  const models = [scriptedModel([hung], openai), scriptedModel([hung], anthropic)];

  const asked = failureOf(readParts(withRetries(fallback(models, { clock }), { clock, firstPartMs: 1000 })));
  await clock.advance(60_000);

  expect(await asked).toMatchObject({ code: "model-timeout" });
  expect(models.map(({ calls }) => calls.length)).toEqual([1, 1]);
});

test("fallback() begins with the next model after an answer that broke off, and asks a resting one if no other is left", async () => {
  const clock = fakeClock();
  const torn: Turn = { parts: textParts("Hel").slice(0, 4), then: { breaks: new TypeError("terminated") } };
  const first = scriptedModel([torn, good], openai);
  const second = scriptedModel([good, overloaded], anthropic);
  const model = fallback([first, second], { clock });

  const texts = [textOf(await readParts(model)), textOf(await readParts(model)), textOf(await readParts(model))];

  expect(texts).toEqual(["Hel", "Hello", "Hello"]);
  expect([first.calls.length, second.calls.length]).toEqual([2, 2]);
});

test.for([
  { restMs: -1 },
  { restMs: Number.NaN },
  { firstPartMs: 0 },
  { partMs: Number.NaN },
  { requestMs: "1" as never },
])("fallback() refuses the options %j", (options) => {
  expect(() => fallback([scriptedModel([good])], options)).toThrow(/^Cannot use "/u);
});

test.for([400, 401, 403, 404, 422])("fallback() does not hide the status %s", async (status) => {
  const second = scriptedModel([good], anthropic);

  await expect(readParts(fallback([scriptedModel([{ fails: apiError(status) }]), second]))).rejects.toMatchObject({
    details: { status },
  });
  expect(second.calls).toEqual([]);
});

test("fallback() goes on after the failures that it is told", async () => {
  const denied = scriptedModel([{ fails: apiError(401) }]);
  const byCode = fallback([denied, scriptedModel([good])], { on: ["model-denied"] });
  const byFunction = fallback([denied, scriptedModel([good])], { on: ({ code }) => code === "model-denied" });
  const never = fallback([scriptedModel([overloaded]), scriptedModel([good])], { on: [] });

  expect(textOf(await readParts(byCode))).toBe("Hello");
  expect(textOf(await readParts(byFunction))).toBe("Hello");
  await expect(readParts(never)).rejects.toMatchObject({ code: "model-overloaded" });
});

test("fallback() fails as the last model does when all fail", async () => {
  const models = [overloaded, { fails: apiError(500, "first") }, { fails: apiError(502, "last") }].map((turn) =>
    scriptedModel([turn]),
  );

  await expect(readParts(fallback(models))).rejects.toMatchObject({
    code: "model-unavailable",
    details: { reason: "last" },
  });
  expect(models.map(({ calls }) => calls.length)).toEqual([1, 1, 1]);
});

test("fallback() starts with the first model again at each question", async () => {
  const first = scriptedModel([overloaded, good], openai);
  const model = fallback([first, scriptedModel([good], anthropic)]);

  const ends = [(await readParts(model)).at(-1), (await readParts(model)).at(-1)];

  expect(ends).toMatchObject([
    { providerMetadata: { kitbag: { model: "anthropic/claude-sonnet-5" } } },
    { providerMetadata: { kitbag: { model: "openai/gpt-6-sol" } } },
  ]);
});

test("fallback() never asks another model once something was shown", async () => {
  const second = scriptedModel([good], anthropic);
  const turn: Turn = { parts: textParts("Hel").slice(0, 4), then: { breaks: new TypeError("terminated") } };

  const parts = await readParts(fallback([scriptedModel([turn], openai), second]));

  expect(textOf(parts)).toBe("Hel");
  expect(parts.slice(-2)).toMatchObject([
    { type: "error", error: { code: "model-unavailable" } },
    { type: "finish", finishReason: { unified: "interrupted" } },
  ]);
  expect(second.calls).toEqual([]);
});

test("fallback() gives a prompt that is too long only to models that read more", async () => {
  const long: Turn = { fails: apiError(400, "prompt is too long") };
  const sizes = new Map([
    ["small", 100],
    ["smaller", 50],
    ["large", 1000],
  ]);
  const models = ["small", "smaller", "large"].map((modelId) =>
    scriptedModel([modelId === "large" ? good : long], { modelId }),
  );
  const contextOf = ({ modelId }: Model): number | undefined => sizes.get(modelId);

  expect(textOf(await readParts(fallback(models, { contextOf })))).toBe("Hello");
  expect(models.map(({ calls }) => calls.length)).toEqual([1, 0, 1]);
  await expect(readParts(fallback(models.slice(0, 2), { contextOf }))).rejects.toMatchObject({
    code: "model-context-exceeded",
  });
});

test("fallback() knows from the table which models read more", async () => {
  const long: Turn = { fails: apiError(400, "prompt is too long") };
  const haiku = scriptedModel([long], { provider: "anthropic.messages", modelId: "claude-haiku-4-5" });
  const mini = scriptedModel([good], { provider: "openai.chat", modelId: "gpt-4o-mini" });
  const sol = scriptedModel([good], openai);

  await readParts(fallback([haiku, mini, sol]));

  expect([mini.calls.length, sol.calls.length]).toEqual([0, 1]);
});

test("fallback() ends at once when it is aborted", async () => {
  const second = scriptedModel([good]);
  const call = { ...question, abortSignal: AbortSignal.abort(new Error("stop")) };

  await expect(readParts(fallback([scriptedModel([overloaded]), second]), call)).rejects.toThrow("stop");
  expect(second.calls).toEqual([]);
});

test("withRetries() around fallback() asks all of them again, and those that tried enough no more", async () => {
  const clock = fakeClock();
  const plain = [scriptedModel([overloaded]), scriptedModel([overloaded, good])];
  const tried = [scriptedModel([overloaded]), scriptedModel([overloaded])];

  const works = readParts(withRetries(fallback(plain), { clock }));
  const fails = readParts(
    withRetries(fallback(tried.map((model) => withRetries(model, { clock, maxRetries: 1 }))), { clock }),
  ).catch((cause: unknown) => cause);
  await clock.advance(60_000);

  expect(textOf(await works)).toBe("Hello");
  expect(isKitbagError(await fails, "model-overloaded")).toBe(true);
  expect(tried.map(({ calls }) => calls.length)).toEqual([2, 2]);
});

test("fallback() takes out of a prompt what only another provider understands", async () => {
  const [first, second] = [scriptedModel([overloaded], openai), scriptedModel([good], anthropic)];

  await readParts(fallback([first, second]), { prompt: mixedPrompt(), tools: [...providerTools()] });

  expect(second.calls[0]?.tools).toEqual([{ type: "provider", id: "anthropic.web_search", name: "web", args: {} }]);
  expect(second.calls[0]?.prompt).toEqual([
    { role: "system", content: "Be brief" },
    {
      role: "user",
      content: [
        {
          type: "file",
          mediaType: "image/png",
          data: { type: "reference", reference: { anthropic: "f1", openai: "f2" } },
        },
        {
          type: "text",
          text: '[The file "a.pdf" (application/pdf) is kept with another provider and cannot be shown]',
        },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "own", providerOptions: { anthropic: { signature: "s" } } },
        { type: "reasoning", text: "of nobody" },
        { type: "text", text: "said" },
        { type: "tool-call", toolCallId: "1", toolName: "look", input: {} },
        { type: "text", text: '[The tool web gave: {"hits":3}]' },
      ],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "1",
          toolName: "look",
          output: {
            type: "content",
            value: [{ type: "text", text: "[The file (image/png) is kept with another provider and cannot be shown]" }],
          },
        },
      ],
    },
  ]);
});

test("fallback() gives a model its own parts back as they were", async () => {
  const metadata = { openai: { itemId: "rs_1", reasoningEncryptedContent: "x" } };
  const parts: ModelPart[] = [
    { type: "reasoning-start", id: "1" },
    { type: "reasoning-delta", id: "1", delta: "hm" },
    { type: "reasoning-end", id: "1", providerMetadata: metadata },
    ...textParts("a").slice(2),
  ];
  const [first, second] = [scriptedModel([{ parts }, good, overloaded], openai), scriptedModel([good], anthropic)];
  const model = fallback([first, second]);
  const answer = await readParts(model);
  const end = answer.find((part) => part.type === "reasoning-end");
  const options = end?.providerMetadata ?? {};
  const prompt: ModelPrompt = [
    ...question.prompt,
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", providerOptions: options },
        { type: "text", text: "a" },
      ],
    },
  ];

  await readParts(model, { prompt });
  await readParts(model, { prompt });

  expect(options).toEqual({ ...metadata, kitbag: { model: "openai/gpt-6-sol", by: "openai/gpt-6-sol" } });
  expect(first.calls[1]?.prompt[1]).toEqual({
    role: "assistant",
    content: [
      { type: "reasoning", text: "hm", providerOptions: metadata },
      { type: "text", text: "a" },
    ],
  });
  expect(second.calls[0]?.prompt[1]).toEqual({ role: "assistant", content: [{ type: "text", text: "a" }] });
});

test("fallback() around balance(): each key gets back its own ids, and no other one's", async () => {
  const metadata = { openai: { itemId: "msg_1" } };
  const parts: ModelPart[] = [
    ...textParts("a").slice(0, 4),
    { type: "text-end", id: "1", providerMetadata: metadata },
    finishPart("stop"),
  ];
  const keys = [scriptedModel([{ parts }], openai), scriptedModel([{ parts }], openai)];
  const chances = [0.9, 0.9, 0];
  const shared = balance(
    keys.map((model) => ({ model })),
    { random: () => chances.shift() ?? 0 },
  );
  const model = fallback([shared, scriptedModel([good], anthropic)]);
  const answer = await readParts(model);
  const providerOptions = answer.find((part) => part.type === "text-end")?.providerMetadata ?? {};
  const prompt: ModelPrompt = [{ role: "assistant", content: [{ type: "text", text: "a", providerOptions }] }];

  await readParts(model, { prompt });
  await readParts(model, { prompt });

  expect(providerOptions).toMatchObject({
    kitbag: { model: "openai/gpt-6-sol", by: "openai/gpt-6-sol > openai/gpt-6-sol#2" },
  });
  expect(keys[1]?.calls[1]?.prompt).toEqual([
    { role: "assistant", content: [{ type: "text", text: "a", providerOptions: metadata }] },
  ]);
  expect(keys[0]?.calls[0]?.prompt).toEqual([{ role: "assistant", content: [{ type: "text", text: "a" }] }]);
});

test("fallback() takes a mark that is none as none", async () => {
  const first = scriptedModel([good], openai);
  const odd = [7, null, { by: 7 }, { by: ["x"] }, { by: { a: 1 } }].map((kitbag) => ({
    type: "text" as const,
    text: "a",
    providerOptions: { kitbag } as unknown as Record<string, Record<string, string>>,
  }));
  const prompt: ModelPrompt = [{ role: "assistant", content: odd }];

  await readParts(fallback([first]), { prompt });

  expect(first.calls[0]?.prompt).toBe(prompt);
});

test("fallback() leaves out a message of which nothing is left", async () => {
  const second = scriptedModel([good], anthropic);
  const prompt: ModelPrompt = [
    ...question.prompt,
    {
      role: "assistant",
      content: [{ type: "reasoning", text: "hm", providerOptions: { google: { thoughtSignature: "t" } } }],
    },
  ];

  await readParts(fallback([scriptedModel([overloaded], google), second]), { prompt });

  expect(second.calls[0]?.prompt).toEqual(question.prompt);
});

test("fallback() passes on a prompt with nothing foreign in it as it is", async () => {
  const first = scriptedModel([good], openai);
  const call: ModelCall = { prompt: question.prompt };

  await readParts(fallback([first]), call);

  expect(first.calls[0]?.prompt).toBe(call.prompt);
});

test("fallback() gives a model of another provider the tools that Anthropic's was given in the conversation, and says so in words", async () => {
  const [first, second] = [scriptedModel([overloaded], anthropic), scriptedModel([good], google)];
  const tool = (name: string) => ({ type: "function" as const, name, description: "Does it", inputSchema: {} });
  const change = (...toolChanges: readonly object[]): ModelPrompt[number] => ({
    role: "system",
    content: "",
    providerOptions: { anthropic: { toolChanges: toolChanges as never }, kitbag: { pinned: true } },
  });
  const call: ModelCall = {
    tools: [tool("activate_skill")],
    prompt: [
      ...question.prompt,
      change({ type: "tool_addition", tool: tool("a__one") }, { type: "tool_addition", tool: tool("a__two") }),
      change({ type: "tool_removal", toolName: "a__one" }),
    ],
  };

  await readParts(fallback([first, second]), call);

  expect(first.calls[0]).toMatchObject({ prompt: call.prompt, tools: call.tools });
  expect(second.calls[0]?.tools?.map(({ name }) => name)).toEqual(["activate_skill", "a__two"]);
  expect(second.calls[0]?.prompt.slice(-2)).toEqual([
    toSaid("Tools that can be called from now on: a__one, a__two."),
    toSaid("Tools that cannot be called any more: a__one."),
  ]);
});

function toSaid(text: string): ModelPrompt[number] {
  return { role: "user", content: [{ type: "text", text }], providerOptions: { kitbag: { pinned: true } } };
}

test("fallback() reads only the URLs that all of its models read", async () => {
  const images = [/^https:\/\/a\//u, /^https:\/\/b\//u];
  const one: Model = { ...scriptedModel([]), supportedUrls: { "image/*": images, "application/pdf": images } };
  const two: Model = { ...scriptedModel([]), supportedUrls: Promise.resolve({ "image/*": [/^https:\/\/b\//u] }) };

  expect(await fallback([one, two]).supportedUrls).toEqual({ "image/*": [/^https:\/\/b\//u] });
});

test("fallback() stops the model when nobody wants the rest of the answer", async () => {
  const inner = scriptedModel([{ parts: textParts("Hel").slice(0, 4), then: "hang" }]);
  const reader = (await fallback([inner]).doStream(question)).stream.getReader();

  await reader.read();
  await reader.cancel();

  expect(inner.cancelled()).toBe(1);
});

test("fallback() needs a model", () => {
  expect(() => fallback([])).toThrow(/at least one model/u);
});

function providerTools(): NonNullable<ModelCall["tools"]> {
  return [
    { type: "provider", id: "openai.web_search", name: "web", args: {} },
    { type: "provider", id: "anthropic.web_search", name: "web", args: {} },
  ];
}

/** What is left in a conversation in which several providers had their say. */
function mixedPrompt(): ModelPrompt {
  const mine = { openai: { itemId: "i1" }, kitbag: { by: "openai/gpt-6-sol" } };
  return [
    { role: "system", content: "Be brief" },
    {
      role: "user",
      content: [
        {
          type: "file",
          mediaType: "image/png",
          data: { type: "reference", reference: { anthropic: "f1", openai: "f2" } },
        },
        {
          type: "file",
          mediaType: "application/pdf",
          filename: "a.pdf",
          data: { type: "reference", reference: { openai: "f3" } },
        },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "another's", providerOptions: mine },
        { type: "reasoning", text: "another's too", providerOptions: { google: { thoughtSignature: "t" } } },
        { type: "reasoning", text: "own", providerOptions: { anthropic: { signature: "s" } } },
        { type: "reasoning", text: "of nobody" },
        { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: "aGk=" }, providerOptions: mine },
        { type: "custom", kind: "openai.note" },
        { type: "text", text: "said", providerOptions: mine },
        { type: "tool-call", toolCallId: "1", toolName: "look", input: {}, providerOptions: mine },
        {
          type: "tool-call",
          toolCallId: "2",
          toolName: "web",
          input: {},
          providerExecuted: true,
          providerOptions: mine,
        },
        { type: "tool-result", toolCallId: "2", toolName: "web", output: { type: "json", value: { hits: 3 } } },
      ],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "1",
          toolName: "look",
          output: {
            type: "content",
            value: [{ type: "file", mediaType: "image/png", data: { type: "reference", reference: { openai: "f4" } } }],
          },
        },
      ],
    },
  ];
}

async function failureOf(asked: Promise<unknown>): Promise<unknown> {
  return asked.then(
    () => undefined,
    (cause: unknown) => cause,
  );
}
