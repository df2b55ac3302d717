import { expect, onTestFinished, test } from "vitest";

import {
  type LocalKind,
  type LocalModel,
  type LocalServerOptions,
  startLocalServer,
} from "../../../test/support/local-server.ts";
import { providers } from "../providers.ts";
import { createAskServer } from "./ask-server.ts";
import { findQuantization } from "./llama-cpp.ts";
import type { LocalServer, ServerModel } from "./server-model.ts";
import { toParameters } from "./server-model.ts";

const qwen: LocalModel = { name: "qwen3:8b", context: 8192, isLoaded: true, vramShare: 0.81 };

test("ollama says what is loaded, with what context, and how much of it is in VRAM", async () => {
  const models = [qwen, { name: "gemma:2b", context: 4096, tools: false, parameters: "2.5B", quantization: "Q8_0" }];

  const { found, listed } = await look("ollama", models, "qwen3:8b");

  expect(found).toEqual({
    name: "qwen3:8b",
    parameters: 8.2e9,
    quantization: "Q4_K_M",
    contextMax: 40_960,
    contextInUse: 8192,
    tools: true,
    vision: false,
    thinking: false,
    isLoaded: true,
    vramShare: expect.closeTo(0.81, 3),
    unloadsAt: Date.parse("2026-11-16T12:05:00.123Z"),
  });
  expect(listed).toMatchObject([
    { name: "qwen3:8b", sizeBytes: 5_225_388_164, tools: true, isLoaded: true },
    { name: "gemma:2b", quantization: "Q8_0", parameters: 2.5e9, tools: false, isLoaded: false },
  ]);
});

test("ollama takes a name without a tag for the latest", async () => {
  const { found } = await look("ollama", [{ ...qwen, name: "qwen3" }], "qwen3", {
    replies: { "/api/ps": '{"models": [{"model": "qwen3:latest", "context_length": 4096}]}' },
  });

  expect(found).toMatchObject({ isLoaded: true, contextInUse: 4096 });
});

test("lmstudio says what is loaded, and with what context", async () => {
  const models = [
    { ...qwen, name: "qwen/qwen3-8b" },
    { name: "tiny", context: 2048, tools: false, vision: true },
  ];

  const { found, listed } = await look("lmstudio", models, "qwen/qwen3-8b");

  expect(found).toMatchObject({
    name: "qwen/qwen3-8b",
    sizeBytes: 4_920_000_000,
    parameters: 8e9,
    quantization: "Q4_K_M",
    contextInUse: 8192,
    contextMax: 131_072,
    tools: true,
    isLoaded: true,
  });
  expect(listed?.[1]).toMatchObject({ name: "tiny", tools: false, vision: true, isLoaded: false });
  expect(listed?.[1]).not.toHaveProperty("contextInUse");
});

test("lmstudio is asked in its earlier way if it does not know the new one", async () => {
  const data = [
    {
      id: "qwen",
      type: "llm",
      quantization: "4bit",
      state: "loaded",
      max_context_length: 32_768,
      loaded_context_length: 4096,
      capabilities: ["tool_use"],
    },
    { id: "llava", type: "vlm", state: "not-loaded", max_context_length: 4096 },
    { id: "nomic", type: "embeddings", state: "not-loaded" },
  ];

  const { found, listed } = await look("lmstudio", [], "qwen", {
    replies: { "/api/v1/models": "no", "/api/v0/models": JSON.stringify({ object: "list", data }) },
  });

  expect(found).toMatchObject({ quantization: "4bit", contextInUse: 4096, tools: true, isLoaded: true });
  expect(listed).toMatchObject([{ name: "qwen" }, { name: "llava", vision: true, isLoaded: false }]);
});

test("llama.cpp says the context of one slot, and whether its template has tools", async () => {
  const { found, use } = await look("llamacpp", [{ ...qwen, name: "qwen3", tools: false, vision: true }], "anything");

  expect(found).toMatchObject({
    name: "anything",
    contextInUse: 8192,
    contextMax: 40_960,
    quantization: "Q4_K_M",
    parameters: 8_190_735_360,
    tools: false,
    vision: true,
    isLoaded: true,
  });
  expect(use).toEqual({ running: 1, waiting: 2 });
});

test("llama.cpp says that it loads its model", async () => {
  const { found } = await look("llamacpp", [{ ...qwen, isLoaded: false }], "qwen3:8b");

  expect(found).toEqual({ name: "qwen3:8b", isLoaded: false });
});

