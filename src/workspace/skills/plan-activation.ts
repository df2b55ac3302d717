import { KitbagError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Skill } from "../../core/skill.ts";
import type { RegistryView } from "../registry.ts";
import { checkUses } from "./check-uses.ts";

/** What planning needs to know. */
export interface Planner {
  readonly registry: RegistryView;
  readonly skills: ReadonlyMap<string, Skill>;
}

/**
 * The skills to open for `name`, those that others require first; itself last. All of them were checked: trusted, and
 * everything they use is there.
 *
 * @throws {KitbagError} `skill-not-found`, `skill-untrusted`, `skill-broken`.
 */
export function planActivation(name: string, planner: Planner): readonly Skill[] {
  const order: Skill[] = [];
  visit(name, []);
  return order;

  function visit(wanted: string, chain: readonly string[]): void {
    if (order.some((skill) => skill.name === wanted)) return;
    const skill = findSkill(wanted, planner.skills);
    if (chain.includes(wanted)) {
      const found = [...chain, wanted].join(" → ");
      throw new KitbagError("skill-broken", {
        skill: name,
        problems: [{ path: "requires", expected: "no circle", found }],
      });
    }
    checkSkill(skill, planner);
    for (const required of requiredBy(skill, planner)) visit(required, [...chain, wanted]);
    order.push(skill);
  }
}

/** The skills that must be open while `skill` is: those it names, and those whose tools it uses. */
export function requiredBy(skill: Skill, { registry, skills }: Planner): readonly string[] {
  const owners = skill.uses.flatMap((use) => {
    const resolution = registry.resolve(use.address, skill.name);
    return resolution.ok && resolution.entry.source === "skill" ? [resolution.entry.owner] : [];
  });
  return [...new Set([...skill.requires, ...owners])].filter(
    (name) => name !== skill.name && (skills.has(name) || skill.requires.includes(name)),
  );
}

/** Finds a skill. @throws {KitbagError} `skill-not-found` */
export function findSkill(name: string, skills: ReadonlyMap<string, Skill>): Skill {
  const skill = skills.get(name);
  if (skill !== undefined) return skill;
  const details = { skill: String(name), nearest: nearestNames(String(name), skills.keys()), count: skills.size };
  throw new KitbagError("skill-not-found", details);
}

/** @throws {KitbagError} `skill-untrusted` or `skill-broken` if `skill` cannot be opened. */
export function checkSkill(skill: Skill, { registry, skills }: Planner): void {
  checkTrusted(skill);
  const problems = checkUses(skill, registry, (name) => skills.get(name));
  if (problems.length > 0) throw new KitbagError("skill-broken", { skill: skill.name, problems });
}

/** @throws {KitbagError} `skill-untrusted` if the folder of a skill is not trusted. */
export function checkTrusted({ name, folder }: Skill): void {
  if (folder?.trust.status !== "untrusted") return;
  const { status: _, ...why } = folder.trust;
  throw new KitbagError("skill-untrusted", { skill: name, directory: folder.directory, ...why });
}
