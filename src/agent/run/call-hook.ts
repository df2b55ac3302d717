import { describeCause, isKitbagError, KitbagError } from "../../core/errors.ts";
import type { AgentHooks } from "../hooks.ts";

/**
 * Calls a hook and waits for what it says.
 *
 * @throws {KitbagError} `hook-failed` if it throws.
 */
export async function callHook<Verdict>(hook: keyof AgentHooks, call: () => Verdict): Promise<Awaited<Verdict>> {
  try {
    return await call();
  } catch (cause) {
    if (isKitbagError(cause)) throw cause;
    throw new KitbagError("hook-failed", { hook, reason: describeCause(cause) }, { cause });
  }
}
