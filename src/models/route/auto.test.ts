import { expect, onTestFinished, test, vi } from "vitest";

import { question, readParts, textOf } from "../../../test/support/scripted-models.ts";
import { makeImage } from "../../../test/support/make-image.ts";
import { startLocalServer } from "../../../test/support/local-server.ts";
import { startModelServer } from "../../../test/support/model-server.ts";
import type { ModelCall } from "../model.ts";
import { auto } from "./auto.ts";
import type { AutoOptions } from "./auto-options.ts";

test("auto() chooses a model for each question, by what the question needs", async () => {
  const { model, asked } = await start({
    available: ["openai/gpt-5-chat-latest", "openai/gpt-5-mini"],
    prefer: "quality",
  });
  const tools: ModelCall["tools"] = [{ type: "function", name: "look", inputSchema: { type: "object" } }];
  const image = await makeImage("png");

  await readParts(model);
  await model.doGenerate({ ...question, tools });
  await model.doGenerate({ ...question, responseFormat: { type: "json", schema: { type: "object" } } });
  const parts = await readParts(model, {
    prompt: [
      {
        role: "user",
        content: [{ type: "file", mediaType: "image/png", data: { type: "data", data: image } }],
      },
    ],
  });

  expect(asked()).toEqual(["gpt-5-mini", "gpt-5-mini", "gpt-5-mini", "gpt-5-mini"]);
  expect(textOf(parts)).toBe("Hello");
  expect(parts.at(-1)).toMatchObject({ providerMetadata: { kitbag: { model: "openai/gpt-5-mini" } } });
});

test.for([{ available: ["openai/gpt-5-chat-latest"], tools: true }, { context: 9_000_000 }, { maxCost: 0.000_001 }])(
  "auto() rejects a question if no model meets %j",
  async (options) => {
    const { model } = await start(options);

    await expect(model.doGenerate(question)).rejects.toMatchObject({ code: "model-unmatched" });
  },
);

test("auto() takes the largest of the needs, and the smallest budget", async () => {
  const { model, asked } = await start({ context: 900_000, maxCost: 0.5, prefer: "speed" });

  await model.doGenerate(question);

  expect(asked()).toEqual(["gpt-6-luna"]);
});

test("auto() takes a model of one's own that was loaded with little, if that is enough", async () => {
  const small = { name: "qwen3:1.7b", parameters: "1.7B", context: 4096, contextMax: 4096 };
  const server = await startLocalServer("ollama", [small]);
  onTestFinished(() => server.close());
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("OLLAMA_HOST", server.url);
  for (const name of ["LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL"])
    vi.stubEnv(name, "http://127.0.0.1:1/v1");

  const answer = await auto({ local: true }).doGenerate(question);

  expect(answer.providerMetadata).toMatchObject({ kitbag: { model: "ollama/qwen3:1.7b" } });
});

test("auto() refuses options that there are not", () => {
  expect(() => auto({ prefers: "cost" } as AutoOptions)).toThrow(/^Cannot use "/u);
});

async function start(options: AutoOptions) {
  const server = await startModelServer(() => ({ text: "Hello" }));
  onTestFinished(() => server.close());
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const name of ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"]) vi.stubEnv(name, "");
  vi.stubEnv("OPENAI_API_KEY", server.key);
  vi.stubEnv("OPENAI_BASE_URL", server.url("openai-responses"));
  return { model: auto(options), asked: () => server.requests.map(({ body }) => body["model"]) };
}
