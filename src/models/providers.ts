/**
 * The providers of models, one row each: all that is particular to one of them. To add a provider, add a row (and its package to
 * `peerDependencies`). Other folders read the fields of a row through {@link providerRow}.
 */
import type * as AnthropicPackage from "@ai-sdk/anthropic";
import type * as GooglePackage from "@ai-sdk/google";
import type * as OpenAIPackage from "@ai-sdk/openai";
import type * as CompatiblePackage from "@ai-sdk/openai-compatible";
import type { JSONObject } from "@ai-sdk/provider";

import { loadPackage } from "../platform/load-package.ts";
import type { LlamaPackage } from "./llama/llama-package.ts";
import type { Model } from "./model.ts";
import type { OutputFormName } from "./output/output-form.ts";
import { findOllama } from "./servers/find-ollama.ts";
import type { LocalServer } from "./servers/server-model.ts";
import type { AnyModel } from "./shims/as-model.ts";

/** What is needed to speak to a provider; everything is checked. */
export interface Connection {
  readonly model: string;
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How it is asked. @default the `fetch` of the system */
  readonly fetch?: typeof fetch;
}

/** The environment: names to values. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** How a provider is reached, by the package that speaks to it. */
export interface Provider {
  /** Missing if Kitbag speaks to it without one. */
  readonly peer?: string;
  /** Its models are files on this machine: it has no address. */
  readonly isFile?: boolean;
  /** How it is asked what it has, if it is a server of your own. */
  readonly loadServer?: () => Promise<LocalServer>;
  /** The variables that may hold the key; the first is the one we tell about. */
  readonly keys: readonly string[];
  readonly needsKey: boolean;
  /** Where it is, as the environment says: the variable, if there is one, and its text. */
  findUrl(env: Environment): { readonly option: string; readonly url: string | undefined };
  /** Whether its package can be loaded, as far as that is known without loading it. */
  isInstalled(): boolean;
  /** Loads the package and makes the model. @throws {KitbagError} `package-missing` */
  connect(connection: Connection): Promise<AnyModel>;
}

/** Which pictures a provider takes. */
export interface ImageLimits {
  readonly mediaTypes: readonly string[];
  readonly maxBytes: number;
  /** The longest side, in pixels. */
  readonly maxEdge: number;
  /** The longest side if there are more than `manyImages` pictures. */
  readonly maxEdgeOfMany: number;
}

/** How a model says where something is in an image. */
export interface PlaceForm {
  /** `pixels` of the image that it sees, from 0 to 1 (`unit`), or from 0 to 1000 (`thousandths`). */
  readonly scale: "pixels" | "thousandths" | "unit";
  /** Which of two numbers comes first: what is along the width (`xy`), or along the height (`yx`). */
  readonly order: "xy" | "yx";
}

/** Models that count tokens alike. */
export type TokenFamily = "claude" | "gemini" | "usual";

