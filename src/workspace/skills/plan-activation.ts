import satisfies from "semver/functions/satisfies.js";
import validRange from "semver/ranges/valid.js";

import { KitbagError, type Problem } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Skill, ToolUse } from "../../core/skill.ts";
import type { Tool } from "../../core/tool.ts";
import { toolSignature } from "../../skills/trust/tool-signature.ts";
import type { RegistryView } from "../registry/registry.ts";
import type { Holder } from "../registry/registered-tool.ts";

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
function requiredBy(skill: Skill, { registry, skills }: Planner): readonly string[] {
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
export function checkSkill(skill: Skill, planner: Planner): void {
  checkTrusted(skill);
  const problems = findMissing(skill, planner);
  if (problems.length > 0) throw new KitbagError("skill-broken", { skill: skill.name, problems });
}

/** What a skill uses or names that is missing, or is not what it was made for: it cannot be opened. */
export function findMissing(skill: Skill, { registry, skills }: Planner): readonly Problem[] {
  return checkUses(skill, registry, (name) => skills.get(name));
}

/** @throws {KitbagError} `skill-untrusted` if the folder of a skill is not trusted. */
export function checkTrusted({ name, folder }: Skill): void {
  if (folder?.trust.status !== "untrusted") return;
  const { status: _, ...why } = folder.trust;
  throw new KitbagError("skill-untrusted", { skill: name, directory: folder.shownAs ?? folder.directory, ...why });
}

/**
 * Holds what a skill uses against what is there: its own tools first, then global ones, other skills' only as it says in `uses`.
 * Answers with everything that is missing or is not what the skill was made for.
 */
function checkUses(skill: Skill, registry: RegistryView, getSkill: (name: string) => Skill | undefined): Problem[] {
  const problems: Problem[] = [];
  for (const [index, use] of skill.uses.entries()) {
    const path = `uses[${index}]`;
    const resolution = registry.resolve(use.address, skill.name);
    if (!resolution.ok) {
      const [nearest] = resolution.failure.code === "tool-not-found" ? resolution.failure.details.nearest : [];
      problems.push({
        path,
        expected: `the tool ${use.address}`,
        found: resolution.failure.code === "tool-ambiguous" ? "several tools of this name" : "no such tool",
        ...(nearest !== undefined && { didYouMean: nearest }),
      });
      continue;
    }
    const { tool, owner } = resolution.entry;
    const misfit = checkVersion(use, tool, tool.version ?? getSkill(owner)?.version);
    if (misfit !== undefined) problems.push({ path, ...misfit });
  }
  return [...problems, ...checkMentions(skill, registry, getSkill)];
}

/** A text that sends a model to a tool which is not there, or which it may not call, is wrong. */
function checkMentions(skill: Skill, registry: RegistryView, getSkill: (name: string) => Skill | undefined): Problem[] {
  return (skill.mentions ?? []).flatMap((address): Problem[] => {
    const owner = address.slice(0, address.indexOf("/"));
    const path = "SKILL.md";
    if (owner === skill.name) {
      const isThere =
        registry.resolve(address).ok || skill.reuses.some((reuse) => `${skill.name}/${reuse.name}` === address);
      return isThere ? [] : [{ path, expected: `the tool ${address}, which it names`, found: "no such tool" }];
    }
    // Names of the same form mean other things elsewhere: "plugin:react/recommended" is a configuration of a linter.
    if (getSkill(owner) === undefined || skill.uses.some((use) => use.address === address)) return [];
    return [{ path, expected: `${address}, which it names, in "uses"`, found: "nothing" }];
  });
}

/** Says in what a tool of some version is not what a skill was made for. */
export function checkVersion(
  use: ToolUse,
  tool: Pick<Tool, "inputSchema" | "outputSchema">,
  version: string | undefined,
): Pick<Problem, "expected" | "found"> | undefined {
  if (use.range !== undefined) {
    if (validRange(use.range) === null) {
      return { expected: "a range of versions like ^1.2", found: JSON.stringify(use.range) };
    }
    if (version === undefined || !satisfies(version, use.range)) {
      const found = version === undefined ? "a tool without a version" : `version ${version}`;
      return { expected: `${use.address} in a version that fits ${use.range}`, found };
    }
  }
  if (use.signature === undefined || use.signature === toolSignature(tool)) return undefined;
  const found = `another one${version === undefined ? "" : ` in version ${version}`}: its schema changed without a new major version`;
  return { expected: `${use.address} with the signature that the skill was made for`, found };
}

/** The open skills that were not asked for and are not required, the last opened first. */
export function unneededBy({ open, asked }: Holder, planner: Planner): readonly string[] {
  const still = neededBy([...asked], planner);
  return [...open].filter((one) => !still.has(one)).toReversed();
}

/** Those of `names` that are open, what cannot be open without them, and what is not required any more then; the last opened first. */
export function closedWith({ open, asked }: Holder, names: readonly string[], planner: Planner): readonly string[] {
  const closing = new Set(names.filter((name) => open.has(name)));
  for (let before = -1; before !== closing.size;) {
    before = closing.size;
    for (const one of open) if (requiredFor(one, planner).some((inner) => closing.has(inner))) closing.add(one);
  }
  const still = neededBy(
    [...asked].filter((one) => !closing.has(one)),
    planner,
  );
  return [...open].filter((one) => closing.has(one) || !still.has(one)).toReversed();
}

/** Those skills, and all that they require. */
function neededBy(names: readonly string[], planner: Planner): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    for (const inner of requiredFor(name, planner)) visit(inner);
  };
  for (const name of names) visit(name);
  return found;
}

/** Another version of a skill that is open may require what is not there. */
function requiredFor(name: string, planner: Planner): readonly string[] {
  const skill = planner.skills.get(name);
  return skill === undefined ? [] : requiredBy(skill, planner);
}

/** The open skills that require `name` to be open. */
export function requiringSkills(name: string, { open }: Holder, planner: Planner): readonly string[] {
  return [...open].filter((one) => requiredFor(one, planner).includes(name));
}

/** Only one exclusive skill is open at a time, with what it requires; opening another skill closes it. */
export function closedBy(plan: readonly Skill[], { open }: Holder, skills: ReadonlyMap<string, Skill>): string[] {
  const wanted = new Set(plan.map((skill) => skill.name));
  const others = [...open].filter((name) => !wanted.has(name));
  if (plan.at(-1)?.exclusive === true) return others;
  return others.filter((name) => skills.get(name)?.exclusive === true);
}
