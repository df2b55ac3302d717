import { KitbagError } from "../../core/errors.ts";
import { redactText } from "../../core/redaction/redact.ts";
import { guessProvider, providers } from "../providers.ts";

/** The name of a model, taken apart. */
export interface ModelName {
  /** `openai`, `ollama`, `openai-compatible`, … */
  readonly provider: string;
  /** What the provider calls it. Empty for `local`. */
  readonly model: string;
  /** Where the provider is, if the name says so. */
  readonly url?: string;
}

/** No name of a model is longer. */
const longestName = 512;

/** What a version looks like in the path of a URL: what follows it is the model. */
const versionSegment = /\/v\d+(?:alpha|beta)?\d*(?=\/)/u;

const form = 'write "provider/model", for example "openai/gpt-6-sol", or "local"';

/**
 * Reads `provider/model`, `openai-compatible:URL/model` or `local`.
 *
 * In a URL the model is what follows `#`; without one, what follows the version (`https://host/v1/org/model` is `org/model`);
 * without that, what follows the last slash.
 *
 * @throws {KitbagError} `model-name-invalid`
 */
export function parseModelName(name: string): ModelName {
  if (typeof name !== "string") throw invalid(`of type ${typeof name}`, form);
  if (name.trim() === "") throw invalid(name, `it is empty; ${form}`);
  if (name.length > longestName)
    throw invalid(name, `it has ${name.length} characters, and no name has more than ${longestName}`);
  // The path of a file may have spaces.
  const shown = isFile(name.slice(0, Math.max(0, name.indexOf("/")))) ? name.replaceAll(" ", "") : name;
  if (/[\p{Cc}\p{Cf}\p{Z}]/u.test(shown)) throw invalid(name, "it has a space or a character that cannot be seen");
  if (name === "local") return { provider: "local", model: "" };
  if (name.startsWith("openai-compatible:")) return parseCompatible(name);
  if (/^[a-z][a-z\d+.-]*:\/\//iu.test(name)) {
    throw invalid(name, 'it is a URL; for a server that speaks as OpenAI does, write "openai-compatible:URL/model"');
  }
  const slash = name.indexOf("/");
  const [provider, model] = [name.slice(0, Math.max(0, slash)), name.slice(slash + 1)];
  if (provider === "" || model === "" || provider === "local") throw invalid(name, withSuggestion(name));
  return { provider, model: isFile(provider) ? model : checkId(name, model) };
}

function isFile(provider: string): boolean {
  return providers.get(provider)?.isFile === true;
}

function withSuggestion(name: string): string {
  const meant = suggestName(name);
  return meant === undefined ? form : `did you mean ${JSON.stringify(showName(meant))}? ${form}`;
}

function parseCompatible(name: string): ModelName {
  const text = name.slice("openai-compatible:".length);
  const wrong = (reason: string): KitbagError => invalid(name, reason);
  const [address, model] = splitModel(text);
  if (address === "" || model === "") {
    throw wrong('write "openai-compatible:URL/model", for example "openai-compatible:http://127.0.0.1:8000/v1/qwen3"');
  }
  const url = readUrl(address);
  if (typeof url === "string") throw wrong(`its URL ${url}`);
  return { provider: "openai-compatible", model: checkId(name, model), url: withoutSlash(url) };
}

/** A provider may write the model into a URL: it must stay one piece of it. */
function checkId(name: string, model: string): string {
  const isSafe =
    !/[?#%\\]/u.test(model) && !model.split("/").some((part) => part === "" || part === "." || part === "..");
  if (isSafe) return model;
  throw invalid(name, `no model is called ${JSON.stringify(showName(model))}: it has a part that would change a URL`);
}

/** The URL and the model of `URL/model`. */
function splitModel(text: string): readonly [url: string, model: string] {
  const hash = text.indexOf("#");
  if (hash !== -1) return [text.slice(0, hash), text.slice(hash + 1)];
  const host = text.indexOf("//") + 2;
  const version = versionSegment.exec(text.slice(host));
  if (version !== null) {
    const end = host + version.index + version[0].length;
    return [text.slice(0, end), text.slice(end + 1)];
  }
  const last = text.lastIndexOf("/");
  return last < host ? ["", ""] : [text.slice(0, last), text.slice(last + 1)];
}

/** The URL, or what is wrong with it as the address of a model. */
function readUrl(text: string): URL | string {
  const url = URL.parse(text);
  if (url === null) return "cannot be read";
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return `begins with ${url.protocol} and not with https: or http:`;
  if (url.username !== "" || url.password !== "") return 'holds a name or a password; pass the key as "apiKey"';
  if (url.search !== "" || url.hash !== "") return "has a query or a fragment, which is not possible here";
  return url;
}

/**
 * Checks where a provider is said to be, and writes it without a slash at the end.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkBaseUrl(option: string, text: string): string {
  const url = typeof text === "string" ? readUrl(text.trim()) : "is not a text";
  if (typeof url !== "string") return withoutSlash(url);
  throw new KitbagError("option-invalid", {
    option,
    found: `${JSON.stringify(showName(String(text)))}, which ${url}`,
    expected: "a URL with http: or https:, without a password and a query",
  });
}

function withoutSlash(url: URL): string {
  return url.href.replace(/\/+$/u, "");
}

function invalid(name: string, reason: string): KitbagError {
  return new KitbagError("model-name-invalid", { model: showName(name), reason });
}

/** The part of a given model name that is safe to show: users put keys and passwords into the wrong option. */
export function showName(name: string): string {
  const short = name
    .slice(0, 200)
    .replaceAll(/\/\/[^/]*@/gu, "//***@")
    .replaceAll(/\?[^#]*/gu, "?***");
  return redactText(short);
}

/** What was meant by the name of a model that says no provider, or says it in another way: `openai:gpt-6-sol`, `gpt-6-sol`. */
function suggestName(name: string): string | undefined {
  if (/^local\b/iu.test(name)) return "local";
  const [, before = "", model = ""] = /^([^:/]+)[:/](.+)$/u.exec(name) ?? [];
  if (providers.has(before.toLowerCase())) return `${before.toLowerCase()}/${model}`;
  const bare = name.toLowerCase().replace(/[:/]$/u, "");
  if (providers.has(bare)) return `${bare}/…`;
  const provider = guessProvider(name);
  return provider === undefined ? undefined : `${provider}/${name}`;
}