/** A provider. A field that is missing means that nothing is particular there. */
export interface ProviderRow {
  /** How `resolveModel` reaches it; missing for providers that only come as a model of the AI SDK. */
  readonly connection?: Provider;
  /** What its models are called, for a name that says no provider. */
  readonly modelNames?: RegExp;
  /** Its name where prices are known. @default its name */
  readonly pricedAs?: string;
  /** Its answers cost nothing: Kitbag's own models, or a server on this machine. */
  readonly isFree?: boolean;
  /** It may have to load a model before it answers, and reads a prompt slowly. */
  readonly loadsModels?: boolean;
  /** It shows no sign of life while a model thinks: always, or these of its interfaces. */
  readonly thinksSilently?: true | readonly string[];
  readonly images?: ImageLimits;
  /** How its models say where something is in an image. @default in thousandths, x first */
  readonly places?: PlaceForm;
  /** Its interfaces whose tool results hold pictures; the others write them out as text, in base64. */
  readonly resultImages?: readonly string[];
  /** How its models count tokens, whatever they are called. */
  readonly tokens?: TokenFamily;
  /** It refuses ids of calls that others give: OpenAI takes 40 characters, Anthropic only those of a name. */
  readonly needsSafeIds?: boolean;
  /** Another provider whose options it reads too. */
  readonly sharesOptionsOf?: string;
  /** It reads changes of the list of tools in the middle of a conversation. */
  readonly readsToolChanges?: boolean;
  /** It thinks about an answer only if that began with its own thoughts; its options for thinking stand under its name. */
  readonly thinksFirst?: boolean;
  /** What says where a prompt can be cut, to a provider that caches only what it is told to. */
  readonly cacheMark?: { readonly [namespace: string]: JSONObject };
  /** How a model is shown a long list of tools. @default "dispatch" */
  readonly longExposure?: "announce" | "direct" | "dispatch";
  /** How it holds an answer to a schema; `as-is`: by itself. @default as is tried with a server of which nothing is known */
  readonly output?: OutputFormName | "as-is";
  /** Its name in traces. @default its name */
  readonly tracedAs?: string;
}

