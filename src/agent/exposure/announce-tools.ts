import { dispatchTools } from "./dispatch-tools.ts";
import type { Exposure, ExposureParts } from "./exposure.ts";

/** What changes is said at the end of the conversation, where the provider can. */
export function announceTools(parts: ExposureParts): Exposure {
  return dispatchTools(parts);
}
