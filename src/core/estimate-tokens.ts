import { estimateTokenCount } from "tokenx";

/** About how many tokens a text costs. Within a tenth for English, code and JSON; call it "≈" wherever it is shown. */
export function estimateTokens(text: string): number {
  return estimateTokenCount(text);
}
