import type { RegistryView } from "../registry.ts";
import type { ToolQueries } from "./session.ts";

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
