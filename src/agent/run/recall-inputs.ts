import { hasGuardAt } from "../../core/guards.ts";
import type { PlannedCall } from "./plan-calls.ts";
import type { RunState } from "./run-state.ts";

/**
 * The calls of an answer, each with what the journal says that it was made with. One that is still to be made is asked about again
 * where there is a hook or a guard, which is shown what the model gave; without a hook, what was changed stays changed.
 */
export function recallInputs(run: RunState, step: number, calls: readonly PlannedCall[]): readonly PlannedCall[] {
  const { changed, redacted, done } = run;
  if (changed === undefined || changed.size === 0) return calls;
  const { hooks, guards } = run.parts;
  const isAsked = hooks.beforeCall !== undefined || hasGuardAt(guards, "tool-input");
  return calls.map((call) => {
    const name = `${step}.${call.index}`;
    const input = changed.get(name);
    if (input === undefined || (isAsked && !done.has(name))) return call;
    // With a part of it left out it would be another call.
    return redacted.has(name) ? { ...call, isInputLost: true } : { ...call, input };
  });
}
