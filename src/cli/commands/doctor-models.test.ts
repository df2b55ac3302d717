import { chmodSync } from "node:fs";
import { delimiter, join } from "node:path";

import { expect, onTestFinished, test, vi } from "vitest";

import { createProject, type Project, runKitbag } from "../../../test/run-kitbag.ts";
import {
  type LocalKind,
  type LocalModel,
  type LocalModelServer,
  startLocalServer,
} from "../../../test/support/local-server.ts";
import { startModelServer, type Script } from "../../../test/support/model-server.ts";
import type { ModelCheck } from "../doctor/check-models.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Nobody listens there. */
const nowhere = {
  OLLAMA_HOST: "127.0.0.1:1",
  LMSTUDIO_BASE_URL: "http://127.0.0.1:1/v1",
  LLAMACPP_BASE_URL: "http://127.0.0.1:1/v1",
  VLLM_BASE_URL: "http://127.0.0.1:1/v1",
};

test("kitbag doctor --models asks the offline model, and says which others it cannot ask and why", async () => {
  const { code, stdout } = await runKitbag(["doctor", "--models"], { env: nowhere });

  expect(stdout).toMatch(/^ +PROVIDER +MODEL +PACKAGE +KEY +ANSWERS IN +CALLS TOOLS +FOUND\n/u);
  expect(stdout).toMatch(/^✓ +local +local +not needed +not needed +[\d.]+ m?s +yes +works$/mu);
  expect(stdout).toMatch(/^· +anthropic +\S+ +installed +missing +skipped: no key: set ANTHROPIC_API_KEY$/mu);
  expect(stdout).toMatch(/^· +ollama +not needed +not needed +skipped: no server at http:\/\/127\.0\.0\.1:1\/v1$/mu);
  expect(stdout).toContain("local answers unless you say otherwise");
  expect(code).toBe(0);
});

test("kitbag doctor --models asks a provider that has a key two questions, and says whether it calls tools", async () => {
  const server = await serve(({ tools, results }) => {
    if (tools.length === 0 || results.length > 0) return { text: "ready" };
    return { calls: [{ id: "call_1", name: "add", input: { a: 19, b: 23 } }] };
  });
  const env = { ...nowhere, OPENAI_BASE_URL: server.url("openai-responses"), OPENAI_API_KEY: server.key };

  const { code, checks } = await checkModels(env);

  expect(find(checks, "openai")).toMatchObject({ package: "installed", key: "set", status: "works", callsTools: true });
  expect(server.requests).toHaveLength(3);
  expect(code).toBe(0);
});

test("kitbag doctor --models tells a model apart that only talks, and one whose key is wrong", async () => {
  const server = await serve(() => ({ text: "I would rather talk." }));
  const env = {
    ...nowhere,
    OPENAI_BASE_URL: server.url("openai-responses"),
    OPENAI_API_KEY: server.key,
    ANTHROPIC_BASE_URL: server.url("anthropic"),
    ANTHROPIC_API_KEY: ["not", "the", "key"].join("-"),
  };

  const { code, checks } = await checkModels(env);

  expect(find(checks, "openai")).toMatchObject({
    status: "works",
    callsTools: false,
    found: "it answers, but does not call tools",
  });
  expect(find(checks, "anthropic")).toMatchObject({ status: "failed", key: "set" });
  expect(JSON.stringify(checks)).not.toContain("not-the-key");
  expect(code).toBe(1);
});

test("kitbag doctor --models asks another model of a provider that does not have the first", async () => {
  const server = await serve(({ body }) => {
    const { model } = body as { readonly model: string };
    if (model === "claude-haiku-5-5") return { status: 404, message: `model: ${model} not found` };
    return { text: "ready" };
  });
  const openai = await serve(({ body }) => {
    const { model } = body as { readonly model: string };
    return { status: 404, message: `The model ${model} does not exist` };
  });
  const env = {
    ...nowhere,
    ANTHROPIC_BASE_URL: server.url("anthropic"),
    ANTHROPIC_API_KEY: server.key,
    OPENAI_BASE_URL: openai.url("openai-responses"),
    OPENAI_API_KEY: openai.key,
  };

  const { checks } = await checkModels(env);

  expect(find(checks, "anthropic")).toMatchObject({ model: expect.not.stringContaining("haiku-5-5"), status: "works" });
  expect(find(checks, "openai")).toMatchObject({ status: "failed", found: expect.stringContaining("check the name") });
  expect(openai.requests).toHaveLength(3);
});

