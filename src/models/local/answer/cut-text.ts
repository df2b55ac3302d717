import { estimateTokens } from "../../../core/estimate-tokens.ts";

/** A text that ends where it has to, and whether it was the limit that ended it. */
export interface CutText {
  readonly text: string;
  readonly isCut: boolean;
}

/** Ends a text before the first stop sequence, and after so many tokens. */
export function cutText(text: string, stops: readonly string[] = [], maxTokens = Number.POSITIVE_INFINITY): CutText {
  const places = stops
    .filter((stop) => stop !== "")
    .map((stop) => text.indexOf(stop))
    .filter((at) => at !== -1);
  const stopped = places.length === 0 ? text : text.slice(0, Math.min(...places));
  if (estimateTokens(stopped) <= maxTokens) return { text: stopped, isCut: false };
  let low = 0;
  let high = stopped.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (estimateTokens(stopped.slice(0, middle)) <= maxTokens) low = middle;
    else high = middle;
  }
  return { text: stopped.slice(0, low), isCut: true };
}
