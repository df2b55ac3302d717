import type { Skill } from "../../core/skill.ts";
import type { Holder } from "../holder.ts";
import { requiredBy, type Planner } from "./plan-activation.ts";

/** The open skills that nobody asks for, the last opened first. */
export function unneededBy({ open, asked }: Holder, planner: Planner): readonly string[] {
  const still = neededBy([...asked], planner);
  return [...open].filter((one) => !still.has(one)).toReversed();
}

/** Those of `names` that are open, what cannot be open without them, and what nobody asks for then; the last opened first. */
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

/** Only one exclusive skill is open at a time, with what it requires; opening another skill closes it. */
export function closedBy(plan: readonly Skill[], { open }: Holder, skills: ReadonlyMap<string, Skill>): string[] {
  const wanted = new Set(plan.map((skill) => skill.name));
  const others = [...open].filter((name) => !wanted.has(name));
  if (plan.at(-1)?.exclusive === true) return others;
  return others.filter((name) => skills.get(name)?.exclusive === true);
}
