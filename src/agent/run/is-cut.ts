import type { ModelAnswered } from "../events.ts";

/** Whether an answer was cut off: its calls are not made. Some providers say "error" where others say that it was interrupted. */
export function isCut({ finishReason }: Pick<ModelAnswered, "finishReason">): boolean {
  return finishReason === "interrupted" || finishReason === "error";
}
