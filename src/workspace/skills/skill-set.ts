import { KitbagError, isKitbagError, toFailure, type Failure } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import type { Tool } from "../../core/tool.ts";
import type { Entry, Registry } from "../registry.ts";
import type { InFlight } from "./in-flight.ts";
import { checkSkill, findSkill, planActivation, requiredBy } from "./plan-activation.ts";
import { toReusedTools } from "./reuse-tools.ts";
import { runActivations, tryDeactivation } from "./skill-lifecycle.ts";
import type { SkillOptions, SkillOutcome } from "./skill-methods.ts";

/** Which skills there are and which are open; changes them one after the other. */
export interface SkillSet {
  readonly skills: ReadonlyMap<string, Skill>;
  add(skill: Skill): void;
  replace(skill: Skill): void;
  remove(name: string, options: SkillOptions): Promise<boolean>;
  activate(name: string, options: SkillOptions): Promise<SkillOutcome>;
  deactivate(name: string, options: SkillOptions): Promise<SkillOutcome>;
  isOpen(name: string): boolean;
  /** Whether a tool of `skill` may call this tool of another skill. */
  mayUse(skill: string, entry: Entry): boolean;
}

/** Makes an empty set. */
export function createSkillSet(registry: Registry, inFlight: InFlight): SkillSet {
  const skills = new Map<string, Skill>();
  /** Open skills, and whether somebody asked for each: the others are open because these require them. */
  const open = new Map<string, { asked: boolean }>();
  const planner = { registry, skills };
  let last: Promise<unknown> = Promise.resolve();

  /** Opening and closing take time; one at a time keeps every state in between consistent. */
  function inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const turn = last.then(work, work);
    last = turn.catch(() => {});
    return turn;
  }

  function stillNeeded(): Set<string> {
    const needed = new Set<string>();
    const visit = (name: string): void => {
      const skill = skills.get(name);
      if (skill === undefined || needed.has(name)) return;
      needed.add(name);
      for (const required of requiredBy(skill, planner)) visit(required);
    };
    for (const [name, { asked }] of open) if (asked) visit(name);
    return needed;
  }

  /** The open skills that cannot be open without this one, and itself if it is open. */
  function withDependents(name: string): string[] {
    const closing = new Set(open.has(name) ? [name] : []);
    for (let before = -1; before !== closing.size;) {
      before = closing.size;
      for (const one of open.keys()) {
        const skill = skills.get(one);
        if (skill !== undefined && requiredBy(skill, planner).some((required) => closing.has(required)))
          closing.add(one);
      }
    }
    return [...closing].toReversed();
  }

  function reuse(skill: Skill): void {
    for (const tool of toReusedTools(skill, registry)) registry.add(tool, { source: "skill", name: skill.name });
  }

  /** Takes the tools of these skills away, at once, in one change. */
  function close(names: readonly string[]): void {
    for (const name of names) {
      open.delete(name);
      registry.setOpen(name, false);
      for (const { name: reused } of skills.get(name)?.reuses ?? []) registry.remove(`${name}/${reused}`);
    }
  }

  async function afterClosing(names: readonly string[], { running = "finish" }: SkillOptions): Promise<Failure[]> {
    const warnings: Failure[] = [];
    for (const name of names) {
      if (running === "cancel") {
        const reason = `the skill ${name} was closed`;
        for (const call of inFlight.running(name))
          call.stop(toFailure("call-cancelled", { tool: call.address, reason }));
      }
      const skill = skills.get(name);
      if (skill?.onDeactivate === undefined) continue;
      await inFlight.idle(name);
      warnings.push(...(await tryDeactivation(skill)));
    }
    return warnings;
  }

  async function activate(name: string, options: SkillOptions): Promise<SkillOutcome> {
    const plan = planActivation(name, planner);
    const opening = plan.filter((skill) => !open.has(skill.name));
    const closing = toClose(plan, [...open.keys()], skills);
    await runActivations(opening, options.signal);
    registry.change(() => {
      close(closing);
      for (const skill of opening) {
        open.set(skill.name, { asked: false });
        registry.setOpen(skill.name, true);
        reuse(skill);
      }
    });
    open.set(name, { asked: true });
    for (const skill of opening) inFlight.noteActivation(skill.name);
    const warnings = await afterClosing(closing, options);
    return { status: "ok", opened: opening.map((skill) => skill.name), closed: closing, warnings };
  }

  async function deactivate(name: string, options: SkillOptions): Promise<SkillOutcome> {
    findSkill(name, skills);
    const state = open.get(name);
    if (state !== undefined) state.asked = false;
    const needed = stillNeeded();
    const closing = [...open.keys()].filter((one) => !needed.has(one)).toReversed();
    registry.change(() => close(closing));
    const warnings = await afterClosing(closing, options);
    return { status: "ok", opened: [], closed: closing, warnings };
  }

  function register(skill: Skill): void {
    for (const tool of skill.tools) registry.add(tool, { source: "skill", name: skill.name });
  }

  return {
    skills,
    add(skill) {
      if (skills.has(skill.name)) throw new KitbagError("skill-duplicate", { skill: skill.name });
      registry.change(() => register(skill));
      skills.set(skill.name, skill);
    },
    replace(skill) {
      const before = findSkill(skill.name, skills);
      registry.change(() => {
        replaceTools(registry, before, skill);
        if (!open.has(skill.name)) return;
        checkSkill(skill, planner);
        reuse(skill);
      });
      skills.set(skill.name, skill);
    },
    remove: (name, options) =>
      inTurn(async () => {
        const skill = skills.get(name);
        if (skill === undefined) return false;
        const closing = withDependents(name);
        registry.change(() => {
          close(closing);
          for (const tool of skill.tools) registry.remove(`${name}/${tool.name}`);
        });
        await afterClosing(closing, options);
        skills.delete(name);
        return true;
      }),
    activate: (name, options) => inTurn(() => toOutcome(() => activate(name, options))),
    deactivate: (name, options) => inTurn(() => toOutcome(() => deactivate(name, options))),
    isOpen: (name) => open.has(name),
    mayUse: (name, entry) => usesTool(skills.get(name), entry, registry),
  };
}

