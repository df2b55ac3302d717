import type { Model } from "../model.ts";

/** Models that count alike. */
export type TokenFamily = "claude" | "gemini" | "usual";

/** How a model counts: by its name, since many providers have models of others. */
export function familyOf({ provider, modelId }: Pick<Model, "provider" | "modelId">): TokenFamily {
  if (/claude/iu.test(modelId) || provider.startsWith("anthropic")) return "claude";
  return /gemini|gemma/iu.test(modelId) ? "gemini" : "usual";
}
