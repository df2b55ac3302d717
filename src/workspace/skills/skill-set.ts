import { isKitbagError, KitbagError, toFailure } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { Entry, Registry } from "../registry.ts";
import { endSkills } from "./close-skills.ts";
import type { InFlight } from "./in-flight.ts";
import { closedBy, createOpenSkills, type OpenSkills } from "./open-skills.ts";
import { checkSkill, findSkill, planActivation } from "./plan-activation.ts";
import { runActivations } from "./skill-lifecycle.ts";
import type { SkillOptions, SkillOutcome } from "./skill-methods.ts";
import { closeTools, mayUse, openTools, registerTools, replaceTools, unregisterTools } from "./skill-tools.ts";

/** Which skills there are and which are open; changes them one after the other. */
export interface SkillSet {
  readonly skills: ReadonlyMap<string, Skill>;
  add(skill: Skill): void;
  replace(skill: Skill): void;
  remove(names: readonly string[], options: SkillOptions): Promise<boolean>;
  activate(name: string, options: SkillOptions): Promise<SkillOutcome>;
  deactivate(name: string, options: SkillOptions): Promise<SkillOutcome>;
  isOpen(name: string): boolean;
  /** Counts changes of the skills themselves; those of tools are the registry's. */
  changes(): number;
  /** Whether a tool of `skill` may call this tool. */
  mayUse(skill: string, entry: Entry): boolean;
}

/** Makes an empty set. */
export function createSkillSet(registry: Registry, inFlight: InFlight): SkillSet {
  const skills = new Map<string, Skill>();
  const parts: SetParts = { registry, inFlight, skills, open: createOpenSkills({ registry, skills }) };
  const inTurn = createTurns(() => (changes += 1));
  let changes = 0;

  return {
    skills,
    add(skill) {
      if (skills.has(skill.name)) throw new KitbagError("skill-duplicate", { skill: skill.name });
      registry.change(() => registerTools(registry, skill));
      skills.set(skill.name, skill);
      changes += 1;
    },
    replace(skill) {
      const before = findSkill(skill.name, skills);
      registry.change(() => {
        replaceTools(registry, before, skill);
        if (!parts.open.has(skill.name)) return;
        checkSkill(skill, parts);
        openTools(registry, skill);
      });
      skills.set(skill.name, skill);
      changes += 1;
    },
    remove: (names, options) => inTurn(() => remove(parts, names, options)),
    activate: (name, options) => inTurn(() => toOutcome(name, () => activate(parts, name, options))),
    deactivate: (name, options) => inTurn(() => toOutcome(name, () => deactivate(parts, name, options))),
    isOpen: (name) => parts.open.has(name),
    changes: () => changes,
    mayUse: (name, entry) => mayUse(skills.get(name), entry, registry),
  };
}

interface SetParts {
  readonly registry: Registry;
  readonly inFlight: InFlight;
  readonly skills: Map<string, Skill>;
  readonly open: OpenSkills;
}

/** Opening and closing take time; one at a time keeps every state in between consistent. `onEnd` is called after each. */
function createTurns(onEnd: () => void): <Value>(work: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work).finally(onEnd);
    last = turn.catch(() => {});
    return turn;
  };
}

async function activate(parts: SetParts, name: string, options: SkillOptions): Promise<SkillOutcome> {
  const { registry, open, skills, inFlight } = parts;
  const plan = planActivation(name, parts);
  const opening = plan.filter((skill) => !open.has(skill.name));
  const closing = toSkills(closedBy(plan, open.names(), skills), skills);
  await runActivations(opening, options.signal);
  registry.change(() => {
    for (const skill of closing) closeTools(registry, skill);
    for (const skill of opening) openTools(registry, skill);
  });
  for (const skill of closing) open.delete(skill.name);
  for (const skill of opening) {
    open.set(skill.name, false);
    inFlight.noteActivation(skill.name);
  }
  open.set(name, true);
  const warnings = await endSkills(closing, inFlight, options);
  return { status: "ok", opened: toNames(opening), closed: toNames(closing), warnings };
}

async function deactivate(parts: SetParts, name: string, options: SkillOptions): Promise<SkillOutcome> {
  findSkill(name, parts.skills);
  const closing = toSkills(parts.open.unneededWithout(name), parts.skills);
  closeAll(parts, closing);
  const warnings = await endSkills(closing, parts.inFlight, options);
  return { status: "ok", opened: [], closed: toNames(closing), warnings };
}

async function remove(parts: SetParts, names: readonly string[], options: SkillOptions): Promise<boolean> {
  const leaving = toSkills([...new Set(names)], parts.skills);
  if (leaving.length === 0) return false;
  const closing = toSkills(parts.open.closedWith(toNames(leaving)), parts.skills);
  parts.registry.change(() => {
    closeAll(parts, closing);
    for (const skill of leaving) unregisterTools(parts.registry, skill);
  });
  for (const { name } of leaving) parts.skills.delete(name);
  // The skills are gone whatever their own code says about it: there is no outcome that could tell.
  for (const { message } of await endSkills(closing, parts.inFlight, options)) {
    process.emitWarning(message, "KitbagWarning");
  }
  return true;
}

function closeAll({ registry, open }: SetParts, closing: readonly Skill[]): void {
  registry.change(() => {
    for (const skill of closing) closeTools(registry, skill);
  });
  for (const skill of closing) open.delete(skill.name);
}

function toSkills(names: readonly string[], skills: ReadonlyMap<string, Skill>): Skill[] {
  return names.map((name) => skills.get(name)).filter((skill) => skill !== undefined);
}

function toNames(skills: readonly Skill[]): string[] {
  return skills.map((skill) => skill.name);
}

/** A skill that was put together by hand may be anything. */
async function toOutcome(skill: string, work: () => Promise<SkillOutcome>): Promise<SkillOutcome> {
  try {
    return await work();
  } catch (cause) {
    if (isKitbagError(cause)) return { status: "failed", error: cause.toJSON() };
    const reason = describeThrown(cause);
    return { status: "failed", error: toFailure("skill-failed", { skill, step: "opening or closing", reason }) };
  }
}
