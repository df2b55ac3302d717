import type {
  LanguageModelV2,
  LanguageModelV2CallOptions,
  LanguageModelV2Content,
  LanguageModelV2FinishReason,
  LanguageModelV2StreamPart,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3StreamPart,
} from "@ai-sdk/provider";
import { expect, test } from "vitest";

import { isKitbagError } from "../../core/errors.ts";
import type { Model, ModelCall, ModelMessage, ModelPart, ModelPrompt } from "../model.ts";
import { asModel, type AnyModel } from "./as-model.ts";

const bytes = new Uint8Array([104, 105]);
const url = new URL("https://files.example/cat.png");
const signature = { anthropic: { signature: "s1" } };

/** Every part that a prompt of version 4 can have. */
const prompt: ModelPrompt = [
  { role: "system", content: "Be brief", providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } },
  {
    role: "user",
    content: [
      { type: "text", text: "Look", providerOptions: signature },
      { type: "file", mediaType: "image/png", data: { type: "data", data: bytes }, filename: "a.png" },
      { type: "file", mediaType: "image", data: { type: "data", data: "aGk=" } },
      { type: "file", mediaType: "image/png", data: { type: "url", url } },
      { type: "file", mediaType: "text/plain", data: { type: "text", text: "hi" } },
      {
        type: "file",
        mediaType: "application/pdf",
        data: { type: "reference", reference: { acme: "file-7", other: "x" } },
      },
    ],
  },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "Hm", providerOptions: signature },
      { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: bytes } },
      { type: "custom", kind: "acme.note" },
      { type: "text", text: "I see" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: bytes } },
      { type: "tool-call", toolCallId: "1", toolName: "look", input: { at: "cat" }, providerOptions: signature },
      { type: "tool-call", toolCallId: "2", toolName: "search", input: {}, providerExecuted: true },
      { type: "tool-result", toolCallId: "2", toolName: "search", output: { type: "json", value: [1] } },
    ],
  },
  {
    role: "tool",
    content: [
      result({ type: "text", value: "ok" }),
      result({ type: "json", value: { a: 1 } }),
      result({ type: "error-text", value: "no" }),
      result({ type: "error-json", value: null }),
      result({ type: "execution-denied", reason: "too late" }),
      result({ type: "execution-denied" }),
      result({
        type: "content",
        value: [
          { type: "text", text: "t" },
          { type: "file", mediaType: "image/png", data: { type: "data", data: bytes }, providerOptions: signature },
          { type: "file", mediaType: "application/pdf", data: { type: "data", data: "aGk=" }, filename: "a.pdf" },
          { type: "file", mediaType: "image", data: { type: "url", url } },
          { type: "file", mediaType: "application/pdf", data: { type: "url", url } },
          { type: "file", mediaType: "image/png", data: { type: "reference", reference: { acme: "f1" } } },
          { type: "file", mediaType: "text/csv", data: { type: "reference", reference: { acme: "f2" } } },
          { type: "file", mediaType: "text/plain", data: { type: "text", text: "hello" } },
          { type: "custom", providerOptions: signature },
        ],
      }),
      { type: "tool-approval-response", approvalId: "p1", approved: true },
    ],
  },
];

const call: ModelCall = {
  prompt,
  temperature: 0.5,
  reasoning: "high",
  tools: [
    { type: "function", name: "look", inputSchema: { type: "object" }, strict: true, inputExamples: [{ input: {} }] },
    { type: "provider", id: "acme.search", name: "search", args: { most: 3 } },
  ],
  toolChoice: { type: "auto" },
};

test("asModel() gives back a model of version 4 as it is", () => {
  const model = { ...v3Model(), specificationVersion: "v4" } as unknown as Model;

  expect(asModel(model)).toBe(model);
});

test("asModel() makes one model of an old one, however often it is asked", () => {
  const old = v3Model();

  expect(asModel(old)).toBe(asModel(old));
  expect(asModel(old)).toMatchObject({ specificationVersion: "v4", provider: "acme.chat", modelId: "three" });
});

test("asModel() asks an old model for its URLs only when somebody wants them", async () => {
  let asked = 0;
  const old: LanguageModelV3 = {
    ...v3Model(),
    get supportedUrls() {
      asked += 1;
      return { "image/*": [/./u] };
    },
  };

  const model = asModel(old);
  const askedBefore = asked;

  expect(askedBefore).toBe(0);
  expect(await model.supportedUrls).toEqual({ "image/*": [/./u] });
});

