import { KitbagError, toFailure, type Failure } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import type { Holder } from "../registry/registered-tool.ts";
import type { Registry } from "../registry/registry.ts";
import type { RunningCalls } from "./running-calls.ts";
import { closedBy, planActivation } from "./plan-activation.ts";
import type { Hold, SkillActivations } from "./skill-activations.ts";
import type { SkillOptions, SkillOutcome } from "./skill-methods.ts";
import { closeTools, openTools } from "./skill-tools.ts";

/** What opening and closing skills works on. */
export interface SetParts {
  readonly registry: Registry;
  readonly runningCalls: RunningCalls;
  readonly skills: Map<string, Skill>;
  readonly activations: SkillActivations;
  /** Tells that a skill was opened, or that an open one has a new version. */
  readonly tellOpened: (skill: Skill) => void;
}

/** Who opens or closes what. */
export interface SkillRequest {
  readonly holder: Holder;
  readonly name: string;
  readonly options: SkillOptions;
}

/** What is to be closed: without a name, the one skill that was opened by name. */
export interface CloseRequest extends Pick<SkillRequest, "holder" | "options"> {
  readonly name: string | undefined;
}

/** Opens a skill and all it requires, or nothing. @throws {KitbagError} if it cannot be opened. */
export async function activateSkill(parts: SetParts, request: SkillRequest): Promise<SkillOutcome> {
  const { holder, options } = request;
  const held = new Map<string, Hold>();
  let opened: Opened;
  try {
    opened = await wakeAndOpen(parts, request, held);
  } catch (cause) {
    await letGo(parts, held);
    refuseClosed(holder, `open the skill "${request.name}"`);
    throw cause;
  }
  // What was awoken, and is not required by the version that was opened.
  await letGo(parts, held);
  const { opening, closed } = opened;
  const warnings = await endSkills(closed, parts, options);
  return { status: "ok", opened: toNames(opening), closed: closed.holds.map(({ skill }) => skill.name), warnings };
}

/** The result of opening a skill. */
interface Opened {
  readonly opening: readonly Skill[];
  readonly closed: ClosedSkills;
}

/**
 * Wakes all that must be open for a skill, those that others require first, and opens them. In the meantime everything may change:
 * skills are replaced and taken out, and the holder may be closed. So it looks again until nothing is missing, and opens them at
 * once then: after a single `await` it might not be so any more.
 */
async function wakeAndOpen(
  parts: SetParts,
  { holder, name, options }: SkillRequest,
  held: Map<string, Hold>,
): Promise<Opened> {
  const { registry, skills, activations } = parts;
  const planner = { registry: registry.viewOf(holder), skills };
  const signal = signalFor(holder, options);
  for (;;) {
    refuseClosed(holder, `open the skill "${name}"`);
    // What was taken out in the meantime, though there may be another of its name now.
    const stale = held.values().find((hold) => !activations.isCurrent(hold));
    if (stale !== undefined) {
      held.delete(stale.skill.name);
      await activations.cancel(stale);
      continue;
    }
    const plan = planActivation(name, planner);
    const opening = plan.filter((skill) => !holder.open.has(skill.name));
    const missing = opening.find((skill) => !held.has(skill.name));
    if (missing === undefined) {
      const closed = commit(parts, { holder, name, options }, plan);
      for (const skill of opening) settle(parts, held, skill.name);
      return { opening, closed };
    }
    const hold = await activations.enter(missing, signal);
    if (hold !== undefined) held.set(missing.name, hold);
  }
}

/** Aborted with the caller's signal, or when the session is closed. */
function signalFor(holder: Holder, { signal }: SkillOptions): AbortSignal {
  holder.stop ??= new AbortController();
  return signal === undefined ? holder.stop.signal : AbortSignal.any([signal, holder.stop.signal]);
}

/** Opens the skills of `plan` and closes what cannot be open beside them, in one change. */
function commit(
  { registry, skills, activations, runningCalls, tellOpened }: SetParts,
  { holder, name }: SkillRequest,
  plan: readonly Skill[],
): ClosedSkills {
  const opening = plan.filter((skill) => !holder.open.has(skill.name));
  const closing = toSkills(closedBy(plan, holder, skills), skills);
  registry.change(() => {
    for (const skill of closing) closeTools(registry, skill, holder);
    for (const skill of opening) openTools(registry, skill, holder);
  });
  for (const skill of closing) holder.asked.delete(skill.name);
  for (const skill of opening) runningCalls.noteActivation(skill.name);
  holder.asked.add(name);
  for (const skill of opening) tellOpened(skill);
  return { holder, holds: closing.map(activations.holdOf) };
}

function settle({ activations }: SetParts, held: Map<string, Hold>, name: string): void {
  activations.settle(held.get(name) as Hold);
  held.delete(name);
}

/** Lets go of what was awoken in vain, the last one first. */
async function letGo({ activations }: SetParts, held: ReadonlyMap<string, Hold>): Promise<void> {
  for (const hold of [...held.values()].toReversed()) await activations.cancel(hold);
}

/** @throws {KitbagError} `session-closed` if the holder is a session that was closed. */
export function refuseClosed({ isClosed }: Holder, action: string): void {
  if (isClosed) throw new KitbagError("session-closed", { action });
}

/** The skills of these names that there are. */
export function toSkills(names: readonly string[], skills: ReadonlyMap<string, Skill>): Skill[] {
  return names.map((name) => skills.get(name)).filter((skill) => skill !== undefined);
}

/** The names of skills. */
export function toNames(skills: readonly Skill[]): string[] {
  return skills.map((skill) => skill.name);
}

/** Skills whose tools are already gone for a holder. */
export interface ClosedSkills {
  readonly holder: Holder;
  readonly holds: readonly Hold[];
}

/**
 * Ends skills whose tools are already gone: cancels what is running for the holder if that is wanted, and lets go of them. For the
 * last who does, waits for what is running and runs `onDeactivate`. Answers with what went wrong.
 */
export async function endSkills(
  { holder, holds }: ClosedSkills,
  { runningCalls, activations }: { readonly runningCalls: RunningCalls; readonly activations: SkillActivations },
  options: SkillOptions,
): Promise<Failure[]> {
  const warnings: Failure[] = [];
  for (const hold of holds) {
    if (options.running === "cancel") cancelCalls(hold.skill, holder, runningCalls);
    warnings.push(...(await activations.leave(hold)));
  }
  return warnings;
}

function cancelCalls(skill: Skill, holder: Holder, runningCalls: RunningCalls): void {
  const reason = `the skill ${skill.name} was closed`;
  for (const call of runningCalls.running(skill.name)) {
    if (call.holder === holder) call.stop(toFailure("call-cancelled", { tool: call.address, reason }));
  }
}
