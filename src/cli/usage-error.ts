import { KitbagError } from "../core/errors.ts";

/** Makes the error for a command that was used in a way it does not have; exit code 2. */
export function usageError(reason: string): KitbagError<"usage-invalid"> {
  return new KitbagError("usage-invalid", { reason });
}
