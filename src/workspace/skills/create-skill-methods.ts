import type { Skill } from "../../core/skill.ts";
import type { Registry } from "../registry.ts";
import { findSkill } from "./plan-activation.ts";
import type { InFlight } from "./in-flight.ts";
import { renderCatalog } from "./render-catalog.ts";
import { renderInstructions } from "./render-instructions.ts";
import { renderSkillTools } from "./render-skill-tools.ts";
import type { StartCall } from "../start-call.ts";
import { runCommands } from "./run-commands.ts";
import { createSearch } from "./search-workspace.ts";
import type { SkillMethods, SkillState, SkillToolState } from "./skill-methods.ts";
import type { SkillSet } from "./skill-set.ts";

/** What the methods stand on. */
export interface SkillMethodParts {
  readonly registry: Registry;
  readonly set: SkillSet;
  readonly inFlight: InFlight;
  /** Counts changes of what is available, so that an index is made anew only after one. */
  readonly changes: () => number;
  readonly start: StartCall;
}

/** Makes what a workspace can do with skills. */
export function createSkillMethods({ registry, set, inFlight, changes, start }: SkillMethodParts): SkillMethods {
  const openSkills = (): Skill[] => [...set.skills.values()].filter((skill) => set.isOpen(skill.name));
  const openTools = (): ReturnType<SkillMethods["getActiveSkillTools"]> =>
    [...registry.entries()].filter((entry) => entry.source === "skill" && registry.isAvailable(entry));
  const search = createCachedSearch({ registry, set, changes });

  return {
    addSkill: set.add,
    replaceSkill: set.replace,
    removeSkill: (names, options = {}) => set.remove(typeof names === "string" ? [names] : [...names], options),
    getSkill: (name) => set.skills.get(name),
    getSkills: () => [...set.skills.values()].map((skill) => toState(skill, set, inFlight)),
    activateSkill: (name, options = {}) => set.activate(name, options),
    deactivateSkill: (name, options = {}) => set.deactivate(name, options),
    getActiveSkills: () => openSkills().map((skill) => skill.name),
    getActiveSkillTools: openTools,
    getActiveSkillToolNames: () => openTools().map((entry) => entry.address),
    isToolFromActiveSkill(address) {
      const resolution = registry.resolve(address);
      return resolution.ok && resolution.entry.source === "skill" && registry.isAvailable(resolution.entry);
    },
    getAllSkillToolStates: () => [...set.skills.values()].map((skill) => toToolState(skill, set, registry)),
    getSkillTools: (name) => findSkill(name, set.skills).tools,
    async invokeSkill(name, argumentText = "", { onDiagnostic, ...options } = {}) {
      const skill = findSkill(name, set.skills);
      const runner = { start, planner: { registry, skills: set.skills } };
      const answers = await runCommands(skill, argumentText, runner, options);
      const parts = { answers, ...(onDiagnostic !== undefined && { onDiagnostic }) };
      return renderInstructions(skill, registry, argumentText, parts);
    },
    activeInstructions: () =>
      openSkills()
        .map(
          (skill) =>
            `<skill_content name="${skill.name}">\n${renderInstructions(skill, registry, "")}\n</skill_content>`,
        )
        .join("\n\n"),
    renderCatalog: (options) => renderCatalog([...set.skills.values()], options),
    renderSkillTools: (options) => renderSkillTools(openTools(), options),
    search,
  };
}

/** A search whose index is made anew only after something changed. */
function createCachedSearch({
  registry,
  set,
  changes,
}: Pick<SkillMethodParts, "changes" | "registry" | "set">): SkillMethods["search"] {
  let index: { readonly state: string; readonly search: SkillMethods["search"] } | undefined;
  return (query, options) => {
    const state = `${changes()} ${set.changes()}`;
    if (index?.state !== state) {
      const source = {
        skills: set.skills.values(),
        entries: registry.entries(),
        isOpen: set.isOpen,
        isAvailable: registry.isAvailable,
      };
      index = { state, search: createSearch(source) };
    }
    return index.search(query, options);
  };
}

function toState(skill: Skill, set: SkillSet, inFlight: InFlight): SkillState {
  return { skill, active: set.isOpen(skill.name), usage: inFlight.usage(skill.name) };
}

function toToolState(skill: Skill, set: SkillSet, registry: Registry): SkillToolState {
  const own = [...registry.entries()].filter((entry) => entry.source === "skill" && entry.owner === skill.name);
  const active = set.isOpen(skill.name);
  return { skill: skill.name, tools: skill.tools, active, available: active ? own.map((entry) => entry.address) : [] };
}
