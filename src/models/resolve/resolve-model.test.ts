import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { lookup } from "node:dns/promises";
import { inspect } from "node:util";

import { expect, test, type TestContext } from "vitest";

import { isKitbagError, type ErrorCode, type KitbagError } from "../../core/errors.ts";
import type { Model, ModelCall } from "../model.ts";
import { type Connection, type Provider, providers } from "../providers.ts";
import { resolveFrom, resolveModel, type ResolveModelOptions } from "./resolve-model.ts";
import type { ModelSettings } from "./with-settings.ts";

const keys = {
  OPENAI_API_KEY: "key-of-openai",
  ANTHROPIC_API_KEY: "key-of-anthropic",
  GOOGLE_GENERATIVE_AI_API_KEY: "key-of-google",
};

test.for([
  ["openai/gpt-6-sol", "openai.responses", "gpt-6-sol"],
  ["openai-chat/gpt-6-sol", "openai.chat", "gpt-6-sol"],
  ["anthropic/claude-sonnet-5", "anthropic.messages", "claude-sonnet-5"],
  ["google/gemini-3.8-flash", "google.generative-ai", "gemini-3.8-flash"],
  ["ollama/qwen3:8b", "ollama.chat", "qwen3:8b"],
  ["lmstudio/meta/llama-4", "lmstudio.chat", "meta/llama-4"],
  ["llamacpp/qwen3", "llamacpp.chat", "qwen3"],
  ["vllm/org/qwen3", "vllm.chat", "org/qwen3"],
  ["openai-compatible:http://127.0.0.1:8000/v1/org/model", "openai-compatible.chat", "org/model"],
] as const)("resolveModel() makes of %s a model of %s", async ([name, provider, modelId]) => {
  const model = await resolveModel(name, { env: keys });

  expect(model).toMatchObject({ specificationVersion: "v4", provider, modelId });
});

test.for([
  ["openai/gpt-6-sol", "/responses", "authorization", "Bearer key-of-openai"],
  ["openai-chat/gpt-6-sol", "/chat/completions", "authorization", "Bearer key-of-openai"],
  ["anthropic/claude-sonnet-5", "/messages", "x-api-key", "key-of-anthropic"],
  ["google/gemini-3.8-flash", "/models/gemini-3.8-flash:generateContent", "x-goog-api-key", "key-of-google"],
  ["ollama/qwen3:8b", "/api/chat", "authorization", undefined],
  ["lmstudio/qwen3", "/chat/completions", "authorization", undefined],
] as const)("resolveModel(%s) asks at the URL it is given, with its own key", async ([name, path, header, value]) => {
  const seen = await withServer(async (baseUrl) => ask(await resolveModel(name, { env: keys, baseUrl })));

  expect(seen).toMatchObject([{ path: `/base${path}` }]);
  expect(seen[0]?.headers[header]).toBe(value);
});

test("R5: resolveModel() asks no server behind a name in the URL that leads to this machine", async () => {
  let thrown: unknown;

  const seen = await withServer(async (baseUrl) => {
    const name = `openai-compatible:${baseUrl.replace("127.0.0.1", "models.test")}/tiny`;
    const model = await resolveFrom(providers, name, { env: keys }, () => Promise.resolve(["127.0.0.1"]));
    thrown = await Promise.resolve(model.doGenerate(question)).catch((cause: unknown) => cause);
  });

  expect(String(thrown)).toContain("it is a loopback address; if that is meant, write the address itself");
  expect(seen).toEqual([]);
});

test.for([
  ["the address in the name", (url: string) => [`openai-compatible:${url}/tiny`, {}]],
  ["localhost in the name", (url: string) => [`openai-compatible:${url.replace("127.0.0.1", "localhost")}/tiny`, {}]],
  ["the environment", (url: string) => ["openai-compatible/tiny", { env: { KITBAG_OPENAI_COMPATIBLE_URL: url } }]],
] as const satisfies [string, (url: string) => [string, ResolveModelOptions]][])(
  "resolveModel() asks a server of this machine that %s says",
  async ([place, toRequest], context) => {
    if (place.startsWith("localhost")) await needLocalhost(context);
    const seen = await withServer(async (baseUrl) => {
      const [name, options] = toRequest(baseUrl);
      await ask(await resolveModel(name, options));
    });

    expect(seen).toMatchObject([{ path: "/base/chat/completions" }]);
  },
);

