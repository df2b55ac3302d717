import { describeProblem } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import { toPlainText } from "../../skills/document/to-plain-text.ts";
import type { Holder } from "../registry/registered-tool.ts";
import type { Registry, RegistryView } from "../registry/registry.ts";
import type { RunningCalls } from "./running-calls.ts";
import { findMissing, findSkill, type Planner } from "./plan-activation.ts";
import { renderCatalog, renderInstructions, type FindWireName, renderSkillTools } from "./render-skills.ts";
import { runCommands } from "./run-commands.ts";
import { createSearch, type Search } from "./search-workspace.ts";
import type { SkillState } from "./skill-methods.ts";
import type { SkillSet } from "./skill-set.ts";
import type { StartCall } from "../call/start-call.ts";
import type { SkillUses } from "../workspace.ts";

/** What all who have skills open stand on. */
export interface SkillUseParts {
  readonly registry: Registry;
  readonly set: SkillSet;
  readonly runningCalls: RunningCalls;
  readonly start: StartCall;
  readonly search: Search;
}

/** Makes what a holder can do with skills. */
export function createSkillUses(parts: SkillUseParts, holder: Holder): SkillUses {
  const { set, runningCalls, search, registry } = parts;
  const view = registry.viewOf(holder);
  const isOpen = (name: string): boolean => holder.open.has(name);
  const all = (): Skill[] => [...set.skills.values()];
  const openTools = (): ReturnType<SkillUses["getActiveSkillTools"]> =>
    view.available().filter((entry) => entry.source === "skill");

  return {
    getSkill: (name) => set.skills.get(name),
    getSkills: () => all().map((skill) => toState(skill, holder, runningCalls)),
    activateSkill: (name, options = {}) => set.activate({ holder, name, options }),
    deactivateSkill: (name, options = {}) => set.deactivate({ holder, name, options }),
    getActiveSkills: () => openSkills(all(), holder).map((skill) => skill.name),
    getActiveSkillTools: openTools,
    getActiveSkillToolNames: () => openTools().map((entry) => entry.address),
    isToolFromActiveSkill(address) {
      const resolution = view.resolve(address);
      return resolution.ok && resolution.entry.source === "skill" && view.isAvailable(resolution.entry);
    },
    getSkillTools: (name) => findSkill(name, set.skills).tools,
    invokeSkill: createInvoke(parts, holder, view),
    activeInstructions: () =>
      openSkills(all(), holder)
        .map(
          (skill) =>
            `<skill_content name="${skill.name}">\n${renderInstructions(skill, wireNameIn(view), "")}\n</skill_content>`,
        )
        .join("\n\n"),
    renderCatalog: (options) => renderCatalog(all(), options),
    renderSkillTools: (options) => renderSkillTools(openTools(), set.skills, options),
    search: (query, options) => search({ isOpen, isAvailable: view.isAvailable }, query, options),
  };
}

function wireNameIn(view: RegistryView): FindWireName {
  return (address) => {
    const resolution = view.resolve(address);
    return resolution.ok ? resolution.entry.wireName : undefined;
  };
}

/** In the order they were added. */
function openSkills(all: readonly Skill[], { open }: Holder): Skill[] {
  return all.filter((skill) => open.has(skill.name));
}

function toState(skill: Skill, { open }: Holder, runningCalls: RunningCalls): SkillState {
  return { skill, active: open.has(skill.name), usage: runningCalls.usage(skill.name) };
}

function createInvoke({ set, start }: SkillUseParts, holder: Holder, view: RegistryView): SkillUses["invokeSkill"] {
  const startHere: StartCall = (request, parent, found) => start(request, parent, found, holder);
  return async (name, argumentText = "", { directory, onDiagnostic, ...options } = {}) => {
    const skill = findSkill(name, set.skills);
    const runner = { start: startHere, planner: { registry: view, skills: set.skills } };
    const answers = await runCommands(skill, argumentText, runner, options);
    const parts = {
      answers,
      ...(directory !== undefined && { directory }),
      ...(onDiagnostic !== undefined && { onDiagnostic }),
    };
    const text = renderInstructions(skill, wireNameIn(view), argumentText, parts);
    return describeGaps(skill, runner.planner) + text;
  };
}

/** A text that speaks of what is missing must not pass for whole. */
function describeGaps(skill: Skill, planner: Planner): string {
  const missing = findMissing(skill, planner).map(describeProblem);
  const gaps = [...(skill.leftOut ?? []), ...missing].map((one) => toPlainText(one.slice(0, longestGap)));
  if (gaps.length === 0) return "";
  const shown = gaps.slice(0, mostGaps).map((gap) => `- ${gap}`);
  if (gaps.length > mostGaps) shown.push(`- and ${gaps.length - mostGaps} more`);
  const effect = missing.length > 0 ? "it cannot be opened" : "its other tools work";
  return `Parts of this skill are missing; ${effect}:\n${shown.join("\n")}\n\n`;
}

const mostGaps = 10;
const longestGap = 300;

/** Makes a search whose index all share, and which is made anew only after something changed. */
export function createSharedSearch(registry: Registry, set: SkillSet): Search {
  let index: { readonly state: string; readonly search: Search } | undefined;
  return (searcher, query, options) => {
    const state = `${registry.version()} ${set.changes()}`;
    if (index?.state !== state) {
      index = { state, search: createSearch({ skills: set.skills.values(), entries: registry.entries() }) };
    }
    return index.search(searcher, query, options);
  };
}
