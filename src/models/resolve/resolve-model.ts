import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { Lookup } from "../../sandbox/egress/network-rule.ts";
import { checkOptionNames } from "../check-option-names.ts";
import type { Model } from "../model.ts";
import { asModel, type AnyModel } from "../shims/as-model.ts";
import { withSafeIds } from "../shims/call-ids.ts";
import { providers, type Connection, type Environment, type Provider } from "../providers.ts";
import { findConnection, keyMissing, packageMissing } from "./find-connection.ts";
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
  /** How long a server of your own may take to load the model into memory. @default 300_000 */
  readonly loadMs?: number;
  /** @default process.env */
  readonly env?: Environment;
}

/**
 * Finds a model by its name: `openai/…` (`openai-chat/…` for chat completions), `anthropic/…`, `google/…`, `ollama/…`,
 * `lmstudio/…`, `llamacpp/…`, `vllm/…`, `openai-compatible:URL/…`, or `local`, which needs neither key nor network. A host name in
 * such a URL must not lead to this machine or a private network: write the address, or pass `baseUrl`.
 *
 * The package of the provider is loaded when a model of it is asked for. Nothing is sent: whether the provider knows the model
 * is found out with the first question. Calls are made once: see `withRetries`. A server of your own is asked what it has before the
 * first question: a model without tools gets them in its prompt, and a prompt that the server would cut is told about.
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
  checkLoadMs(options.loadMs);
  const found = findConnection(known, name, options);
  if (found === "local") return loadLocal();
  const { provider, connection, url } = found;
  if (provider.needsKey && connection.apiKey === undefined) {
    // If the package is missing too, `load` throws an error that names both.
    await load(provider, name, { ...connection, apiKey: "none" });
    throw keyMissing(name, provider);
  }
  const guarded = url !== undefined && options.baseUrl === undefined && (await guard(url, lookup));
  return load(provider, name, { ...connection, ...guarded }, options.loadMs);
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
  "loadMs",
  "env",
] as const satisfies (keyof ResolveModelOptions)[];

function checkLoadMs(loadMs: unknown): void {
  if (loadMs === undefined || (typeof loadMs === "number" && loadMs > 0)) return;
  const expected = "a time in ms above 0";
  throw new KitbagError("option-invalid", { option: "loadMs", found: showValue(loadMs), expected });
}

async function loadLocal(): Promise<AnyModel> {
  const { localModel } = await import("../local/local-model.ts");
  return localModel();
}

async function load(provider: Provider, name: string, connection: Connection, loadMs?: number): Promise<AnyModel> {
  const server = await provider.loadServer?.();
  const model = await connectTo(provider, name, connection);
  if (server === undefined) return model;
  const { withServer } = await import("../servers/with-server.ts");
  return withServer(asModel(model), server, connection, { ...(loadMs !== undefined && { loadMs }) });
}

async function connectTo(provider: Provider, name: string, connection: Connection): Promise<AnyModel> {
  try {
    return await provider.connect(connection);
  } catch (cause) {
    const { code } = (cause ?? {}) as { code?: unknown };
    const isMissing = isKitbagError(cause, "package-missing") || code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing && code !== "MODULE_NOT_FOUND") throw cause;
    throw packageMissing(name, provider, cause);
  }
}