test("resolveModel() makes of local a model that needs neither key nor network", async () => {
  const model = await resolveModel("local", { env: {} });

  const { content } = await model.doGenerate(question);

  expect(model.specificationVersion).toBe("v4");
  expect(content).toMatchObject([{ type: "text" }]);
});

test("resolveModel() prefers the key and the URL that are given to those of the environment", async () => {
  const seen = await withServer(async (baseUrl) => {
    const env = { ...keys, OPENAI_BASE_URL: "http://127.0.0.1:1/nowhere" };
    await ask(
      await resolveModel("openai/gpt-6-sol", { env, baseUrl, apiKey: "key-given", headers: { "x-team": "blue" } }),
    );
  });

  expect(seen[0]?.headers).toMatchObject({ authorization: "Bearer key-given", "x-team": "blue" });
});

test("resolveModel() reads the URL of a provider from the environment that it is given", async () => {
  const seen = await withServer(async (baseUrl) => {
    await ask(await resolveModel("anthropic/claude-sonnet-5", { env: { ...keys, ANTHROPIC_BASE_URL: `${baseUrl}/` } }));
  });

  expect(seen).toMatchObject([{ path: "/base/messages" }]);
});

test("resolveModel() sends the key of a server of one's own, and no other key", async () => {
  const seen = await withServer(async (baseUrl) => {
    const env = { ...keys, KITBAG_OPENAI_COMPATIBLE_KEY: "key-of-mine" };
    await ask(await resolveModel(`openai-compatible:${baseUrl}#org/model`, { env }));
    await ask(await resolveModel(`openai-compatible:${baseUrl}#org/model`, { env: keys }));
  });

  expect(seen.map(({ headers }) => headers["authorization"])).toEqual(["Bearer key-of-mine", undefined]);
  expect(seen.map(({ body }) => (body as { model?: string }).model)).toEqual(["org/model", "org/model"]);
});

test("resolveModel() finds Ollama where OLLAMA_HOST says", async () => {
  const seen = await withServer(async (baseUrl) => {
    const { port } = new URL(baseUrl);
    for (const host of [
      `127.0.0.1:${port}`,
      `:${port}`,
      `0.0.0.0:${port}`,
      `http://127.0.0.1:${port}/`,
      `http://127.0.0.1:${port}/v1`,
    ]) {
      await ask(await resolveModel("ollama/qwen3", { env: { OLLAMA_HOST: host } }));
    }
  });

  expect(seen.map(({ path }) => path)).toEqual(Array.from({ length: 5 }, () => "/api/chat"));
});

test("resolveModel() sends the settings with every question", async () => {
  const seen = await withServer(async (baseUrl) => {
    const settings = { temperature: 0.5, maxOutputTokens: 99, seed: 7, stop: ["END"] };
    await ask(await resolveModel("lmstudio/qwen3", { env: {}, baseUrl, settings }));
    await ask(await resolveModel("ollama/qwen3", { env: {}, baseUrl, settings }));
  });

  expect(seen[0]?.body).toMatchObject({ temperature: 0.5, max_tokens: 99, seed: 7, stop: ["END"] });
  expect(seen[1]?.body).toMatchObject({ options: { temperature: 0.5, num_predict: 99, seed: 7, stop: ["END"] } });
});

test("resolveModel() takes a key without the blanks around it", async () => {
  const seen = await withServer(async (baseUrl) => {
    await ask(await resolveModel("openai/gpt-6-sol", { env: { OPENAI_API_KEY: "  key-of-openai\n" }, baseUrl }));
  });

  expect(seen[0]?.headers["authorization"]).toBe("Bearer key-of-openai");
});