test("llama.cpp with several models says which are loaded, and is not made to load one", async () => {
  const data = [
    { id: "a", status: { value: "unloaded" } },
    { id: "b", status: { value: "loaded" } },
  ];
  const { found, listed, asked } = await look("llamacpp", [qwen], "a", {
    replies: { "/v1/models": JSON.stringify({ data }) },
  });

  expect(found).toEqual({ name: "a", isLoaded: false });
  expect(listed).toMatchObject([
    { name: "a", isLoaded: false },
    { name: "b", isLoaded: true, contextInUse: 8192 },
  ]);
  expect(asked.filter((path) => path.includes("/props"))).toEqual(["GET /props?model=b&autoload=false"]);
});

test("vllm says how much it reads, and how busy it is", async () => {
  const { found, use } = await look("vllm", [{ ...qwen, name: "org/qwen3" }], "org/qwen3");

  expect(found).toEqual({ name: "org/qwen3", contextInUse: 8192, isLoaded: true });
  expect(use).toEqual({ running: 3, waiting: 1, cacheShare: 0.31 });
});

const odd = [
  "",
  "null",
  "[]",
  "<html>no</html>",
  '{"models": 7, "data": "x"}',
  '{"models": [null, 7, [], {"model": {}, "key": 7, "id": []}], "data": [null, {"id": 5}]}',
  '{"models": [{"model": "m", "name": "m", "key": "m", "type": "llm", "size": -5, "size_vram": "x", "context_length": 1e300, "loaded_instances": {}, "expires_at": 7, "details": []}], "data": [{"id": "m", "meta": [], "max_model_len": -1}]}',
];

test.for(
  (["ollama", "lmstudio", "llamacpp", "vllm"] as const).flatMap((kind) => odd.map((reply) => ({ kind, reply }))),
)("$kind that answers $reply is known to say nothing, and breaks nothing", async ({ kind, reply }) => {
  const paths = [
    "/api/tags",
    "/api/ps",
    "/api/show",
    "/api/v1/models",
    "/api/v0/models",
    "/v1/models",
    "/props",
    "/health",
    "/metrics",
  ];
  const { found, listed } = await look(kind, [], "m", {
    replies: Object.fromEntries(paths.map((path) => [path, reply])),
  });

  for (const model of [found, ...(listed ?? [])]) {
    const { contextInUse, contextMax, sizeBytes, vramShare } = model ?? {};
    expect([contextInUse, contextMax, sizeBytes, vramShare]).toEqual([undefined, undefined, undefined, undefined]);
  }
});

test("createAskServer() reads no answer that does not end", async () => {
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1024 ** 2)),
  });
  const ask = createAskServer({
    baseUrl: "http://127.0.0.1:1/v1/",
    fetch: () => Promise.resolve(new Response(endless)),
  });

  expect(await ask("/api/ps")).toBeUndefined();
});

test("createAskServer() sends the key, and follows no redirect", async () => {
  const seen: [string, RequestInit][] = [];
  const send = (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    seen.push([String(url), init]);
    return Promise.resolve(new Response("{}"));
  };
  const ask = createAskServer({ baseUrl: "http://127.0.0.1:1/v1", apiKey: "k", fetch: send });

  await ask("/api/show", { model: "m" });

  expect(seen).toMatchObject([
    ["http://127.0.0.1:1/api/show", { method: "POST", redirect: "error", headers: { authorization: "Bearer k" } }],
  ]);
});

test.for([
  ["8.0B", 8e9],
  ["35B-A3B", 35e9],
  ["137M", 137e6],
  ["1.5T", 1.5e12],
  [7, 7],
  ["many", undefined],
  [undefined, undefined],
] as const)("toParameters() reads %s", ([text, parameters]) => {
  expect(toParameters(text)).toBe(parameters);
});

test.for([
  ["/models/qwen3-8b-Q4_K_M.gguf", "Q4_K_M"],
  ["qwen3-8b.i1-IQ3_XXS.gguf", "IQ3_XXS"],
  ["llama-3-bf16.gguf", "BF16"],
  ["model-q8_0.gguf", "Q8_0"],
  ["FAQ1.gguf", undefined],
] as const)("findQuantization() reads %s", ([path, quantization]) => {
  expect(findQuantization(path)).toBe(quantization);
});

interface Seen {
  readonly found: ServerModel | undefined;
  readonly listed: readonly ServerModel[] | undefined;
  readonly use: unknown;
  readonly asked: readonly string[];
}

async function look(
  kind: LocalKind,
  models: readonly LocalModel[],
  name: string,
  options?: LocalServerOptions,
): Promise<Seen> {
  const { url, asked, close } = await startLocalServer(kind, models, options);
  onTestFinished(close);
  const server = (await providers.get(kind)?.loadServer?.()) as LocalServer;
  const ask = createAskServer({ baseUrl: url });
  return { found: await server.find(ask, name), listed: await server.list(ask), use: await server.use?.(ask), asked };
}
