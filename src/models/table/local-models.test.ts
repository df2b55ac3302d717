import { expect, onTestFinished, test } from "vitest";

import { type LocalKind, type LocalModel, startLocalServer } from "../../../test/support/local-server.ts";
import { isKitbagError } from "../../core/errors.ts";
import { choose, type ModelNeeds } from "./choose.ts";
import { bitsOf } from "../servers/weights.ts";

const context = 8192;
const onOllama: readonly LocalModel[] = [
  { name: "qwen3:1.7b", parameters: "1.7B", quantization: "Q8_0", context },
  { name: "qwen3:8b", parameters: "8.2B", quantization: "Q4_K_M", context },
  { name: "qwen3:8b-q8", parameters: "8.2B", quantization: "Q8_0", context },
  { name: "qwen3:14b-q2", parameters: "14B", quantization: "Q2_K", context },
  { name: "gemma:27b", parameters: "27B", quantization: "Q4_0", context, tools: false },
  { name: "llava:7b", parameters: "7B", quantization: "Q4_0", context, tools: false, vision: true },
];

test.for([
  [{ tools: true, prefer: "quality" }, "ollama/qwen3:8b-q8"],
  [{ prefer: "quality" }, "ollama/gemma:27b"],
  [{ tools: true, prefer: "speed" }, "ollama/qwen3:1.7b"],
  [{ vision: true }, "ollama/llava:7b"],
  [{ tools: true, context: 100_000 }, "lmstudio/qwen-long"],
] as const satisfies [ModelNeeds, string][])("choose() takes for %j of one's own models %s", async ([needs, name]) => {
  const env = await serve({
    ollama: onOllama,
    lmstudio: [{ name: "qwen-long", parameters: "4B", context, contextMax: 131_072 }],
  });

  const choice = await choose({ local: true, ...needs }, { env });

  expect(choice.name).toBe(name);
});

test("choose() says how large one's own models are, how they are rounded and where they are", async () => {
  const env = await serve({
    ollama: [{ name: "big", parameters: "32.8B", context, isLoaded: true, vramShare: 0.6 }, ...onOllama],
  });

  const { reasons, passedOver } = await choose({ local: true, tools: true }, { env });

  expect(reasons).toEqual([
    "the first by quality of 5 that can",
    "33 billion weights as Q4_K_M, loaded, 60 % of it in VRAM; quality 3.4 of 5, speed 1.1 of 5, reads 40,960 tokens",
  ]);
  expect(passedOver).toContainEqual({ name: "ollama/gemma:27b", reason: "it calls no tools" });
});

test("choose() looks only at those of one's own models that it is told", async () => {
  const env = await serve({ ollama: onOllama, vllm: [{ name: "org/qwen3", context }] });

  expect((await choose({ local: true }, { env, available: ["vllm"] })).name).toBe("vllm/org/qwen3");
  expect((await choose({ local: true }, { env, available: ["ollama/qwen3:8b"] })).name).toBe("ollama/qwen3:8b");
  expect(
    isKitbagError(
      await choose({ local: true }, { env, available: ["openai"] }).catch((cause: unknown) => cause),
      "model-unmatched",
    ),
  ).toBe(true);
});

test("choose() says where it found no server of one's own", async () => {
  const env = await serve({ ollama: [] });

  const cause = await choose({ local: true }, { env }).catch((cause: unknown) => cause);

  expect(String(cause)).toBe(
    [
      "KitbagError: Cannot choose a model: no server of your own has a model",
      "ollama: it has no model; download one first",
      "lmstudio: no server at http://127.0.0.1:1/v1",
      "llamacpp: no server at http://127.0.0.1:1/v1",
      "vllm: no server at http://127.0.0.1:1/v1",
    ].join("\n"),
  );
});

test.for([
  ["Q4_K_M", 4],
  ["IQ3_XXS", 3],
  ["Q8_0", 8],
  ["BF16", 16],
  ["4bit", 4],
  ["MXFP4", 4],
  [undefined, 4],
] as const)("bitsOf() reads %s", ([quantization, bits]) => {
  expect(bitsOf(quantization)).toBe(bits);
});

const variables: Readonly<Record<LocalKind, string>> = {
  ollama: "OLLAMA_HOST",
  lmstudio: "LMSTUDIO_BASE_URL",
  llamacpp: "LLAMACPP_BASE_URL",
  vllm: "VLLM_BASE_URL",
};

/** Starts these servers; the others are nowhere. */
async function serve(servers: Partial<Record<LocalKind, readonly LocalModel[]>>): Promise<Record<string, string>> {
  const env = Object.fromEntries(Object.values(variables).map((variable) => [variable, "http://127.0.0.1:1/v1"]));
  for (const [kind, models] of Object.entries(servers) as [LocalKind, readonly LocalModel[]][]) {
    const { url, close } = await startLocalServer(kind, models);
    onTestFinished(close);
    env[variables[kind]] = url;
  }
  return env;
}
