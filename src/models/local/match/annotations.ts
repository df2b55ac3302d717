import type { ModelTool } from "../../model.ts";

/** What a tool says itself about what it does. */
export interface Annotations {
  readonly readOnly?: boolean;
  readonly destructive?: boolean;
}

const none: Annotations = {};

/** What a tool says itself about what it does; an agent sends it along as `providerOptions.kitbag`. */
export function annotationsOf({ providerOptions }: ModelTool): Annotations {
  const { readOnly, destructive } = providerOptions?.["kitbag"] ?? {};
  if (typeof readOnly !== "boolean" && typeof destructive !== "boolean") return none;
  return {
    ...(typeof readOnly === "boolean" && { readOnly }),
    ...(typeof destructive === "boolean" && { destructive }),
  };
}