test("asModel() writes every part of a prompt as version 3 has it", async () => {
  const seen: LanguageModelV3CallOptions[] = [];

  await asModel(v3Model({ seen })).doGenerate(call);

  expect(seen[0]?.prompt).toEqual([
    prompt[0],
    {
      role: "user",
      content: [
        { type: "text", text: "Look", providerOptions: signature },
        { type: "file", mediaType: "image/png", data: bytes, filename: "a.png" },
        { type: "file", mediaType: "image/*", data: "aGk=" },
        { type: "file", mediaType: "image/png", data: url },
        { type: "file", mediaType: "text/plain", data: bytes },
        { type: "file", mediaType: "application/pdf", data: "file-7" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hm", providerOptions: signature },
        { type: "text", text: "I see" },
        { type: "file", mediaType: "image/png", data: bytes },
        { type: "tool-call", toolCallId: "1", toolName: "look", input: { at: "cat" }, providerOptions: signature },
        { type: "tool-call", toolCallId: "2", toolName: "search", input: {}, providerExecuted: true },
        { type: "tool-result", toolCallId: "2", toolName: "search", output: { type: "json", value: [1] } },
      ],
    },
    {
      role: "tool",
      content: [
        result({ type: "text", value: "ok" }),
        result({ type: "json", value: { a: 1 } }),
        result({ type: "error-text", value: "no" }),
        result({ type: "error-json", value: null }),
        result({ type: "execution-denied", reason: "too late" }),
        result({ type: "execution-denied" }),
        {
          ...result({ type: "text", value: "" }),
          output: {
            type: "content",
            value: [
              { type: "text", text: "t" },
              { type: "image-data", mediaType: "image/png", data: "aGk=", providerOptions: signature },
              { type: "file-data", mediaType: "application/pdf", data: "aGk=", filename: "a.pdf" },
              { type: "image-url", url: url.href },
              { type: "file-url", url: url.href },
              { type: "image-file-id", fileId: { acme: "f1" } },
              { type: "file-id", fileId: { acme: "f2" } },
              { type: "text", text: "hello" },
              { type: "custom", providerOptions: signature },
            ],
          },
        },
        { type: "tool-approval-response", approvalId: "p1", approved: true },
      ],
    },
  ]);
});

test("asModel() passes the rest of a call on to version 3, without what it does not know", async () => {
  const seen: LanguageModelV3CallOptions[] = [];

  await asModel(v3Model({ seen })).doGenerate(call);

  expect(seen[0]).toMatchObject({ temperature: 0.5, tools: call.tools, toolChoice: { type: "auto" } });
  expect(seen[0]).not.toHaveProperty("reasoning");
});

test("asModel() writes every part of a prompt as version 2 has it", async () => {
  const seen: LanguageModelV2CallOptions[] = [];

  await asModel(v2Model({ seen })).doGenerate(call);

  expect(seen[0]?.prompt.at(-1)).toEqual({
    role: "tool",
    content: [
      result({ type: "text", value: "ok" }),
      result({ type: "json", value: { a: 1 } }),
      result({ type: "error-text", value: "no" }),
      result({ type: "error-json", value: null }),
      result({ type: "error-text", value: "too late" }),
      result({ type: "error-text", value: "The call was denied" }),
      {
        ...result({ type: "text", value: "" }),
        output: {
          type: "content",
          value: [
            { type: "text", text: "t" },
            { type: "media", mediaType: "image/png", data: "aGk=" },
            { type: "media", mediaType: "application/pdf", data: "aGk=" },
            { type: "text", text: url.href },
            { type: "text", text: url.href },
            { type: "text", text: '{"acme":"f1"}' },
            { type: "text", text: '{"acme":"f2"}' },
            { type: "text", text: "hello" },
          ],
        },
      },
    ],
  });
  expect(seen[0]?.prompt[2]).toMatchObject({
    role: "assistant",
    content: [
      { type: "reasoning", providerOptions: signature },
      { type: "text" },
      { type: "file", data: bytes },
      { type: "tool-call" },
      { type: "tool-call" },
      { type: "tool-result", output: { type: "json", value: [1] } },
    ],
  });
});

test("asModel() gives version 2 its tools in its own words", async () => {
  const seen: LanguageModelV2CallOptions[] = [];

  await asModel(v2Model({ seen })).doGenerate(call);

  expect(seen[0]?.tools).toEqual([
    { type: "function", name: "look", inputSchema: { type: "object" } },
    { type: "provider-defined", id: "acme.search", name: "search", args: { most: 3 } },
  ]);
});

test("asModel() refuses a file that only another provider has", async () => {
  const files: ModelMessage = {
    role: "user",
    content: [{ type: "file", mediaType: "image/png", data: { type: "reference", reference: { openai: "file-1" } } }],
  };
  const asked = Promise.resolve(asModel(v3Model()).doGenerate({ prompt: [files] }));

  const cause = await asked.catch((cause: unknown) => cause);

  expect(isKitbagError(cause, "model-refused") && cause.message).toBe(
    'Cannot ask "acme/three": the provider does not accept the question (a file of the prompt is kept with another provider); give the file itself, or its URL',
  );
});

test("asModel() takes every part of an answer of version 3", async () => {
  const content: LanguageModelV3Content[] = [
    { type: "text", text: "a", providerMetadata: signature },
    { type: "reasoning", text: "b", providerMetadata: signature },
    { type: "file", mediaType: "image/png", data: bytes },
    { type: "file", mediaType: "image/png", data: "aGk=", providerMetadata: signature },
    { type: "source", sourceType: "url", id: "1", url: url.href },
    { type: "tool-call", toolCallId: "1", toolName: "look", input: "{}" },
    { type: "tool-result", toolCallId: "1", toolName: "look", result: 1 },
    { type: "tool-approval-request", approvalId: "p", toolCallId: "1" },
  ];

  const answer = await asModel(v3Model({ content })).doGenerate(call);

  expect(answer.content).toEqual([
    ...content.slice(0, 2),
    { type: "file", mediaType: "image/png", data: { type: "data", data: bytes } },
    { type: "file", mediaType: "image/png", data: { type: "data", data: "aGk=" }, providerMetadata: signature },
    ...content.slice(4),
  ]);
  expect(answer).toMatchObject({ finishReason: { unified: "stop", raw: "end" }, response: { id: "r" } });
});

test.for([undefined, "provider-default", "high"] as const)(
  "asModel() warns that version 3 has no reasoning only if some was asked for: %s",
  async (reasoning) => {
    const asked: ModelCall = { prompt: [], ...(reasoning === undefined ? {} : { reasoning }) };
    const model = asModel(v3Model());
    const warning = { type: "unsupported", feature: "reasoning", details: expect.any(String) };

    const [answer, parts] = await Promise.all([model.doGenerate(asked), readAll(model, asked)]);

    const expected = [{ type: "other", message: "w" }, ...(reasoning === "high" ? [warning] : [])];
    expect(answer.warnings).toEqual(expected);
    expect(parts[0]).toEqual({ type: "stream-start", warnings: expected });
  },
);

test("asModel() takes every part of a stream of version 3, and those that nobody knows", async () => {
  const parts: LanguageModelV3StreamPart[] = [
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", id: "r" },
    { type: "text-start", id: "1" },
    { type: "text-delta", id: "1", delta: "a" },
    { type: "text-end", id: "1", providerMetadata: signature },
    { type: "tool-input-start", id: "2", toolName: "look" },
    { type: "tool-call", toolCallId: "2", toolName: "look", input: "{}" },
    { type: "raw", rawValue: 1 },
    { type: "news-of-tomorrow", value: 1 } as unknown as LanguageModelV3StreamPart,
    { type: "file", mediaType: "image/png", data: "aGk=" },
    { type: "error", error: "e" },
    { type: "finish", finishReason: { unified: "stop", raw: "end" }, usage: usage() },
  ];

  const read = await readAll(asModel(v3Model({ parts })), { prompt: [] });

  expect(read).toEqual(
    parts.map((part) => (part.type === "file" ? { ...part, data: { type: "data", data: "aGk=" } } : part)),
  );
});

test("asModel() takes every part of an answer of version 2", async () => {
  const content: LanguageModelV2Content[] = [
    { type: "text", text: "a" },
    { type: "reasoning", text: "b", providerMetadata: signature },
    { type: "file", mediaType: "image/png", data: bytes },
    { type: "source", sourceType: "url", id: "1", url: url.href },
    { type: "tool-call", toolCallId: "1", toolName: "look", input: "{}", providerExecuted: true },
    { type: "tool-result", toolCallId: "1", toolName: "look", result: { a: 1 }, providerExecuted: true },
    { type: "tool-result", toolCallId: "1", toolName: "look", result: undefined },
  ];

  const answer = await asModel(v2Model({ content })).doGenerate({ prompt: [] });

  expect(answer.content).toEqual([
    ...content.slice(0, 2),
    { type: "file", mediaType: "image/png", data: { type: "data", data: bytes } },
    ...content.slice(3, 5),
    { type: "tool-result", toolCallId: "1", toolName: "look", result: { a: 1 } },
    { type: "tool-result", toolCallId: "1", toolName: "look", result: "" },
  ]);
});

test.for([
  ["stop", "stop"],
  ["length", "length"],
  ["content-filter", "content-filter"],
  ["tool-calls", "tool-calls"],
  ["error", "error"],
  ["other", "other"],
  ["unknown", "other"],
] as const)("asModel() reads that version 2 ended with %s as %s", async ([finishReason, unified]) => {
  const model = asModel(v2Model({ finishReason }));

  const [answer, parts] = await Promise.all([model.doGenerate({ prompt: [] }), readAll(model, { prompt: [] })]);

  expect(answer.finishReason).toEqual({ unified, raw: undefined });
  expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: { unified, raw: undefined } });
});

