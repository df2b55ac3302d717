import { estimateTokens } from "../../core/estimate-tokens.ts";
import type { Exposure, ExposureParts } from "./exposure.ts";

/** Lists of tools that cost less than this, in tokens, may change as they like. */
const fewTokens = 4000;

/**
 * Chooses how a model sees tools. A short list is best shown as it is. A long one is not shown at all, and does not change when a
 * skill opens, so that the provider's cache stays good: tools are announced where the provider can, and else found by searching.
 */
export function chooseExposure({ session, model }: ExposureParts): Exposure["name"] {
  if (model.provider.startsWith("kitbag")) return "direct";
  let tokens = 0;
  for (const { skill } of session.getSkills()) {
    for (const tool of skill.tools) {
      tokens += estimateTokens(`${tool.name} ${tool.description} ${JSON.stringify(tool.inputSchema)}`);
      if (tokens > fewTokens) return model.provider.startsWith("anthropic") ? "announce" : "dispatch";
    }
  }
  return "direct";
}
