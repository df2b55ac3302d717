import { expect, onTestFinished, test, vi } from "vitest";

import { createFakeClock, type FakeClock } from "../../../test/support/fake-clock.ts";
import {
  type LocalKind,
  type LocalModel,
  type LocalModelServer,
  type LocalServerOptions,
  startLocalServer,
} from "../../../test/support/local-server.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { Model, ModelAnswer, ModelCall, ModelTool } from "../model.ts";
import { providers } from "../providers.ts";
import { toModelError } from "../retry/to-model-error.ts";
import { withRetries } from "../retry/with-retries.ts";
import { asModel } from "../shims/as-model.ts";
import { contextWindowOf } from "../tokens/context-window.ts";
import { type ModelProgress, withProgress } from "./model-progress.ts";
import { serverLinkOf } from "./server-link.ts";
import { withServer, type WithServerOptions } from "./with-server.ts";

const add: ModelTool = {
  type: "function",
  name: "add",
  description: "Adds two numbers",
  inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
};
const written = { text: '<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>' };

/** About so many tokens of words. */
function say(tokens: number): ModelCall {
  return { prompt: [{ role: "user", content: [{ type: "text", text: "word ".repeat(tokens) }] }] };
}

const ways = {
  generate: async (model: Model, call: ModelCall) => model.doGenerate(call),
  stream: collect,
} as const;

test.for([
  ["ollama", "generate"],
  ["ollama", "stream"],
  ["lmstudio", "generate"],
  ["llamacpp", "stream"],
] as const)("a model of %s without tools gets them in its prompt (%s)", async ([kind, way]) => {
  const { model, server } = await open(kind, [{ name: "old", context: 8192, tools: false, isLoaded: true }], {
    script: () => written,
  });

  const { content } = await ways[way](model, { ...say(1), tools: [add] });

  expect(content).toMatchObject([{ type: "tool-call", toolName: "add", input: '{"a":1,"b":2}' }]);
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]).toMatchObject({ tools: [], system: expect.stringContaining("add: Adds two numbers") });
});

test.for(["generate", "stream"] as const)(
  "a server that was started without tools is asked again with them in the prompt, once and for all (%s)",
  async (way) => {
    const { model, server } = await open("vllm", [{ name: "qwen3", context: 8192 }], { script: () => written });

    await ways[way](model, { ...say(1), tools: [add] });
    const { content } = await ways[way](model, { ...say(1), tools: [add] });

    expect(content).toMatchObject([{ type: "tool-call", toolName: "add" }]);
    expect(server.requests.map(({ tools }) => tools.length)).toEqual([1, 0, 0]);
  },
);

test("a model that calls tools is given them as they are", async () => {
  const calls = [{ id: "1", name: "add", input: { a: 1, b: 2 } }];
  const { model, server } = await open("vllm", [{ name: "qwen3", context: 8192 }], {
    script: () => ({ calls }),
    hasToolParser: true,
  });

  const { content } = await collect(model, { ...say(1), tools: [add] });

  expect(content).toMatchObject([{ type: "tool-call", toolCallId: "1" }]);
  expect(server.requests).toHaveLength(1);
});

test("ollama is asked for a context that the prompt fits into, and keeps the one that it has if that is enough", async () => {
  const { model, server } = await open("ollama", [{ name: "qwen3", context: 4096, isLoaded: true }]);

  for (const tokens of [10, 5000, 10, 9000, 12_000]) await collect(model, say(tokens));

  expect(server.requests.map(({ body }) => (body["options"] as { num_ctx?: number }).num_ctx)).toEqual([
    4096, 8192, 8192, 16_384, 16_384,
  ]);
});

test("ollama is not told a context for a short prompt while no model is loaded", async () => {
  const { model, server } = await open("ollama", [{ name: "qwen3", context: 4096, isLoaded: false }]);

  await collect(model, say(100));

  expect(server.requests[0]?.body).toMatchObject({ options: {}, truncate: false, shift: false });
});

test("ollama is told the context and the time to keep the model that the caller wants", async () => {
  const { model, server } = await open("ollama", [{ name: "qwen3", context: 4096, isLoaded: true }]);

  await collect(model, { ...say(10), providerOptions: { ollama: { numCtx: 2048, keepAlive: "30m" } } });

  expect(server.requests[0]?.body).toMatchObject({ options: { num_ctx: 2048 }, keep_alive: "30m" });
});

test("lmstudio is told how long it keeps a model", async () => {
  const { model, server } = await open("lmstudio", [{ name: "qwen3", context: 4096, isLoaded: true }]);

  await collect(model, { ...say(10), providerOptions: { lmstudio: { ttl: 1800 } } });

  expect(server.requests[0]?.body).toMatchObject({ ttl: 1800 });
});