test.for([
  [
    { inputTokens: 10, outputTokens: 8, totalTokens: 18, cachedInputTokens: 4, reasoningTokens: 3 },
    { inputTokens: [10, 6, 4], outputTokens: [8, 5, 3] },
  ],
  [
    { inputTokens: 10, outputTokens: 8, totalTokens: 18 },
    { inputTokens: [10, 10, undefined], outputTokens: [8, 8, undefined] },
  ],
  [
    { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined, cachedInputTokens: 4 },
    { inputTokens: [undefined, undefined, 4], outputTokens: [undefined, undefined, undefined] },
  ],
  [
    { inputTokens: 10, outputTokens: 3, totalTokens: 18, cachedInputTokens: 40, reasoningTokens: 5 },
    { inputTokens: [10, undefined, 40], outputTokens: [3, undefined, 5] },
  ],
] as const)("asModel() counts the tokens of version 2: %j", async ([old, expected]) => {
  const answer = await asModel(v2Model({ usage: old })).doGenerate({ prompt: [] });

  const [total, noCache, cacheRead] = expected.inputTokens;
  const [all, text, reasoning] = expected.outputTokens;
  expect(answer.usage).toEqual({
    inputTokens: { total, noCache, cacheRead, cacheWrite: undefined },
    outputTokens: { total: all, text, reasoning },
  });
});

