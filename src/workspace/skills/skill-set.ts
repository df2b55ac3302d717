import rcompare from "semver/functions/rcompare.js";

import { isKitbagError, KitbagError, toFailure } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import { describeThrown } from "../describe-thrown.ts";
import { createHolder, type Holder, type HolderOptions } from "../registry/registered-tool.ts";
import type { Entry, Registry } from "../registry/registry.ts";
import {
  type CloseRequest,
  activateSkill,
  refuseClosed,
  toNames,
  toSkills,
  type SetParts,
  type SkillRequest,
  endSkills,
  type ClosedSkills,
} from "./activate-skill.ts";
import type { RunningCalls } from "./running-calls.ts";
import { closedWith, unneededBy, checkSkill, findSkill, requiringSkills } from "./plan-activation.ts";
import { createSkillActivations } from "./skill-activations.ts";
import type { AddSkillOptions, SkillOptions, SkillOutcome } from "./skill-methods.ts";
import { closeTools, mayUse, registerReused, registerTools, replaceTools, unregisterTools } from "./skill-tools.ts";

/** Which skills there are and who has which of them open. */
export interface SkillSet {
  readonly skills: ReadonlyMap<string, Skill>;
  add(skill: Skill, options?: AddSkillOptions): void;
  replace(skill: Skill): void;
  /** Closes them for everybody. */
  remove(names: readonly string[], options: SkillOptions): Promise<boolean>;
  /** What one holder opens and closes happens one after the other. */
  activate(request: SkillRequest): Promise<SkillOutcome>;
  deactivate(request: CloseRequest): Promise<SkillOutcome>;
  /** Makes a holder that begins with what the workspace has open. */
  openHolder(changes: Holder["changes"], options?: Pick<HolderOptions, "isAgent">): Holder;
  /** Closes all that a holder has open: nothing is available to it from now on. */
  closeHolder(holder: Holder): Promise<void>;
  /** Counts changes of the skills themselves; those of tools are the registry's. */
  changes(): number;
  /** Whether a tool of `skill` may call this tool, for a holder. */
  mayUse(skill: string, entry: Entry, holder: Holder): boolean;
}

/** Who hears of what happens to skills. */
export interface SkillSetTold {
  /** Told of every skill that is opened, and of new versions of those that are open. */
  readonly tellOpened: (skill: Skill) => void;
  /** Told the names of skills that came, were replaced or went away. */
  readonly tellChanged: (names: readonly string[]) => void;
}

/** Makes an empty set. */
export function createSkillSet(registry: Registry, runningCalls: RunningCalls, told: SkillSetTold): SkillSet {
  const { tellOpened, tellChanged } = told;
  const skills = new Map<string, Skill>();
  const activations = createSkillActivations(runningCalls);
  const parts: SetParts = { registry, runningCalls, skills, activations, tellOpened };
  let changes = 0;

  function keep(skill: Skill): void {
    skills.set(skill.name, skill);
    changes += 1;
    if (findHolder(registry, skill) !== undefined) tellOpened(skill);
    tellChanged([skill.name]);
  }

  function replace(skill: Skill): void {
    const before = findSkill(skill.name, skills);
    registry.change(() => replaceIn(parts, before, skill));
    keep(skill);
  }

  return {
    skills,
    add(skill, { injected } = {}) {
      const before = skills.get(skill.name);
      if (before !== undefined) return replace(joinVersions(before, skill, injected));
      refuseComponent(registry, skill.name);
      registry.change(() => registerTools(registry, skill, injected));
      keep(skill);
    },
    replace,
    remove: (names, options) =>
      inTurn(registry.own, () => {
        changes += 1;
        return remove(parts, names, options, tellChanged);
      }),
    activate: (request) => inTurn(request.holder, () => toOutcome(request.name, () => activateSkill(parts, request))),
    deactivate: (request) =>
      inTurn(request.holder, () => toOutcome(request.name ?? "", () => deactivate(parts, request))),
    openHolder(heard, { isAgent = false } = {}) {
      const holder = createHolder(heard, { from: registry.own, isAgent });
      for (const name of holder.open) activations.join(name);
      registry.holders.add(holder);
      return holder;
    },
    closeHolder: (holder) => closeHolder(parts, holder),
    changes: () => changes,
    mayUse: (name, entry, holder) => mayUse(skills.get(name), entry, registry.viewOf(holder)),
  };
}

/** @throws {KitbagError} `owner-invalid` if a component has this name. */
function refuseComponent(registry: Registry, owner: string): void {
  if (registry.ownedBy(owner).length === 0) return;
  throw new KitbagError("owner-invalid", { owner, reason: "it is already the name of a component" });
}

/**
 * Two versions of a skill that a program defines, as one: the newest is the skill, and the tools of the other can be called by its
 * version. A folder never takes the place of what a program has defined.
 *
 * @throws {KitbagError} `skill-duplicate` if they are not two versions of one skill.
 */
