import type { Skill } from "../../core/skill.ts";
import { findSkill, requiredBy, type Planner } from "./plan-activation.ts";

/** Which skills are open, and why. */
export interface OpenSkills {
  has(name: string): boolean;
  names(): readonly string[];
  /** `asked`: somebody wants it open; otherwise it is open because another one requires it. */
  set(name: string, asked: boolean): void;
  delete(name: string): void;
  /** The open skills that nobody asks for any more once `name` is not asked for, the last opened first. */
  unneededWithout(name: string): readonly string[];
  /** Those of `names` that are open, what cannot be open without them, and what nobody asks for then; the last opened first. */
  closedWith(names: readonly string[]): readonly string[];
}

/** Makes the record of open skills. */
export function createOpenSkills(planner: Planner): OpenSkills {
  const open = new Map<string, boolean>();
  const { skills } = planner;
  const required = (name: string): readonly string[] => requiredBy(findSkill(name, skills), planner);

  function needed(without?: ReadonlySet<string>): ReadonlySet<string> {
    const found = new Set<string>();
    const visit = (name: string): void => {
      if (found.has(name)) return;
      found.add(name);
      for (const inner of required(name)) visit(inner);
    };
    for (const [name, asked] of open) if (asked && without?.has(name) !== true) visit(name);
    return found;
  }

  return {
    has: (name) => open.has(name),
    names: () => [...open.keys()],
    set: (name, asked) => void open.set(name, asked),
    delete: (name) => void open.delete(name),
    unneededWithout(name) {
      if (open.has(name)) open.set(name, false);
      const still = needed();
      return [...open.keys()].filter((one) => !still.has(one)).toReversed();
    },
    closedWith(names) {
      const closing = new Set(names.filter((name) => open.has(name)));
      for (let before = -1; before !== closing.size;) {
        before = closing.size;
        for (const one of open.keys()) if (required(one).some((inner) => closing.has(inner))) closing.add(one);
      }
      const still = needed(closing);
      return [...open.keys()].filter((one) => closing.has(one) || !still.has(one)).toReversed();
    },
  };
}

/** Only one exclusive skill is open at a time, with what it requires; opening another skill closes it. */
export function closedBy(
  plan: readonly Skill[],
  open: readonly string[],
  skills: ReadonlyMap<string, Skill>,
): string[] {
  const wanted = new Set(plan.map((skill) => skill.name));
  const others = open.filter((name) => !wanted.has(name));
  if (plan.at(-1)?.exclusive === true) return others;
  return others.filter((name) => skills.get(name)?.exclusive === true);
}