/** Only one exclusive skill is open at a time, with what it requires; opening another closes it. */
function toClose(plan: readonly Skill[], open: readonly string[], skills: ReadonlyMap<string, Skill>): string[] {
  const wanted = new Set(plan.map((skill) => skill.name));
  const others = open.filter((name) => !wanted.has(name));
  if (plan.at(-1)?.exclusive === true) return others;
  return others.filter((name) => skills.get(name)?.exclusive === true);
}

async function toOutcome(work: () => Promise<SkillOutcome>): Promise<SkillOutcome> {
  try {
    return await work();
  } catch (cause) {
    if (isKitbagError(cause)) return { status: "failed", error: cause.toJSON() };
    throw cause;
  }
}

/** Keeps the place and the wire name of tools that both versions have. */
function replaceTools(registry: Registry, before: Skill, after: Skill): void {
  const owner = { source: "skill", name: after.name } as const;
  const names = new Set(after.tools.map((tool: Tool) => tool.name));
  for (const reused of before.reuses) registry.remove(`${before.name}/${reused.name}`);
  for (const tool of before.tools) if (!names.has(tool.name)) registry.remove(`${before.name}/${tool.name}`);
  const known = new Set(before.tools.map((tool) => tool.name));
  for (const tool of after.tools) {
    if (known.has(tool.name)) registry.replace(tool, owner);
    else registry.add(tool, owner);
  }
}

function usesTool(skill: Skill | undefined, entry: Entry, registry: Registry): boolean {
  if (skill === undefined || entry.source !== "skill" || entry.owner === skill.name) return true;
  return skill.uses.some((use) => {
    const resolution = registry.resolve(use.address, skill.name);
    return resolution.ok && resolution.entry.address === entry.address;
  });
}
