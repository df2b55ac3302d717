import { toFailure, type Failure } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import type { InFlight } from "./in-flight.ts";
import { tryDeactivation } from "./skill-lifecycle.ts";
import type { SkillOptions } from "./skill-methods.ts";

/**
 * Ends skills whose tools are already gone: cancels what is running if that is wanted, waits for it, then runs `onDeactivate`.
 * Answers with what went wrong.
 */
export async function endSkills(
  skills: readonly Skill[],
  inFlight: InFlight,
  options: SkillOptions,
): Promise<Failure[]> {
  const warnings: Failure[] = [];
  for (const skill of skills) {
    if (options.running === "cancel") cancelCalls(skill, inFlight);
    if (skill.onDeactivate === undefined) continue;
    await inFlight.idle(skill.name);
    warnings.push(...(await tryDeactivation(skill)));
  }
  return warnings;
}

function cancelCalls(skill: Skill, inFlight: InFlight): void {
  const reason = `the skill ${skill.name} was closed`;
  for (const call of inFlight.running(skill.name)) {
    call.stop(toFailure("call-cancelled", { tool: call.address, reason }));
  }
}