test("ollama refuses a prompt that the model cannot read, and does not cut it", async () => {
  const { model } = await open("ollama", [{ name: "qwen3", context: 4096, contextMax: 8192, isLoaded: true }]);

  const cause = await failure(model, say(20_000));

  expect(isKitbagError(cause, "model-context-exceeded") && cause.message).toMatch(
    /exceeds the available context size/u,
  );
});

test.for(["generate", "stream"] as const)(
  "a server that lies about its context is found out by what it read (%s)",
  async (way) => {
    const { model } = await open("ollama", [{ name: "qwen3", context: 4096, saidContext: 32_768, isLoaded: true }], {
      isOld: true,
    });

    const { warnings } = await ways[way](model, say(12_000));

    expect(String(JSON.stringify(warnings))).toMatch(
      /Ollama says that it read 4,096 tokens of a prompt of about 1[\d,]+: it cut the prompt/u,
    );
    expect(contextWindowOf(model)).toBe(4096);
  },
);

test("a server that cuts silently is told about before, too", async () => {
  const { model, server } = await open("lmstudio", [{ name: "qwen3", context: 4096, isLoaded: true }]);

  const { warnings } = await collect(model, say(12_000));

  expect(warnings.map((warning) => ("message" in warning ? warning.message : ""))).toEqual([
    expect.stringMatching(/^LM Studio reads 4,096 tokens of this model, and the prompt has about 1[\d,]+: it may cut/u),
    expect.stringMatching(/^LM Studio says that it read 4,096 tokens/u),
  ]);
  expect(server.requests).toHaveLength(1);
});

test("an answer to a prompt that was read whole has no warnings", async () => {
  for (const kind of ["ollama", "lmstudio", "llamacpp", "vllm"] as const) {
    const { model } = await open(kind, [{ name: "qwen3", context: 8192, isLoaded: true }]);

    expect(await collect(model, say(5000))).toMatchObject({
      warnings: [],
      content: [{ type: "text", text: "Hello." }],
    });
  }
});

test("contextWindowOf() is what the server has in use", async () => {
  const { model } = await open("llamacpp", [{ name: "qwen3", context: 6000, contextMax: 131_072 }]);
  const before = contextWindowOf(model);

  await serverLinkOf(withRetries(model))?.look();

  expect([before, contextWindowOf(model), contextWindowOf(withRetries(model))]).toEqual([undefined, 6000, 6000]);
  expect(contextWindowOf(model, { "llamacpp/*": 1000 })).toBe(1000);
});

test("a reasoning that a model does not have is not asked for", async () => {
  const { model, server } = await open("ollama", [{ name: "qwen3", context: 8192, isLoaded: true }]);

  const { warnings } = await collect(model, { ...say(1), reasoning: "high" });

  expect(warnings).toEqual([{ type: "unsupported", feature: "reasoning", details: "this model does not think" }]);
  expect(server.requests[0]?.body).not.toHaveProperty("think");
});

test.for(["ollama", "lmstudio", "llamacpp"] as const)(
  "a model of %s that is loaded for two minutes answers, and says that it is loaded meanwhile",
  async (kind) => {
    const clock = createFakeClock();
    const loaded = Promise.withResolvers<void>();
    const state: LocalModel = { name: "big", context: 8192, isLoaded: false, load: loaded.promise };
    const { model } = await open(kind, [state], {}, { clock });
    const seen: ModelProgress[] = [];
    const patient = withRetries(model, { clock, firstPartMs: 30_000, maxRetries: 0 });

    const answer = collect(
      patient,
      withProgress(say(10), (progress) => seen.push(progress)),
    );
    await pass(clock, 120_000, () => seen.length);
    state.isLoaded = true;
    loaded.resolve();
    await keepPassing(clock, answer);

    expect((await answer).content).toMatchObject([{ type: "text", text: "Hello." }]);
    expect(seen.length).toBeGreaterThan(60);
    expect(seen.at(-1)).toMatchObject({ model: `${kind}/big`, phase: "loading" });
    expect(seen.at(-1)?.elapsedMs).toBeGreaterThanOrEqual(110_000);
  },
);

