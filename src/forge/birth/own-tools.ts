import type { Tool } from "../../core/tool.ts";

const own = new WeakSet<Tool>();

/** Says that a tool is one of the forge's own. */
export function markOwn(tool: Tool): Tool {
  own.add(tool);
  return tool;
}

/** Tells whether a tool is one of the forge's own. */
export function isOwn(tool: Tool): boolean {
  return own.has(tool);
}