test("asModel() puts the warnings of version 2 into today's words", async () => {
  const model = asModel(v2Model());

  const [{ warnings }, parts] = await Promise.all([model.doGenerate({ prompt: [] }), readAll(model, { prompt: [] })]);

  expect(warnings).toEqual([
    { type: "unsupported", feature: "topK" },
    { type: "unsupported", feature: "tool look", details: "no tools" },
    { type: "other", message: "w" },
  ]);
  expect(parts[0]).toEqual({ type: "stream-start", warnings });
});

test.for(["v2", "v3"] as const)("asModel() does without what a model of %s forgets to say", async (version) => {
  const unknown = { inputTokens: undefined, outputTokens: undefined, cachedInputTokens: undefined };
  const parts = [{ type: "stream-start" }, { type: "text-delta", id: "1", delta: "a" }, { type: "finish" }];
  const careless = {
    ...v3Model(),
    specificationVersion: version,
    doGenerate: () => Promise.resolve({ content: [{ type: "text", text: "a" }], usage: unknown }),
    doStream: () => Promise.resolve({ stream: ReadableStream.from(parts) }),
  } as unknown as AnyModel;
  const call: ModelCall = { prompt: [], reasoning: "low" };

  const [answer, read] = await Promise.all([asModel(careless).doGenerate(call), readAll(asModel(careless), call)]);

  const warnings = [expect.objectContaining({ feature: "reasoning" })];
  expect(answer).toMatchObject({ content: [{ text: "a" }], warnings });
  expect(read).toMatchObject([{ type: "stream-start", warnings }, { delta: "a" }, { type: "finish" }]);
});

test("asModel() stops the stream of an old model when nobody wants the rest", async () => {
  let cancelled: unknown;
  const endless = new ReadableStream<LanguageModelV3StreamPart>({
    pull: (controller) => controller.enqueue({ type: "text-delta", id: "1", delta: "a" }),
    cancel: (reason) => void (cancelled = reason),
  });
  const old: LanguageModelV3 = { ...v3Model(), doStream: () => Promise.resolve({ stream: endless }) };

  const { stream } = await asModel(old).doStream({ prompt: [] });
  const reader = stream.getReader();
  await reader.read();
  await reader.cancel("enough");

  expect(cancelled).toBe("enough");
});

