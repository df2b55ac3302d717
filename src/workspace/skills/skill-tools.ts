import type { Skill, ToolReuse } from "../../core/skill.ts";
import type { Tool, FunctionCode } from "../../core/tool.ts";
import type { Holder, InjectedRecord } from "../registry/registered-tool.ts";
import type { Entry, Registry, RegistryView } from "../registry/registry.ts";
import { createTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import { type JsonSchema, isSchemaObject } from "../../core/schema/json-schema.ts";

/** Puts a skill's own tools into the registry; they are not available before the skill is open. */
export function registerTools(registry: Registry, skill: Skill, injected?: InjectedRecord): void {
  for (const tool of skill.tools) {
    registry.add(tool, { source: "skill", name: skill.name }, { injected, versions: earlierOf(skill, tool) });
  }
  registry.reserve(skill.name);
}

/** What a tool was in the earlier versions of its skill. */
function earlierOf({ earlier = [] }: Skill, { name, version }: Tool): readonly Tool[] {
  const byVersion = new Map<string, Tool>();
  for (const skill of earlier) {
    const tool = skill.tools.find((one) => one.name === name);
    const own = String(skill.version);
    if (tool !== undefined && own !== version) byVersion.set(own, { ...tool, version: own });
  }
  return [...byVersion.values()];
}

/** Makes a skill's tools available to `holder`, and those that it takes over from others. */
export function openTools(registry: Registry, skill: Skill, holder: Holder): void {
  const isFirst = !isOpenAnywhere(registry, skill.name);
  registry.setOpen(skill.name, true, holder);
  if (isFirst) registerReused(registry, skill, holder);
}

/** Puts the tools that a skill takes over from others into the registry: they are there while any session has the skill open. */
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

/** Whether the workspace or a session has the skill open. */
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

/** Makes the tools that a skill takes over from others: the same tool under an own name, with some arguments fixed. */
function toReusedTools(skill: Skill, registry: RegistryView): Tool[] {
  return skill.reuses.map((reuse) => {
    const resolution = registry.resolve(reuse.uses.address, skill.name);
    if (!resolution.ok) throw new KitbagError(resolution.failure.code, resolution.failure.details);
    return toReusedTool(reuse, resolution.entry.tool, resolution.entry.address);
  });
}

/** The code of a tool that is taken over. The function is ours, but the skill chooses the tool and the arguments. */
interface ReuseCode extends FunctionCode {
  /** The address of the tool behind it, the only one that it calls. */
  readonly reuses: string;
}

/** The address of the tool behind one that a skill takes over; nothing for any other tool. */
export function findReused({ code }: Tool): string | undefined {
  return (code as Partial<ReuseCode>).reuses;
}

function toReusedTool(reuse: ToolReuse, tool: Tool, address: string): Tool {
  const { locked } = reuse;
  const code: ReuseCode = {
    kind: "function",
    reuses: address,
    async run(input, context) {
      const outcome = await context.call(address, { ...(input as object), ...locked });
      if (outcome.status === "ok") return outcome.output;
      const { code: innerCode, message } = outcome.error;
      throw new KitbagError("step-failed", { tool: reuse.name, step: address, code: innerCode, reason: message });
    },
  };
  return createTool({
    name: reuse.name,
    description: reuse.description ?? tool.description,
    ...(tool.version !== undefined && { version: tool.version }),
    input: withoutProperties(tool.inputSchema, Object.keys(locked)),
    ...(tool.outputSchema !== undefined && { output: tool.outputSchema }),
    annotations: tool.annotations,
    permissions: tool.permissions,
    limits: tool.limits,
    code,
  });
}

/** A caller neither sees nor sets the arguments that are fixed. */
export function withoutProperties(schema: JsonSchema, names: readonly string[]): JsonSchema {
  const properties = isSchemaObject(schema["properties"]) ? schema["properties"] : {};
  const left = Object.entries(properties).filter(([name]) => !names.includes(name));
  const required = Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
  return {
    ...schema,
    properties: Object.fromEntries(left),
    required: required.filter((name) => !names.includes(name)),
  };
}
