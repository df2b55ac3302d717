import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Lookup } from "../../sandbox/egress/network-rule.ts";
import { checkOptionNames } from "../check-option-names.ts";
import type { Model } from "../model.ts";
import { asModel, type AnyModel } from "../shims/as-model.ts";
import { withSafeIds } from "../shims/call-ids.ts";
import { checkBaseUrl, parseModelName, showName } from "./parse-model-name.ts";
import { guessProvider, providers, type Connection, type Environment, type Provider } from "../providers.ts";
import { withSettings, type ModelSettings } from "./with-settings.ts";

/** How {@link resolveModel} finds a model. */
export interface ResolveModelOptions {
  /** @default the provider's variable in the environment */
  readonly apiKey?: string;
  /** Where the provider is, if it is not where it usually is: a proxy, a server of your own. */
  readonly baseUrl?: string;
  /** Sent with each request, after the provider's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What the model is told with every question: see {@link withSettings}. */
  readonly settings?: ModelSettings;
  /** @default process.env */
  readonly env?: Environment;
}

/**
 * Finds a model by its name: `openai/…` (`openai-chat/…` for chat completions), `anthropic/…`, `google/…`, `ollama/…`,
 * `lmstudio/…`, `openai-compatible:URL/…`, or `local`, which needs neither key nor network. A host name in such a URL must not lead
 * to this machine or a private network: write the address, or pass `baseUrl`.
 *
 * The package of the provider is loaded when a model of it is asked for. Nothing is sent: whether the provider knows the model
 * is found out with the first question. Calls are made once: see `withRetries`.
 *
 * @example
 * ```ts
 * import { isKitbagError } from "kitbag";
 * import { resolveModel } from "kitbag/models";
 *
 * const model = await resolveModel("ollama/qwen3", { settings: { temperature: 0 } });
 * console.assert(model.provider === "ollama.chat" && model.modelId === "qwen3");
 *
 * const cause = await resolveModel("openai/gpt-6-sol", { env: {} }).catch((cause: unknown) => cause);
 * console.assert(isKitbagError(cause, "model-key-missing") && cause.details.variables[0] === "OPENAI_API_KEY");
 * ```
 *
 * @throws {KitbagError} (rejects) `model-name-invalid`, `provider-unknown`, `provider-missing` if the package is not installed,
 * `model-key-missing`, `option-invalid`
 */
export async function resolveModel(name: string, options: ResolveModelOptions = {}): Promise<Model> {
  return resolveFrom(providers, name, options);
}

/** Finds a model of these providers. */
export async function resolveFrom(
  known: ReadonlyMap<string, Provider>,
  name: string,
  { settings, ...options }: ResolveModelOptions,
  lookup?: Lookup,
): Promise<Model> {
  const model = withSafeIds(asModel(await connect(known, name, options, lookup)));
  return settings === undefined ? model : withSettings(model, settings);
}

async function connect(
  known: ReadonlyMap<string, Provider>,
  name: string,
  options: Omit<ResolveModelOptions, "settings">,
  lookup: Lookup | undefined,
): Promise<AnyModel> {
  checkOptionNames(options, optionNames);
  const parsed = parseModelName(name);
  if (parsed.provider === "local") return loadLocal();
  const provider = known.get(parsed.provider);
  if (provider === undefined) throw unknownProvider(parsed.provider, [...known.keys(), "local"]);

  const { env = process.env, headers = {} } = options;
  const connection: Connection = {
    model: parsed.model,
    baseUrl: findBaseUrl(provider, parsed.url, options.baseUrl, env),
    headers: checkHeaders(headers),
    ...findKey(provider, options.apiKey, env),
    ...(parsed.url !== undefined && options.baseUrl === undefined && (await guard(parsed.url, lookup))),
  };
  if (provider.needsKey && connection.apiKey === undefined) {
    // If the package is missing too, `load` throws an error that names both.
    await load(provider, name, { ...connection, apiKey: "none" });
    throw new KitbagError("model-key-missing", { model: showName(name), variables: provider.keys });
  }
  return load(provider, name, connection);
}