function joinVersions(before: Skill, skill: Skill, injected: AddSkillOptions["injected"]): Skill {
  const { earlier = [], ...known } = before;
  const all = [known, ...earlier, skill];
  const versions = all.flatMap((one) => (one.version === undefined ? [] : [{ version: one.version, one }]));
  const isDefined = all.every(({ folder }) => folder === undefined);
  const isDistinct = new Set(versions.map(({ version }) => version)).size === all.length;
  if (!isDefined || injected !== undefined || !isDistinct)
    throw new KitbagError("skill-duplicate", { skill: skill.name });
  const newestFirst = versions.toSorted((left, right) => rcompare(left.version, right.version)).map(({ one }) => one);
  const newest = newestFirst.reduce((first) => first);
  return Object.freeze({ ...newest, earlier: newestFirst.slice(1) });
}

/** Opening and closing take time; one at a time keeps every state in between consistent. */
function inTurn<Value>(holder: Holder, work: () => Promise<Value>): Promise<Value> {
  const turn = holder.turn.then(work);
  holder.turn = turn.catch(() => {});
  return turn;
}

function replaceIn({ registry, skills }: SetParts, before: Skill, skill: Skill): void {
  replaceTools(registry, before, skill);
  const holder = findHolder(registry, skill);
  if (holder === undefined) return;
  checkSkill(skill, { registry: registry.viewOf(holder), skills });
  registerReused(registry, skill, holder);
}

/** A session that has the skill open, or the workspace. */
function findHolder({ holders }: Registry, { name }: Skill): Holder | undefined {
  return holders.values().find(({ open }) => open.has(name));
}

async function deactivate(parts: SetParts, { holder, name: wanted, options }: CloseRequest): Promise<SkillOutcome> {
  const { registry, skills } = parts;
  refuseClosed(holder, wanted === undefined ? "close a skill" : `close the skill "${wanted}"`);
  const name = wanted ?? onlyOpen(holder);
  findSkill(name, skills);
  holder.asked.delete(name);
  const planner = { registry: registry.viewOf(holder), skills };
  const closing = unneededBy(holder, planner);
  const closed = closeAll(parts, holder, toSkills(closing, skills));
  const warnings = await endSkills(closed, parts, options);
  const by = holder.open.has(name) ? requiringSkills(name, holder, planner) : [];
  const stays = by.length === 0 ? [] : [toFailure("skill-required", { skill: name, by })];
  return { status: "ok", opened: [], closed: closing, warnings: [...stays, ...warnings] };
}

/** Skills that are open only because others require them do not count. */
function onlyOpen({ asked }: Holder): string {
  const [only, another] = asked;
  if (only === undefined || another !== undefined) throw new KitbagError("skill-name-missing", { open: [...asked] });
  return only;
}

async function remove(
  parts: SetParts,
  names: readonly string[],
  options: SkillOptions,
  tellChanged: SkillSetTold["tellChanged"],
): Promise<boolean> {
  const { registry, skills, activations } = parts;
  const leaving = toSkills([...new Set(names)], skills);
  if (leaving.length === 0) return false;
  const closed: ClosedSkills[] = [];
  registry.change(() => {
    for (const holder of registry.holders) {
      const closing = closedWith(holder, toNames(leaving), { registry: registry.viewOf(holder), skills });
      if (closing.length > 0) closed.push(closeAll(parts, holder, toSkills(closing, skills)));
    }
    for (const skill of leaving) unregisterTools(registry, skill);
  });
  for (const skill of leaving) {
    skills.delete(skill.name);
    activations.retire(skill);
  }
  tellChanged(leaving.map((skill) => skill.name));
  for (const one of closed) await endAndWarn(parts, one, options);
  return true;
}

async function closeHolder(parts: SetParts, holder: Holder): Promise<void> {
  const { registry, skills } = parts;
  const removed = registry.viewOf(holder).available();
  holder.isClosed = true;
  holder.stop?.abort(new Error("the session was closed"));
  registry.holders.delete(holder);
  const closed = closeAll(parts, holder, toSkills([...holder.open].toReversed(), skills));
  if (removed.length > 0) holder.changes.tell({ added: [], removed, replaced: [] });
  await inTurn(holder, () => endAndWarn(parts, closed, {}));
}

function closeAll({ registry, activations }: SetParts, holder: Holder, closing: readonly Skill[]): ClosedSkills {
  const holds = closing.map(activations.holdOf);
  registry.change(() => {
    for (const skill of closing) closeTools(registry, skill, holder);
  });
  for (const skill of closing) holder.asked.delete(skill.name);
  return { holder, holds };
}

/** The skills are gone whatever their own code says about it: there is no outcome that could tell. */
async function endAndWarn(parts: SetParts, closed: ClosedSkills, options: SkillOptions): Promise<void> {
  for (const { message } of await endSkills(closed, parts, options)) process.emitWarning(message, "KitbagWarning");
}

/** A skill that was written without `defineSkill` may hold anything. */
async function toOutcome(skill: string, work: () => Promise<SkillOutcome>): Promise<SkillOutcome> {
  try {
    return await work();
  } catch (cause) {
    if (isKitbagError(cause)) return { status: "failed", error: cause.toJSON() };
    const reason = describeThrown(cause);
    return { status: "failed", error: toFailure("skill-failed", { skill, step: "opening or closing", reason }) };
  }
}