test.for(["ollama", "llamacpp"] as const)(
  "%s that never loads its model fails when the time is up, and is not asked again",
  async (kind) => {
    const clock = createFakeClock();
    const { promise: never } = Promise.withResolvers<void>();
    const { model, server } = await open(
      kind,
      [{ name: "big", context: 8192, isLoaded: false, load: never }],
      {},
      { clock, loadMs: 60_000 },
    );
    let progress = 0;

    const cause = failure(
      withRetries(model, { clock, maxRetries: 3 }),
      withProgress(say(10), () => (progress += 1)),
    );
    await pass(clock, 61_000, () => progress);

    expect(await cause).toMatchObject({
      code: "model-timeout",
      details: { model: `${kind}/big`, phase: "loaded model", limitMs: 60_000 },
    });
    expect(server.requests.length).toBeLessThanOrEqual(1);
  },
);

test("a server that drops the connection while it loads is unavailable", async () => {
  const { promise: never } = Promise.withResolvers<void>();
  const { model, server } = await open("ollama", [{ name: "big", context: 8192, isLoaded: false, load: never }]);

  const cause = failure(model, say(10));
  await vi.waitFor(() => expect(server.requests).toHaveLength(1));
  await server.close();

  expect(isKitbagError(await cause, "model-unavailable")).toBe(true);
});

test("a caller who gives up while a model is loaded is not kept waiting", async () => {
  const { promise: never } = Promise.withResolvers<void>();
  const { model, server } = await open("ollama", [{ name: "big", context: 8192, isLoaded: false, load: never }]);
  const stop = new AbortController();

  const cause = collect(model, { ...say(10), abortSignal: stop.signal }).catch((cause_: unknown) => cause_);
  await vi.waitFor(() => expect(server.requests).toHaveLength(1));
  stop.abort(new Error("too long for me"));

  expect(await cause).toMatchObject({ message: "too long for me" });
});

test("a model that ollama loads again with a larger context says so", async () => {
  const clock = createFakeClock();
  const loaded = Promise.withResolvers<void>();
  const { model } = await open(
    "ollama",
    [{ name: "qwen3", context: 4096, isLoaded: true, load: loaded.promise }],
    {},
    { clock },
  );
  const seen: ModelProgress[] = [];

  const answer = collect(
    model,
    withProgress(say(6000), (progress) => seen.push(progress)),
  );
  await vi.waitFor(() => expect(seen).toHaveLength(1));
  loaded.resolve();

  expect((await answer).content).toMatchObject([{ text: "Hello." }]);
});

interface Opened {
  readonly model: Model;
  readonly server: LocalModelServer;
}

async function open(
  kind: LocalKind,
  models: readonly LocalModel[],
  options?: LocalServerOptions,
  waiting?: WithServerOptions,
): Promise<Opened> {
  const server = await startLocalServer(kind, models, options);
  onTestFinished(() => server.close().catch(() => {}));
  const provider = providers.get(kind)!;
  const connection = { model: models[0]!.name, baseUrl: server.url, headers: {} };
  const local = await provider.loadServer!();
  return { model: withServer(asModel(await provider.connect(connection)), local, connection, waiting), server };
}

/** Reads a stream into what a whole answer is, with the warnings of its beginning and of its end. */
async function collect(model: Model, call: ModelCall): Promise<Pick<ModelAnswer, "content" | "warnings">> {
  const { stream } = await model.doStream(call);
  const content: ModelAnswer["content"] = [];
  const warnings: ModelAnswer["warnings"] = [];
  for await (const part of stream) {
    if (part.type === "stream-start") warnings.push(...part.warnings);
    if (part.type === "text-start") content.push({ type: "text", text: "" });
    const last = content.at(-1);
    if (part.type === "text-delta" && last?.type === "text") last.text += part.delta;
    if (part.type === "tool-call") content.push(part);
    if (part.type === "error") throw part.error;
    const cut = part.type === "finish" ? part.providerMetadata?.["kitbag"]?.["warning"] : undefined;
    if (typeof cut === "string") warnings.push({ type: "other", message: cut });
  }
  return { content: content.filter((part) => part.type !== "text" || part.text !== ""), warnings };
}

async function failure(model: Model, call: ModelCall): Promise<unknown> {
  return collect(model, call).then(
    () => undefined,
    (cause: unknown) => toModelError(model, cause),
  );
}

/** Lets time pass, a second at a time, each when the server has been looked at. */
async function pass(clock: FakeClock, ms: number, told: () => number): Promise<void> {
  await vi.waitFor(() => expect(told()).toBeGreaterThan(0));
  for (let passed = 0; passed < ms; passed += 1000) {
    await clock.advance(1000);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
}

async function keepPassing(clock: FakeClock, until: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const end = (): void => over.abort();
  until.then(end, end);
  while (!over.signal.aborted) {
    await clock.advance(1000);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
}
