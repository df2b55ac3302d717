import type { Model } from "../model.ts";

/** Providers under another name than that under which their prices are known. */
const known: ReadonlyMap<string, string> = new Map([
  ["amazon-bedrock", "aws"],
  ["azure-openai", "azure"],
  ["bedrock", "aws"],
  ["google-vertex", "google"],
  ["togetherai", "together"],
  ["vertex", "google"],
  ["xai", "x-ai"],
]);

/** Servers that run on somebody's own machine: their answers cost nothing. */
const ownServers: ReadonlySet<string> = new Set(["lmstudio", "ollama"]);

/** The provider of a model, as `resolveModel` names it: packages say `openai.responses`, `google.generative-ai`. */
export function providerOf({ provider }: Pick<Model, "provider">): string {
  const end = provider.indexOf(".");
  return end === -1 ? provider : provider.slice(0, end);
}

/** The provider under the name under which its prices are known. */
export function pricedProvider(provider: string): string {
  return known.get(provider) ?? provider;
}

/** Tells whether a model answers for nothing: Kitbag's own, or one on a server of one's own. */
export function isFree(model: Pick<Model, "provider">): boolean {
  const provider = providerOf(model);
  return provider.startsWith("kitbag") || ownServers.has(provider);
}
