import { describeCause, isKitbagError, KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { AgentHooks } from "../hooks.ts";
import { untilStopped } from "./until-stopped.ts";

/**
 * Calls a hook and waits for what it says, until the run is stopped.
 *
 * @throws {KitbagError} `hook-failed` if it throws; the reason of the signal if the run is stopped first.
 */
export async function callHook<Verdict>(
  signal: AbortSignal,
  hook: keyof AgentHooks,
  call: () => Verdict,
  graceMs = 0,
): Promise<Awaited<Verdict>> {
  try {
    const said = call();
    return isPromise(said) ? await untilStopped(signal, said, graceMs) : (said as Awaited<Verdict>);
  } catch (cause) {
    if (isKitbagError(cause) || (signal.aborted && cause === signal.reason)) throw cause;
    throw new KitbagError("hook-failed", { hook, reason: describeCause(cause) }, { cause });
  }
}

/** @throws {KitbagError} `hook-failed`: a hook answered with a value that it may not return. */
export function refuseVerdict(hook: keyof AgentHooks, verdict: unknown, expected: string): never {
  throw new KitbagError("hook-failed", { hook, reason: `it answered ${showValue(verdict)}, and not ${expected}` });
}

function isPromise<Value>(said: Value): said is Value & PromiseLike<Awaited<Value>> {
  return typeof said === "object" && said !== null && "then" in said && typeof said.then === "function";
}

/** Tells whether a value is what can come of a call. */
export function isOutcome(value: unknown): value is ToolOutcome {
  if (typeof value !== "object" || value === null || !("status" in value)) return false;
  if (value.status === "ok") return "output" in value && value.output !== undefined;
  if (value.status !== "failed" || !("error" in value)) return false;
  const { error } = value;
  return typeof error === "object" && error !== null && "message" in error && typeof error.message === "string";
}
