import { toFailure, type Failure } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import type { Holder } from "../holder.ts";
import type { InFlight } from "./in-flight.ts";
import type { Hold, SkillLives } from "./skill-lives.ts";
import type { SkillOptions } from "./skill-methods.ts";

/** Skills whose tools are already gone for a holder. */
export interface ClosedSkills {
  readonly holder: Holder;
  readonly holds: readonly Hold[];
}

/**
 * Ends skills whose tools are already gone: cancels what is running for the holder if that is wanted, and lets go of them. For the
 * last who does, waits for what is running and runs `onDeactivate`. Answers with what went wrong.
 */
export async function endSkills(
  { holder, holds }: ClosedSkills,
  { inFlight, lives }: { readonly inFlight: InFlight; readonly lives: SkillLives },
  options: SkillOptions,
): Promise<Failure[]> {
  const warnings: Failure[] = [];
  for (const hold of holds) {
    if (options.running === "cancel") cancelCalls(hold.skill, holder, inFlight);
    warnings.push(...(await lives.leave(hold)));
  }
  return warnings;
}

function cancelCalls(skill: Skill, holder: Holder, inFlight: InFlight): void {
  const reason = `the skill ${skill.name} was closed`;
  for (const call of inFlight.running(skill.name)) {
    if (call.holder === holder) call.stop(toFailure("call-cancelled", { tool: call.address, reason }));
  }
}
