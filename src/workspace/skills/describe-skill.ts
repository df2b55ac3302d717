import type { Skill } from "../../core/skill.ts";

/** Whether a person has said that its text may be used. */
export function isTrusted({ folder }: Skill): boolean {
  return folder?.trust.status !== "untrusted";
}

/** What a model reads of a skill before it is open. A skill that is not trusted does not speak: it cannot be opened either. */
export function describeSkill(skill: Skill): string {
  return isTrusted(skill) ? skill.description : notTrusted;
}

/** What a model reads in place of a text of a skill that is not trusted. */
export const notTrusted = "Not trusted: it can be opened after a person has run `kitbag trust`";