test("asModel() fails as the old model does", async () => {
  const boom = new Error("boom");
  const old: LanguageModelV3 = {
    ...v3Model(),
    doGenerate: () => Promise.reject(boom),
    doStream: () => Promise.resolve({ stream: new ReadableStream({ pull: (controller) => controller.error(boom) }) }),
  };

  await expect(Promise.resolve(asModel(old).doGenerate({ prompt: [] }))).rejects.toBe(boom);
  await expect(readAll(asModel(old), { prompt: [] })).rejects.toBe(boom);
});

test.for([
  ["openai/gpt-6-sol", /it is a name/u],
  [null, /it is not a model/u],
  [undefined, /it is not a model/u],
  [7, /it is not a model/u],
  [{}, /here it is none/u],
  [{ specificationVersion: "v1", modelId: "old" }, /here it is the version "v1"/u],
  [{ specificationVersion: "v5", modelId: "new" }, /"v5"/u],
  [{ specificationVersion: 4 }, /here it is none/u],
  [{ specificationVersion: "v4" }, /no provider/u],
  [{ specificationVersion: "v4", provider: "p", modelId: "m" }, /for something else/u],
  [{ specificationVersion: "v3", provider: "p", modelId: "m", doEmbed: () => {} }, /for something else/u],
] as const)("asModel() refuses %j", ([value, reason]) => {
  const refused = refusalOf(value);

  expect(isKitbagError(refused, "model-unsupported") && refused.message).toMatch(reason);
});

function refusalOf(value: unknown): unknown {
  try {
    return asModel(value as AnyModel);
  } catch (cause) {
    return cause;
  }
}

function result<Output>(output: Output): { type: "tool-result"; toolCallId: string; toolName: string; output: Output } {
  return { type: "tool-result", toolCallId: "1", toolName: "look", output };
}

function usage(): Extract<ModelPart, { type: "finish" }>["usage"] {
  return {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
}

interface V3Script {
  readonly seen?: LanguageModelV3CallOptions[];
  readonly content?: LanguageModelV3Content[];
  readonly parts?: LanguageModelV3StreamPart[];
}

function v3Model({ seen = [], content = [], parts }: V3Script = {}): LanguageModelV3 {
  const finishReason = { unified: "stop", raw: "end" } as const;
  const warnings = [{ type: "other" as const, message: "w" }];
  return {
    specificationVersion: "v3",
    provider: "acme.chat",
    modelId: "three",
    supportedUrls: {},
    doGenerate(asked) {
      seen.push(asked);
      return Promise.resolve({ content, finishReason, usage: usage(), warnings, response: { id: "r" } });
    },
    doStream(asked) {
      seen.push(asked);
      return Promise.resolve({ stream: ReadableStream.from(parts ?? [{ type: "stream-start", warnings }]) });
    },
  };
}

interface V2Script {
  readonly seen?: LanguageModelV2CallOptions[];
  readonly content?: LanguageModelV2Content[];
  readonly finishReason?: LanguageModelV2FinishReason;
  readonly usage?: Extract<LanguageModelV2StreamPart, { type: "finish" }>["usage"];
}

function v2Model({
  seen = [],
  content = [],
  finishReason = "stop",
  usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
}: V2Script = {}): LanguageModelV2 {
  const look = { type: "function", name: "look", inputSchema: {} } as const;
  const warnings: Awaited<ReturnType<LanguageModelV2["doGenerate"]>>["warnings"] = [
    { type: "unsupported-setting", setting: "topK" },
    { type: "unsupported-tool", tool: look, details: "no tools" },
    { type: "other", message: "w" },
  ];
  const parts: LanguageModelV2StreamPart[] = [
    { type: "stream-start", warnings },
    { type: "finish", finishReason, usage },
  ];
  return {
    specificationVersion: "v2",
    provider: "acme.chat",
    modelId: "two",
    supportedUrls: {},
    doGenerate(asked) {
      seen.push(asked);
      return Promise.resolve({ content, finishReason, usage, warnings });
    },
    doStream(asked) {
      seen.push(asked);
      return Promise.resolve({ stream: ReadableStream.from(parts) });
    },
  };
}

async function readAll(model: Model, asked: ModelCall): Promise<ModelPart[]> {
  const { stream } = await model.doStream(asked);
  const parts: ModelPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}
