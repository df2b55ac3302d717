import type { AnyModel } from "../shims/as-model.ts";

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

/** A provider of models, and the package that speaks to it. */
export interface Provider {
  readonly peer: string;
  /** The variables that may hold the key; the first is the one we tell about. */
  readonly keys: readonly string[];
  readonly needsKey: boolean;
  /** Where it is, as the environment says: the variable, if there is one, and its text. */
  findUrl(env: Environment): { readonly option: string; readonly url: string | undefined };
  /** Whether its package can be loaded, as far as that is known without loading it. */
  isInstalled(): boolean;
  /** Loads the package and makes the model. Rejects with what `import` rejects with. */
  connect(connection: Connection): Promise<AnyModel>;
}

const openai: Provider = {
  peer: "@ai-sdk/openai",
  isInstalled: () => isThere("@ai-sdk/openai"),
  keys: ["OPENAI_API_KEY"],
  needsKey: true,
  findUrl: fromVariable("OPENAI_BASE_URL", "https://api.openai.com/v1"),
  async connect({ model, baseUrl, apiKey, headers }) {
    const { createOpenAI } = await import("@ai-sdk/openai");
    return createOpenAI({ baseURL: baseUrl, headers: { ...headers }, ...keyOf(apiKey) }).responses(model);
  },
};

const openaiChat: Provider = {
  ...openai,
  async connect({ model, baseUrl, apiKey, headers }) {
    const { createOpenAI } = await import("@ai-sdk/openai");
    return createOpenAI({ baseURL: baseUrl, headers: { ...headers }, ...keyOf(apiKey) }).chat(model);
  },
};

const anthropic: Provider = {
  peer: "@ai-sdk/anthropic",
  isInstalled: () => isThere("@ai-sdk/anthropic"),
  keys: ["ANTHROPIC_API_KEY"],
  needsKey: true,
  findUrl: fromVariable("ANTHROPIC_BASE_URL", "https://api.anthropic.com/v1"),
  async connect({ model, baseUrl, apiKey, headers }) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic({ baseURL: baseUrl, headers: { ...headers }, ...keyOf(apiKey) })(model);
  },
};

const google: Provider = {
  peer: "@ai-sdk/google",
  isInstalled: () => isThere("@ai-sdk/google"),
  keys: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
  needsKey: true,
  findUrl: () => ({ option: "baseUrl", url: "https://generativelanguage.googleapis.com/v1beta" }),
  async connect({ model, baseUrl, apiKey, headers }) {
    const { createGoogle } = await import("@ai-sdk/google");
    return createGoogle({ baseURL: baseUrl, headers: { ...headers }, ...keyOf(apiKey) })(model);
  },
};

/** A server that speaks as OpenAI's chat completions do, under a name of its own. */
function compatible(name: string, rest: Pick<Provider, "findUrl" | "keys">): Provider {
  return {
    peer: "@ai-sdk/openai-compatible",
    isInstalled: () => isThere("@ai-sdk/openai-compatible"),
    needsKey: false,
    ...rest,
    async connect({ model, baseUrl, apiKey, headers, fetch: ask }) {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const isOurs = name !== "openai-compatible";
      const settings = {
        name,
        baseURL: baseUrl,
        headers: { ...headers },
        includeUsage: true,
        ...keyOf(apiKey),
        ...(ask && { fetch: ask }),
      };
      // Ollama and LM Studio hold an answer to a schema; of a server that we do not know it is not sure.
      return createOpenAICompatible({ ...settings, supportsStructuredOutputs: isOurs })(model);
    },
  };
}

/** The providers that a name may begin with. `local` is none: it needs nothing. */
export const providers: ReadonlyMap<string, Provider> = new Map([
  ["openai", openai],
  ["openai-chat", openaiChat],
  ["anthropic", anthropic],
  ["google", google],
  ["ollama", compatible("ollama", { keys: [], findUrl: findOllama })],
  [
    "lmstudio",
    compatible("lmstudio", { keys: [], findUrl: () => ({ option: "baseUrl", url: "http://127.0.0.1:1234/v1" }) }),
  ],
  [
    "openai-compatible",
    compatible("openai-compatible", {
      keys: ["KITBAG_OPENAI_COMPATIBLE_KEY"],
      findUrl: (env) => ({ option: "baseUrl", url: env["KITBAG_OPENAI_COMPATIBLE_URL"]?.trim() || undefined }),
    }),
  ],
]);

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

function fromVariable(option: string, usual: string): Provider["findUrl"] {
  return (env) => ({ option, url: env[option]?.trim() || usual });
}

/** `OLLAMA_HOST` is a host, a port or a URL; what a server listens on with `0.0.0.0` is reached on this machine. */
function findOllama(env: Environment): { readonly option: string; readonly url: string } {
  const option = "OLLAMA_HOST";
  const host = env[option]?.trim() || "127.0.0.1:11434";
  const whole = /^https?:\/\//u.test(host) ? host : `http://${host.replace(/^:/u, "127.0.0.1:")}`;
  const url = URL.parse(whole);
  if (url === null) return { option, url: whole };
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  // The usual ports of the web are left out of a URL that says them: only one without any gets ours.
  if (url.port === "" && !/:\d+\/?$/u.test(whole) && url.protocol === "http:") url.port = "11434";
  url.pathname = /\/v1\/?$/u.test(url.pathname) ? url.pathname : `${url.pathname.replace(/\/$/u, "")}/v1`;
  return { option, url: url.href };
}