test("kitbag doctor --models asks the chosen model, however it is named", async () => {
  const server = await serve(() => ({ text: "ready" }));
  const env = {
    ...nowhere,
    KITBAG_MODEL: `openai-compatible:${server.url("openai-compatible")}/tiny`,
    KITBAG_OPENAI_COMPATIBLE_KEY: server.key,
  };

  const { checks } = await checkModels(env);

  expect(find(checks, "openai-compatible")).toMatchObject({ status: "works", key: "not needed" });
});

const large: LocalModel = {
  name: "qwen3:32b",
  sizeBytes: 20_000_000_000,
  parameters: "32.8B",
  context: 16_384,
  isLoaded: true,
  vramShare: 0.6,
};
const small: LocalModel = { name: "qwen3:8b", sizeBytes: 5_000_000_000, context: 4096 };

test("kitbag doctor --models shows what servers of one's own have, what to do about it, and the graphics cards", async () => {
  const ollama = await startOwn("ollama", [small, large]);
  const vllm = await startOwn("vllm", [{ name: "org/qwen3", context: 8192 }]);
  const project = createProject({
    "bin/nvidia-smi": "#!/bin/sh\necho '0, NVIDIA GeForce RTX 4090, 24564, 20000, 87, 64'\n",
  });
  chmodSync(join(project.folder, "bin/nvidia-smi"), 0o755);
  const env = { ...nowhere, OLLAMA_HOST: ollama.url, VLLM_BASE_URL: vllm.url, PATH: toPath(project) };

  const { code, stdout } = await runKitbag(["doctor", "--models"], { project, env });

  expect(stdout).toMatch(/^✓ +ollama +qwen3:32b +not needed +not needed +[\d.]+ m?s +no +works: it answers/mu);
  expect(stdout).toMatch(
    /^ollama +qwen3:32b +18\.6 GiB +33 billion +Q4_K_M +16,384 of 40,960 +yes +no +60 % in VRAM/mu,
  );
  expect(stdout).toMatch(/^ollama +qwen3:8b +4\.7 GiB +8\.2 billion +Q4_K_M +40,960 +yes +no +no$/mu);
  expect(stdout).toContain("vllm: 3 requests running, 1 waiting, 31 % of the memory for conversations in use");
  expect(stdout).toMatch(
    /^qwen3:32b: 60 % of it is in VRAM.*use a smaller context \(now 16,384 tokens\), or qwen3:8b, which fits$/mu,
  );
  expect(stdout).toContain("GPU 0: NVIDIA GeForce RTX 4090, 19.5 GiB of 24.0 GiB in use, 87 % busy, 64 °C");
  expect(code).toBe(0);
});

async function startOwn(kind: LocalKind, models: readonly LocalModel[]): Promise<LocalModelServer> {
  const server = await startLocalServer(kind, models);
  onTestFinished(server.close);
  return server;
}

function toPath({ folder }: Project): string {
  return [join(folder, "bin"), process.env["PATH"] ?? ""].join(delimiter);
}

async function serve(script: Script): ReturnType<typeof startModelServer> {
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  return server;
}

async function checkModels(
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly checks: readonly ModelCheck[] }> {
  const { code, stdout } = await runKitbag(["doctor", "--models", "--json"], { project: createProject(), env });
  return { code, checks: (JSON.parse(stdout) as { models: ModelCheck[] }).models };
}

function find(checks: readonly ModelCheck[], provider: string): ModelCheck | undefined {
  return checks.find((check) => check.provider === provider);
}
