import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

import { expect, onTestFinished, test, vi } from "vitest";

import { createProject, runKitbag } from "../../../test/run-kitbag.ts";
import { startModelServer, type Script } from "../../../test/support/model-server.ts";
import type { ModelCheck } from "../doctor/check-models.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Nobody listens there. */
const nowhere = { OLLAMA_HOST: "127.0.0.1:1" };

test("kitbag doctor --models asks the offline model, and says which others it cannot ask and why", async () => {
  const { code, stdout } = await runKitbag(["doctor", "--models"], { env: nowhere });

  expect(stdout).toMatch(/^ +PROVIDER +MODEL +PACKAGE +KEY +ANSWERS IN +CALLS TOOLS +FOUND\n/u);
  expect(stdout).toMatch(/^✓ +local +local +not needed +not needed +[\d.]+ m?s +yes +works$/mu);
  expect(stdout).toMatch(/^· +anthropic +\S+ +installed +missing +skipped: no key: set ANTHROPIC_API_KEY$/mu);
  expect(stdout).toMatch(/^· +ollama +installed +not needed +skipped: no server at http:\/\/127\.0\.0\.1:1\/v1$/mu);
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

test("kitbag doctor --models asks the chosen model, and a server on this machine for what it has", async () => {
  const server = await serve(() => ({ text: "ready" }));
  const ollama = createServer((_request, response) => response.end('{"data": [{"id": "qwen3"}]}')).listen(
    0,
    "127.0.0.1",
  );
  await once(ollama, "listening");
  onTestFinished(() => void ollama.close());
  const env = {
    OLLAMA_HOST: `127.0.0.1:${(ollama.address() as AddressInfo).port}`,
    KITBAG_MODEL: `openai-compatible:${server.url("openai-compatible")}/tiny`,
    KITBAG_OPENAI_COMPATIBLE_KEY: server.key,
  };

  const { checks } = await checkModels(env);

  expect(find(checks, "openai-compatible")).toMatchObject({ status: "works", key: "not needed" });
  expect(find(checks, "ollama")).toMatchObject({ model: "ollama/qwen3", status: "failed" });
});

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