/** A name may come with a project: the URL in it leads to this machine or a private network only if it says so itself. */
async function guard(text: string, lookup: Lookup | undefined): Promise<Pick<Connection, "fetch">> {
  const { guardedFetch } = await import("../../sandbox/download/guarded-fetch.ts");
  const { listInnerHost, toTarget } = await import("../../sandbox/download/guarded-fetch.ts");
  const { showTarget } = await import("../../sandbox/egress/network-rule.ts");
  const url = new URL(text);
  const reach = {
    allowHosts: listInnerHost(url),
    plainHosts: [showTarget(toTarget(url))],
    cure: "if that is meant, write the address itself, or set KITBAG_OPENAI_COMPATIBLE_URL",
  };
  return { fetch: guardedFetch({ ...reach, ...(lookup !== undefined && { lookup }) }) };
}

const optionNames = [
  "apiKey",
  "baseUrl",
  "headers",
  "settings",
  "env",
] as const satisfies (keyof ResolveModelOptions)[];

async function loadLocal(): Promise<AnyModel> {
  const { localModel } = await import("../local/local-model.ts");
  return localModel();
}

async function load(provider: Provider, name: string, connection: Connection): Promise<AnyModel> {
  try {
    return await provider.connect(connection);
  } catch (cause) {
    const { code } = (cause ?? {}) as { code?: unknown };
    const isMissing = isKitbagError(cause, "package-missing") || code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing && code !== "MODULE_NOT_FOUND") throw cause;
    const facts = { model: showName(name), peer: provider.peer, variables: provider.needsKey ? provider.keys : [] };
    throw new KitbagError("provider-missing", facts, { cause });
  }
}

function unknownProvider(provider: string, known: readonly string[]): KitbagError {
  const guessed = guessProvider(provider);
  return new KitbagError("provider-unknown", {
    provider: showName(provider),
    nearest: guessed === undefined ? nearestNames(provider, known) : [guessed],
    known,
  });
}

function findBaseUrl(
  provider: Provider,
  named: string | undefined,
  given: string | undefined,
  env: Environment,
): string {
  if (named !== undefined && given === undefined) return named;
  const { option, url } = given === undefined ? provider.findUrl(env) : { option: "baseUrl", url: given };
  if (url !== undefined) return checkBaseUrl(option, url);
  throw new KitbagError("option-invalid", {
    option,
    found: "nothing",
    expected: 'the URL of the server, here or in the name: "openai-compatible:URL/model"',
  });
}

/** What may stand in a header: others make `fetch` fail with a message that repeats the value. */
const headerText = /^[\t\u0020-\u007e\u0080-\u00ff]*$/u;
const headerName = /^[\w!#$%&'*+.^`|~-]+$/u;

function findKey(provider: Provider, given: string | undefined, env: Environment): { readonly apiKey?: string } {
  const variable = given === undefined ? provider.keys.find((name) => (env[name] ?? "").trim() !== "") : undefined;
  const key: unknown = variable === undefined ? given : env[variable];
  if (key === undefined) return {};
  const text = typeof key === "string" ? key.trim() : "";
  if (text !== "" && headerText.test(text)) return { apiKey: text };
  throw new KitbagError("option-invalid", {
    option: variable ?? "apiKey",
    found: text === "" ? "no text" : "a text with characters that no key has",
    expected: "the key as the provider shows it, in one line",
  });
}

function checkHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers)) {
    if (headerName.test(name) && typeof value === "string" && headerText.test(value)) continue;
    throw new KitbagError("option-invalid", {
      option: `headers.${showName(name)}`,
      found: "a name or a value that no header can have",
      expected: "texts of one line",
    });
  }
  return headers;
}