const webImages = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const openai: ProviderRow = {
  connection: {
    peer: "@ai-sdk/openai",
    isInstalled: () => isThere("@ai-sdk/openai"),
    keys: ["OPENAI_API_KEY"],
    needsKey: true,
    findUrl: fromVariable("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    connect: async (connection) => (await loadOpenAI(connection)).responses(connection.model),
  },
  modelNames: /^(?:chat)?gpt|^codex|^o[1-9]\b/iu,
  images: { mediaTypes: webImages, maxBytes: toBytes(20), maxEdge: Infinity, maxEdgeOfMany: Infinity },
  resultImages: ["openai.responses"],
  needsSafeIds: true,
  output: "openai",
  thinksSilently: ["openai.chat"],
};

const anthropic: ProviderRow = {
  connection: {
    peer: "@ai-sdk/anthropic",
    isInstalled: () => isThere("@ai-sdk/anthropic"),
    keys: ["ANTHROPIC_API_KEY"],
    needsKey: true,
    findUrl: fromVariable("ANTHROPIC_BASE_URL", "https://api.anthropic.com/v1"),
    async connect({ model, baseUrl, apiKey, headers }) {
      const { createAnthropic } = await load<typeof AnthropicPackage>("@ai-sdk/anthropic");
      return createAnthropic({ baseURL: baseUrl, headers: { ...headers }, ...keyOf(apiKey) })(model);
    },
  },
  modelNames: /^claude|^(?:opus|sonnet|haiku)\b/iu,
  images: { mediaTypes: webImages, maxBytes: toBytes(5), maxEdge: 8000, maxEdgeOfMany: 2000 },
  places: { scale: "pixels", order: "xy" },
  resultImages: ["anthropic.messages"],
  tokens: "claude",
  needsSafeIds: true,
  readsToolChanges: true,
  thinksFirst: true,
  cacheMark: { anthropic: { cacheControl: { type: "ephemeral" } } },
  longExposure: "announce",
  output: "anthropic",
};

const google: ProviderRow = {
  connection: {
    peer: "@ai-sdk/google",
    isInstalled: () => isThere("@ai-sdk/google"),
    keys: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
    needsKey: true,
    findUrl: () => ({ option: "baseUrl", url: "https://generativelanguage.googleapis.com/v1beta" }),
    async connect({ model, baseUrl, apiKey, headers }) {
      const { createGoogle } = await load<typeof GooglePackage>("@ai-sdk/google");
      return createGoogle({ baseURL: baseUrl, headers: { ...headers }, ...keyOf(apiKey) })(model);
    },
  },
  modelNames: /^gemini/iu,
  images: {
    mediaTypes: ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
    maxBytes: toBytes(7),
    maxEdge: Infinity,
    maxEdgeOfMany: Infinity,
  },
  places: { scale: "thousandths", order: "yx" },
  resultImages: ["google.generative-ai"],
  thinksSilently: true,
  sharesOptionsOf: "vertex",
  output: "google",
  tracedAs: "gcp.gemini",
};

const ofThisMachine = { isFree: true, loadsModels: true, output: "grammar" } as const;

const ollama: ProviderRow = {
  connection: {
    isInstalled: () => true,
    keys: ["OLLAMA_API_KEY"],
    needsKey: false,
    findUrl: findOllama,
    loadServer: async () => (await import("./servers/ollama.ts")).ollama,
    connect: async (connection) => (await import("./servers/ollama-chat.ts")).ollamaChat(connection),
  },
  ...ofThisMachine,
};

const lmstudio = ownServer(
  "lmstudio",
  { key: "LM_API_TOKEN", url: "LMSTUDIO_BASE_URL", port: 1234 },
  async () => (await import("./servers/lmstudio.ts")).lmstudio,
);
const llamaCpp = ownServer(
  "llamacpp",
  { key: "LLAMA_API_KEY", url: "LLAMACPP_BASE_URL", port: 8080 },
  async () => (await import("./servers/llama-cpp.ts")).llamaCpp,
);
const vllm = ownServer(
  "vllm",
  { key: "VLLM_API_KEY", url: "VLLM_BASE_URL", port: 8000 },
  async () => (await import("./servers/vllm.ts")).vllm,
);

const llama: ProviderRow = {
  connection: {
    peer: "node-llama-cpp",
    isFile: true,
    isInstalled: () => isThere("node-llama-cpp"),
    keys: [],
    needsKey: false,
    findUrl: () => ({ option: "baseUrl", url: undefined }),
    async connect({ model }) {
      const library = await load<LlamaPackage>("node-llama-cpp");
      return (await import("./llama/llama-model.ts")).llamaModel(library, model);
    },
  },
  ...ofThisMachine,
};

const bedrock: ProviderRow = { pricedAs: "aws", tracedAs: "aws.bedrock" };
const vertex: ProviderRow = { thinksSilently: true, pricedAs: "google", tracedAs: "gcp.vertex_ai", output: "google" };

/** The table, by the name that a model's name begins with. `local` needs nothing and is not in it. */
const rows: ReadonlyMap<string, ProviderRow> = new Map<string, ProviderRow>([
  ["openai", openai],
  [
    "openai-chat",
    {
      connection: {
        ...(openai.connection as Provider),
        connect: async (connection) => (await loadOpenAI(connection)).chat(connection.model),
      },
    },
  ],
  ["anthropic", anthropic],
  ["google", google],
  ["ollama", ollama],
  ["lmstudio", lmstudio],
  ["llamacpp", llamaCpp],
  ["vllm", vllm],
  ["llama", llama],
  [
    "openai-compatible",
    {
      connection: compatible("openai-compatible", {
        keys: ["KITBAG_OPENAI_COMPATIBLE_KEY"],
        findUrl: (env) => ({ option: "baseUrl", url: env["KITBAG_OPENAI_COMPATIBLE_URL"]?.trim() || undefined }),
      }),
      thinksSilently: true,
    },
  ],
  ["amazon-bedrock", bedrock],
  [
    "azure",
    {
      thinksSilently: ["azure.chat"],
      needsSafeIds: true,
      sharesOptionsOf: "openai",
      tracedAs: "azure.ai.openai",
      output: "openai",
    },
  ],
  ["azure-openai", { pricedAs: "azure" }],
  ["bedrock", bedrock],
  ["google-vertex", vertex],
  ["kitbag", { isFree: true, longExposure: "direct", output: "as-is" }],
  ["mistral", { tracedAs: "mistral_ai" }],
  ["togetherai", { pricedAs: "together" }],
  ["vertex", { ...vertex, sharesOptionsOf: "google" }],
  ["xai", { pricedAs: "x-ai", tracedAs: "x_ai" }],
]);

/** The providers that `resolveModel` reaches, by the names that models' names begin with. */
export const providers: ReadonlyMap<string, Provider> = new Map(
  [...rows].flatMap(([name, { connection }]) => (connection === undefined ? [] : [[name, connection] as const])),
);

/** The provider of a model, as `resolveModel` names it: packages say `openai.responses`, `google.generative-ai`. */
export function providerOf({ provider }: Pick<Model, "provider">): string {
  const end = provider.indexOf(".");
  return end === -1 ? provider : provider.slice(0, end);
}

const nothingKnown: ProviderRow = {};

/** What is particular about the provider of a model, or about one by its name; nothing if it is not known. */
export function providerRow(model: Pick<Model, "provider"> | string): ProviderRow {
  return rows.get(typeof model === "string" ? model : providerOf(model)) ?? nothingKnown;
}

/** The provider of models that are called like this, if it is well known. */
export function guessProvider(name: string): string | undefined {
  return [...rows].find(([, { modelNames }]) => modelNames?.test(name) === true)?.[0];
}

/** How a model counts tokens: by its name, since many providers have models of others. */
export function familyOf(model: Pick<Model, "provider" | "modelId">): TokenFamily {
  if (/claude/iu.test(model.modelId)) return "claude";
  return providerRow(model).tokens ?? (/gemini|gemma/iu.test(model.modelId) ? "gemini" : "usual");
}

/** A server that speaks as OpenAI's chat completions do, under a name of its own. */
function compatible(name: string, rest: Pick<Provider, "findUrl" | "keys">): Provider {
  const peer = "@ai-sdk/openai-compatible";
  return {
    peer,
    isInstalled: () => isThere(peer),
    needsKey: false,
    ...rest,
    async connect({ model, baseUrl, apiKey, headers, fetch: ask }) {
      const { createOpenAICompatible } = await load<typeof CompatiblePackage>(peer);
      const settings = {
        name,
        baseURL: baseUrl,
        headers: { ...headers },
        includeUsage: true,
        ...keyOf(apiKey),
        ...(ask && { fetch: ask }),
      };
      // What a server does not know of this, it is not asked again: see `models/output/with-output.ts`.
      return createOpenAICompatible({ ...settings, supportsStructuredOutputs: true })(model);
    },
  };
}

/** A server of one's own that speaks as OpenAI's chat completions do, on this machine unless a variable says otherwise. */
function ownServer(
  name: string,
  { key, url, port }: { readonly key: string; readonly url: string; readonly port: number },
  loadServer: () => Promise<LocalServer>,
): ProviderRow {
  const findUrl = fromVariable(url, `http://127.0.0.1:${port}/v1`);
  return { connection: { ...compatible(name, { keys: [key], findUrl }), loadServer }, ...ofThisMachine };
}

async function loadOpenAI({ baseUrl, apiKey, headers }: Connection) {
  const { createOpenAI } = await load<typeof OpenAIPackage>("@ai-sdk/openai");
  return createOpenAI({ baseURL: baseUrl, headers: { ...headers }, ...keyOf(apiKey) });
}

async function load<Module>(peer: string): Promise<Module> {
  return loadPackage<Module>(peer, "resolveModel");
}

function isThere(peer: string): boolean {
  // A bundler may have taken the function away: then loading will tell.
  if (typeof import.meta.resolve !== "function") return true;
  try {
    import.meta.resolve(peer);
    return true;
  } catch {
    return false;
  }
}

function keyOf(apiKey: string | undefined): { readonly apiKey?: string } {
  return apiKey === undefined ? {} : { apiKey };
}

/** Providers count the bytes of the base64 text, which is a third longer. */
function toBytes(megabytes: number): number {
  return Math.floor((megabytes * 1024 ** 2 * 3) / 4);
}

function fromVariable(option: string, usual: string): Provider["findUrl"] {
  return (env) => ({ option, url: env[option]?.trim() || usual });
}
