import type { Skill } from "../../core/skill.ts";
import type { Registry } from "../registry.ts";
import type { SkillMethods, SkillToolState } from "./skill-methods.ts";
import type { SkillSet } from "./skill-set.ts";

/** The methods that only the workspace has: they are about what all have in common. */
type SharedMethods = Pick<SkillMethods, "addSkill" | "replaceSkill" | "removeSkill" | "getAllSkillToolStates">;

/** Makes what a workspace can do with skills, beside what each of its sessions can. */
export function createSkillMethods(registry: Registry, set: SkillSet): SharedMethods {
  return {
    addSkill: set.add,
    replaceSkill: set.replace,
    removeSkill: (names, options = {}) => set.remove(typeof names === "string" ? [names] : [...names], options),
    getAllSkillToolStates: () => [...set.skills.values()].map((skill) => toToolState(skill, registry)),
  };
}

function toToolState(skill: Skill, registry: Registry): SkillToolState {
  const own = [...registry.entries()].filter((entry) => entry.source === "skill" && entry.owner === skill.name);
  const active = registry.own.open.has(skill.name);
  return { skill: skill.name, tools: skill.tools, active, available: active ? own.map((entry) => entry.address) : [] };
}
