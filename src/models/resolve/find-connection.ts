import { KitbagError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import { guessProvider, providers, type Connection, type Environment, type Provider } from "../providers.ts";
import { checkBaseUrl, parseModelName, showName } from "./parse-model-name.ts";

/** What else is said about where a model is. */
export interface ConnectionOptions {
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly env?: Environment;
}

/** A provider that is known, and how to reach a model of it. */
export interface FoundConnection {
  readonly provider: Provider;
  readonly connection: Connection;
  /** The URL in the name of the model. */
  readonly url: string | undefined;
}

/**
 * Finds out how to reach a model, without loading or asking anything.
 *
 * @throws {KitbagError} `model-name-invalid`, `provider-unknown`, `option-invalid`
 */
export function findConnection(
  known: ReadonlyMap<string, Provider>,
  name: string,
  { apiKey, baseUrl, headers = {}, env = process.env }: ConnectionOptions,
): FoundConnection | "local" {
  const { provider: called, model, url } = parseModelName(name);
  if (called === "local") return "local";
  const provider = known.get(called);
  if (provider === undefined) throw unknownProvider(called, [...known.keys(), "local"]);
  const connection: Connection = {
    model,
    baseUrl: findBaseUrl(provider, url, baseUrl, env),
    headers: checkHeaders(headers),
    ...findKey(provider, apiKey, env),
  };
  return { provider, connection, url };
}

/**
 * Refuses the name of a model that cannot be asked, as far as that is known without loading its provider's package.
 *
 * @throws {KitbagError} `model-name-invalid`, `provider-unknown`, `provider-missing`, `model-key-missing`, `option-invalid`
 */
export function checkModelName(name: string, env: Environment = process.env): void {
  const found = findConnection(providers, name, { env });
  if (found === "local") return;
  const { provider, connection } = found;
  if (!provider.isInstalled()) throw packageMissing(name, provider);
  if (provider.needsKey && connection.apiKey === undefined) throw keyMissing(name, provider);
}

/** The error of a model whose provider needs a key that is not set. */
export function keyMissing(name: string, { keys }: Provider): KitbagError {
  return new KitbagError("model-key-missing", { model: showName(name), variables: keys });
}

/** The error of a model whose provider's package is not installed. */
export function packageMissing(
  name: string,
  { peer = "its package", needsKey, keys }: Provider,
  cause?: unknown,
): KitbagError {
  const facts = { model: showName(name), peer, variables: needsKey ? keys : [] };
  return new KitbagError("provider-missing", facts, cause === undefined ? {} : { cause });
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
  if (provider.isFile === true) return "";
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
