import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { onTestFinished } from "vitest";

import type { Model } from "../../src/models/model.ts";
import { ollamaChat } from "../../src/models/servers/ollama-chat.ts";
import { resolveModel, type ResolveModelOptions } from "../../src/models/resolve/resolve-model.ts";
import {
  startModelServer,
  type DialectName,
  type ModelServer,
  type ModelServerOptions,
  type Script,
} from "../support/model-server.ts";

/** A provider, through its real package. */
export interface Provider {
  readonly name: DialectName;
  /** What its thoughts carry that it wants to see again. `none`: it shows thoughts, or not even those. */
  readonly signature: "thinking" | "call" | "encrypted" | "none";
  /** The one string to change: how Kitbag finds a model of it. */
  readonly model: string;
  readonly createModel: (baseURL: string, apiKey: string) => Model;
}

/** Every provider of the table. */
export const providers: readonly Provider[] = [
  {
    name: "openai-chat",
    model: "openai-chat/gpt-5.2",
    signature: "none",
    createModel: (baseURL, apiKey) => createOpenAI({ baseURL, apiKey }).chat("gpt-5.2"),
  },
  {
    name: "openai-responses",
    model: "openai/gpt-5.2",
    signature: "encrypted",
    createModel: (baseURL, apiKey) => createOpenAI({ baseURL, apiKey }).responses("gpt-5.2"),
  },
  {
    name: "anthropic",
    model: "anthropic/claude-sonnet-4-5",
    signature: "thinking",
    createModel: (baseURL, apiKey) => createAnthropic({ baseURL, apiKey })("claude-sonnet-4-5"),
  },
  {
    name: "google",
    model: "google/gemini-3-pro-preview",
    signature: "call",
    createModel: (baseURL, apiKey) => createGoogle({ baseURL, apiKey })("gemini-3-pro-preview"),
  },
  {
    name: "openai-compatible",
    model: "openai-compatible/llama-4",
    signature: "none",
    createModel: (baseURL, apiKey) =>
      createOpenAICompatible({ name: "compatible", baseURL, apiKey, includeUsage: true })("llama-4"),
  },
  {
    name: "ollama",
    model: "ollama/llama-4",
    signature: "none",
    createModel: (baseUrl, apiKey) => ollamaChat({ model: "llama-4", baseUrl, apiKey, headers: {} }),
  },
];

/** Starts a server for a provider, and its package's model that talks to it. Both are gone when the test is over. */
export async function startProvider(
  { name, createModel }: Provider,
  script: Script,
  options?: ModelServerOptions,
): Promise<{ server: ModelServer; model: Model }> {
  const server = await startModelServer(script, options);
  onTestFinished(() => server.close());
  return { server, model: createModel(server.url(name), server.key) };
}

/** Starts a server for a provider, and finds its model as everybody does: by its name. */
export async function resolveProvider(
  { name, model }: Provider,
  script: Script,
  options?: ModelServerOptions,
  more: ResolveModelOptions = {},
): Promise<{ server: ModelServer; model: Model }> {
  const server = await startModelServer(script, options);
  onTestFinished(() => server.close());
  const found = await resolveModel(model, { baseUrl: server.url(name), apiKey: server.key, env: {}, ...more });
  return { server, model: found };
}