test.for([
  ["openai/gpt-6-sol", ["OPENAI_API_KEY"]],
  ["anthropic/claude-sonnet-5", ["ANTHROPIC_API_KEY"]],
  ["google/gemini-3.8-flash", ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"]],
] as const)("resolveModel(%s) names the key that is missing", async ([name, variables]) => {
  for (const env of [{}, Object.fromEntries(variables.map((variable) => [variable, "  "]))]) {
    const cause = await failure("model-key-missing", name, { env });

    expect(cause.details.variables).toEqual(variables);
    expect(cause.message).toContain(`set ${variables.join(" or ")}`);
  }
});

test("resolveModel() takes the second variable of a key where the first is empty", async () => {
  const model = await resolveModel("google/gemini-3.8-flash", {
    env: { GOOGLE_GENERATIVE_AI_API_KEY: "", GEMINI_API_KEY: "key-of-google" },
  });

  expect(model.modelId).toBe("gemini-3.8-flash");
});

test("resolveFrom() says which package to install and which key to set", async () => {
  const cause = await resolveFrom(absent(true), "acme/one", { env: {} }).catch((cause: unknown) => cause);
  const withoutKey = await resolveFrom(absent(false), "acme/one", { env: {} }).catch((cause: unknown) => cause);

  expect(isKitbagError(cause, "provider-missing") && cause.message).toBe(
    'Cannot use the model "acme/one": the package "@acme/sdk" is not installed; run: npm install @acme/sdk, and set ACME_KEY',
  );
  expect(isKitbagError(withoutKey, "provider-missing") && withoutKey.message).toMatch(/npm install @acme\/sdk$/u);
});

test("resolveFrom() passes on what else goes wrong when a package is loaded", async () => {
  const broken = new SyntaxError("the package is broken");
  const known = new Map([["acme", { ...provider(true), connect: () => Promise.reject(broken) }]]);

  await expect(resolveFrom(known, "acme/one", { env: {} })).rejects.toBe(broken);
});

test.for([
  ["opnai/gpt-6-sol", "openai"],
  ["antropic/claude", "anthropic"],
  ["gogle/gemini", "google"],
  ["LMStudio/llama", "lmstudio"],
  ["olama/llama", "ollama"],
] as const)("resolveModel(%s) asks whether %s was meant", async ([name, nearest]) => {
  const cause = await failure("provider-unknown", name, { env: keys });

  expect(cause.details.nearest).toContain(nearest);
});

test.for([
  ["claude/sonnet", "anthropic"],
  ["Gemini/gemini-3", "google"],
  ["chatgpt/gpt-6", "openai"],
] as const)("resolveModel(%s) knows that %s makes such models", async ([name, provider]) => {
  const cause = await failure("provider-unknown", name, { env: keys });

  expect(cause.details.nearest).toEqual([provider]);
});

test.for([
  ["gpt-6-sol", "openai/gpt-6-sol"],
  ["o3", "openai/o3"],
  ["claude-sonnet-5", "anthropic/claude-sonnet-5"],
  ["gemini-3-pro", "google/gemini-3-pro"],
  ["openai:gpt-6-sol", "openai/gpt-6-sol"],
  ["Anthropic:claude-sonnet-5", "anthropic/claude-sonnet-5"],
  ["ollama", "ollama/…"],
  ["OpenAI/", "openai/…"],
  ["Local", "local"],
  ["local/model", "local"],
] as const)("resolveModel(%s) asks whether %s was meant, provider and all", async ([name, meant]) => {
  const { message } = await failure("model-name-invalid", name, { env: keys });

  expect(message).toContain(`did you mean "${meant}"?`);
});

test("resolveModel() refuses options and settings that there are not, with the nearest name", async () => {
  const options = { env: keys, aipKey: "x" } as ResolveModelOptions;
  const settings = { temprature: 1 } as ModelSettings;

  expect((await failure("option-invalid", "openai/gpt-6-sol", options)).message).toContain('expected "apiKey"');
  expect((await failure("option-invalid", "local", { settings })).message).toContain('expected "temperature"');
});

test.for(["models/tiny.gguf", "/models/with a space/tiny.gguf", "../tiny.gguf", "~/tiny.gguf"])(
  "resolveModel() takes the path of a model file as it is: %s",
  async (path) => {
    const row = { ...providers.get("llama"), connect: ({ model }: Connection) => Promise.resolve(named(model)) };

    const { modelId } = await resolveFrom(new Map([["llama", row as Provider]]), `llama/${path}`, { env: {} });

    expect(modelId).toBe(path);
  },
);

test("resolveModel() lists the providers when none has a similar name", async () => {
  const { message } = await failure("provider-unknown", "zzzzzz/model", { env: keys });

  expect(message).toMatch(
    /there are openai, openai-chat, anthropic, google, ollama, lmstudio, llamacpp, vllm, llama, openai-compatible, local/u,
  );
});

test("resolveModel() finds no provider by a name that every object has", async () => {
  for (const name of ["__proto__/x", "constructor/x", "toString/x"])
    await failure("provider-unknown", name, { env: keys });
});

test.for([
  "",
  "   ",
  "openai",
  "openai/",
  "/gpt",
  "openai/gpt 6",
  " openai/gpt",
  "openai/gpt\u0000",
  "openai/\u001b[31mred",
  "openai/\u202egpt",
  `openai/${"x".repeat(100_000)}`,
  "file:///etc/passwd",
  "https://api.example/v1/model",
  "google/../../secrets",
  "google/gemini?key=1",
  "google/gemini#x",
  "google/%2e%2e/x",
  "openai//gpt",
  "openai-compatible:",
  "openai-compatible:qwen",
  "openai-compatible:http://host",
  "openai-compatible:http://host/",
  "openai-compatible:http://host/v1/",
  "openai-compatible:file:///etc/passwd/model",
  "openai-compatible:ftp://host/v1/model",
  "openai-compatible:http://host/v1#",
  "openai-compatible:http://ho st/v1/model",
  "openai-compatible:http://host/v1?a=b#model",
  "local/",
  "local/model",
])("resolveModel(%j) is refused with a reason", async (name) => {
  const cause = await resolveModel(name, { env: keys }).catch((cause: unknown) => cause);

  expect(isKitbagError(cause) && cause.code).toMatch(/^(?:model-name-invalid|provider-unknown)$/u);
  expect((cause as KitbagError).message.length).toBeLessThan(500);
});

test.for([undefined, null, 7, {}, ["openai/gpt"], Symbol("openai/gpt")])(
  "resolveModel() refuses %s, which is no text",
  async (name) => {
    await failure("model-name-invalid", name as string, { env: keys });
  },
);

test("resolveModel() does not show a password or a key that stands in the wrong place", async () => {
  const secret = ["hunter", "2222"].join("");
  const key = ["sk-proj", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"].join("-");
  const causes = await Promise.all([
    failure("model-name-invalid", `openai-compatible:https://ada:${secret}@host/v1/model`),
    failure("model-name-invalid", `openai-compatible:https://host/v1/model?api_key=${secret}`),
    failure("model-name-invalid", `https://ada:${secret}@host/v1/model`),
    failure("model-name-invalid", key),
    failure("provider-unknown", `${key}/model`),
    failure("option-invalid", "openai/gpt-6-sol", { env: keys, baseUrl: `https://ada:${secret}@host/v1` }),
    failure("option-invalid", "openai/gpt-6-sol", { env: keys, baseUrl: `https://host/v1?key=${secret}` }),
    failure("option-invalid", "openai/gpt-6-sol", { env: { OPENAI_API_KEY: `${secret}\n${secret}` } }),
    failure("option-invalid", "openai/gpt-6-sol", { env: keys, headers: { authorization: `${secret}\r\nx: y` } }),
  ]);

  for (const cause of causes) {
    expect(inspect(cause, { depth: 10 })).not.toContain(secret);
    expect(inspect(cause, { depth: 10 })).not.toContain(key);
  }
});

test.for([
  { apiKey: "" },
  { apiKey: "kéy\u0100" },
  { apiKey: 7 as unknown as string },
  { baseUrl: "" },
  { baseUrl: "nowhere" },
  { baseUrl: "file:///etc/passwd" },
  { baseUrl: 7 as unknown as string },
  { headers: { "no name": "x" } },
  { headers: { name: 7 as unknown as string } },
  { settings: { temperature: Number.NaN } },
  { settings: { temperature: -1 } },
  { settings: { maxOutputTokens: 0 } },
  { settings: { maxOutputTokens: 1.5 } },
  { settings: { topP: 2 } },
  { settings: { topK: 0 } },
  { settings: { seed: Number.POSITIVE_INFINITY } },
  { settings: { stop: [""] } },
  { settings: { reasoning: "much" as "max" } },
  { settings: { providerOptions: { openai: 7 as unknown as object } } as object },
  { settings: { temprature: 1 } as object },
] satisfies ResolveModelOptions[])("resolveModel() refuses the options %j", async (options) => {
  const cause = await failure("option-invalid", "openai/gpt-6-sol", { env: keys, ...options });

  expect(cause.message).toMatch(/^Cannot use "/u);
});

test("resolveModel() needs a URL for a server that it knows nothing of", async () => {
  const cause = await failure("option-invalid", "openai-compatible/qwen3", { env: {} });
  const model = await resolveModel("openai-compatible/qwen3", { env: {}, baseUrl: "http://127.0.0.1:8000/v1" });

  expect(cause.details).toMatchObject({ option: "baseUrl", found: "nothing" });
  expect(model.modelId).toBe("qwen3");
});

async function failure<Code extends ErrorCode>(
  code: Code,
  name: string,
  options: ResolveModelOptions = { env: keys },
): Promise<KitbagError<Code>> {
  const cause = await resolveModel(name, options).catch((cause: unknown) => cause);
  if (isKitbagError(cause, code)) return cause;
  throw new Error(`expected ${code}`, { cause });
}

const sdk: string = "@acme/sdk";

function provider(needsKey: boolean): Provider {
  return {
    peer: sdk,
    isInstalled: () => false,
    keys: ["ACME_KEY"],
    needsKey,
    findUrl: () => ({ option: "baseUrl", url: "https://acme.example" }),
    connect: () => import(sdk) as Promise<Model>,
  };
}

function absent(needsKey: boolean): ReadonlyMap<string, Provider> {
  return new Map([["acme", provider(needsKey)]]);
}

const question: ModelCall = { prompt: [{ role: "user", content: [{ type: "text", text: "Hello" }] }] };

/** Asks, and does not mind that the server's answer is none. */
async function ask(model: Model): Promise<void> {
  await Promise.resolve(model.doGenerate(question)).catch(() => {});
}

function named(modelId: string): Model {
  const never = (): Promise<never> => Promise.reject(new Error("not asked"));
  return {
    specificationVersion: "v4",
    provider: "llama",
    modelId,
    supportedUrls: {},
    doGenerate: never,
    doStream: never,
  };
}

interface SeenRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** Runs a server that says no to everything, and answers with what it was asked. */
async function withServer(use: (baseUrl: string) => Promise<void>): Promise<SeenRequest[]> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      // What a server of one's own is asked about itself is no question to a model.
      const path = String(request.url);
      const isAbout = request.method === "GET" || path.endsWith("/api/show");
      if (!isAbout) seen.push({ path, headers: request.headers, body: JSON.parse(text) });
      response.writeHead(400).end("{}");
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/base`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return seen;
}

/** A machine without /etc/hosts does not know the name. */
async function needLocalhost({ skip }: Pick<TestContext, "skip">): Promise<void> {
  if (process.env["KITBAG_REQUIRE_ALL"] === "1") return;
  const isKnown = await lookup("localhost").then(
    () => true,
    () => false,
  );
  skip(!isKnown, "address of localhost is not on this machine");
}
