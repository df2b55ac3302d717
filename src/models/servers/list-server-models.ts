import { KitbagError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import { type Environment, providers } from "../providers.ts";
import { findConnection } from "../resolve/find-connection.ts";
import { createAskServer } from "./ask-server.ts";
import type { ServerModel } from "./server-model.ts";

/** Which server {@link listServerModels} asks. */
export interface ListServerModelsOptions {
  /** @default the address in the provider's variable of the environment, or else the usual address of the server */
  readonly baseUrl?: string;
  /** @default the provider's variable in the environment */
  readonly apiKey?: string;
  /** @default process.env */
  readonly env?: Environment;
}

/**
 * Asks a server of your own (`ollama`, `lmstudio`, `llamacpp` or `vllm`) which models it has: their size, quantization and
 * abilities, whether they are loaded, with which context length, and how much of each is in the memory of the graphics card.
 *
 * Contract: `undefined` if no such server answers within a few seconds. The server loads no model because of the question.
 *
 * @example
 * ```ts
 * import { listServerModels } from "kitbag/models";
 *
 * const models = await listServerModels("ollama", { baseUrl: "http://127.0.0.1:1" });
 *
 * console.assert(models === undefined); // no server there
 * ```
 *
 * @throws {KitbagError} (rejects) `option-invalid` if the provider is not one of these servers
 */
export async function listServerModels(
  provider: string,
  options: ListServerModelsOptions = {},
): Promise<readonly ServerModel[] | undefined> {
  const server = await providers.get(provider)?.loadServer?.();
  const found = server === undefined ? "local" : findConnection(providers, `${provider}/any`, options);
  if (server === undefined || found === "local") throw noServer(provider);
  return server.list(createAskServer(found.connection));
}

/** The names of the providers that are servers which users run themselves. */
export function serverNames(): readonly string[] {
  return [...providers].filter(([, { loadServer }]) => loadServer !== undefined).map(([name]) => name);
}

function noServer(provider: string): KitbagError {
  const names = serverNames();
  const [nearest] = nearestNames(provider, names);
  const expected =
    nearest === undefined ? `one of ${names.join(", ")}` : `"${nearest}", or another of ${names.join(", ")}`;
  return new KitbagError("option-invalid", { option: "provider", found: JSON.stringify(provider), expected });
}
