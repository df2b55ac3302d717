import { asTool } from "../../core/check-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import { isObject, showValue } from "../../core/json.ts";
import { isName, nameRule } from "../../core/names.ts";
import type { Tool } from "../../core/tool.ts";
import { findWrongOption, type Expectations } from "../options/find-wrong-option.ts";
import type { Extras, Owner, Registry, RegistryView } from "./registry.ts";
import type { AddOptions, ToolComponent, ToolMethods, ToolQueries } from "../workspace.ts";

/** Makes what a workspace can do with tools, but for calling them. `isSkill` knows the names of skills, whether they have tools or not. */
export function createToolMethods(registry: Registry, isSkill: (name: string) => boolean): ToolMethods {
  const refuseSkill = (name: string | undefined): void => {
    if (name === undefined || !isSkill(name)) return;
    throw new KitbagError("owner-invalid", { owner: name, reason: "it is already the name of a skill" });
  };

  return {
    add(tool, options) {
      const { owner, extras } = readAddOptions(tool, options);
      refuseSkill(owner.name);
      registry.add(asTool(tool), owner, extras);
    },
    addComponent(component) {
      const { name, tools } = checkComponent(component);
      refuseSkill(name);
      registry.change(() => {
        for (const tool of tools) registry.add(asTool(tool), { source: "component", name });
      });
    },
    replace(tool, options) {
      const { owner, extras } = readAddOptions(tool, options);
      registry.replace(asTool(tool), owner, extras);
    },
    remove: registry.remove,
    removeComponent(name) {
      const owned = registry.ownedBy(name).filter((entry) => entry.source === "component");
      registry.change(() => {
        for (const entry of owned) registry.remove(entry.address);
      });
      return owned.length > 0;
    },
    change: registry.change,
    ...createToolQueries(registry),
  };
}

const expectations: Expectations<AddOptions> = {
  component: [(value) => typeof value === "string", "a name"],
  injected: [isObject, "an object"],
  versions: [Array.isArray, "a list of tools"],
};

function readAddOptions(tool: Tool, options: AddOptions = {}): { owner: Owner; extras: Extras } {
  const wrong = findWrongOption(options, expectations);
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
  const { component, injected, versions } = options;
  const owner: Owner = component === undefined ? { source: "global" } : { source: "component", name: component };
  return { owner, extras: { injected, ...(versions !== undefined && { versions: checkVersions(tool, versions) }) } };
}

/** One version must not mean two tools. */
function checkVersions({ name, version: own }: Tool, versions: readonly Tool[]): readonly Tool[] {
  const taken = new Set([own]);
  for (const [index, one] of versions.map(asTool).entries()) {
    const { version } = one;
    if (version !== undefined && one.name === name && !taken.has(version)) taken.add(version);
    else {
      const found = `${one.name}@${version ?? "none"}`;
      const expected = `an earlier version of "${name}" that is not there twice`;
      throw new KitbagError("option-invalid", { option: `versions[${index}]`, found, expected });
    }
  }
  return [...versions];
}

/** It may have more than this: a component can be an object of any kind. */
function checkComponent(component: ToolComponent): ToolComponent {
  const { name, tools } = (isObject(component) ? component : {}) as Partial<ToolComponent>;
  if (!isName(name))
    throw new KitbagError("owner-invalid", { owner: showValue(name), reason: `a name is ${nameRule}` });
  if (isObject(tools) && Symbol.iterator in tools) return { name, tools };
  throw new KitbagError("option-invalid", { option: "tools", found: showValue(tools), expected: "a list of tools" });
}

/** Makes what can be asked about tools. */
export function createToolQueries(view: RegistryView): ToolQueries {
  return {
    getTool(address) {
      const resolution = view.resolve(address);
      return resolution.ok ? resolution.entry : undefined;
    },
    isToolAvailable(address) {
      const resolution = view.resolve(address);
      return resolution.ok && view.isAvailable(resolution.entry);
    },
    getAvailableTools: () => view.available(),
    getToolSource(address) {
      const resolution = view.resolve(address);
      return resolution.ok ? { source: resolution.entry.source, owner: resolution.entry.owner } : undefined;
    },
  };
}
