import type { Skill } from "../../core/skill.ts";
import type { Tool } from "../../core/tool.ts";
import type { Holder } from "../holder.ts";
import type { Entry, Registry, RegistryView } from "../registry.ts";
import { toReusedTools } from "./reuse-tools.ts";

/** Puts a skill's own tools into the registry; they are not available before the skill is open. */
export function registerTools(registry: Registry, skill: Skill): void {
  for (const tool of skill.tools) {
    registry.add(tool, { source: "skill", name: skill.name }, { versions: earlierOf(skill, tool) });
  }
  registry.reserve(skill.name);
}

/** What a tool was in the earlier versions of its skill. */
function earlierOf({ earlier = [] }: Skill, { name, version }: Tool): readonly Tool[] {
  const byVersion = new Map<string, Tool>();
  for (const skill of earlier) {
    const tool = skill.tools.find((one) => one.name === name);
    if (tool === undefined || skill.version === undefined || skill.version === version) continue;
    byVersion.set(skill.version, tool.version === skill.version ? tool : { ...tool, version: skill.version });
  }
  return [...byVersion.values()];
}

/** Makes a skill's tools available to `holder`, and those that it takes over from others. */
export function openTools(registry: Registry, skill: Skill, holder: Holder): void {
  const isFirst = !isOpenAnywhere(registry, skill.name);
  registry.setOpen(skill.name, true, holder);
  if (isFirst) registerReused(registry, skill, holder);
}

/** Puts the tools that a skill takes over from others into the registry: they are there while somebody has the skill open. */
export function registerReused(registry: Registry, skill: Skill, holder: Holder): void {
  for (const tool of toReusedTools(skill, registry.viewOf(holder))) {
    registry.addReserved(tool, { source: "skill", name: skill.name });
  }
}

/** Takes a skill's tools away from `holder`: nothing new starts from now on. */
export function closeTools(registry: Registry, skill: Skill, holder: Holder): void {
  registry.setOpen(skill.name, false, holder);
  if (isOpenAnywhere(registry, skill.name)) return;
  for (const { name } of skill.reuses) registry.remove(`${skill.name}/${name}`);
}

/** Whether somebody has the skill open. */
function isOpenAnywhere({ holders }: Registry, skill: string): boolean {
  return holders.values().some(({ open }) => open.has(skill));
}

/** Takes a skill's own tools out of the registry. */
export function unregisterTools(registry: Registry, skill: Skill): void {
  for (const tool of skill.tools) registry.remove(`${skill.name}/${tool.name}`);
}

/** Puts another version's tools in place; those that both have keep their place and their wire name. */
export function replaceTools(registry: Registry, before: Skill, after: Skill): void {
  const owner = { source: "skill", name: after.name } as const;
  const names = new Set(after.tools.map((tool) => tool.name));
  for (const reused of before.reuses) registry.remove(`${before.name}/${reused.name}`);
  for (const tool of before.tools) if (!names.has(tool.name)) registry.remove(`${before.name}/${tool.name}`);
  const known = new Set(before.tools.map((tool) => tool.name));
  for (const tool of after.tools) {
    const extras = { versions: earlierOf(after, tool) };
    if (known.has(tool.name)) registry.replace(tool, owner, extras);
    else registry.add(tool, owner, extras);
  }
}

/** Whether a skill declares in `uses` that its tools call `entry`. */
export function mayUse(skill: Skill | undefined, entry: Entry, registry: Pick<RegistryView, "resolve">): boolean {
  if (skill === undefined) return false;
  // A tool that is taken over under another name, with some arguments fixed, may be called only as that.
  const own = skill.uses.filter((use) => skill.reuses.every((reuse) => reuse.uses !== use));
  return own.some((use) => {
    if (use.address === entry.address) return true;
    const resolution = registry.resolve(use.address, skill.name);
    return resolution.ok && resolution.entry.address === entry.address;
  });
}
