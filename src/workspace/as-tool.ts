import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import { isName, nameRule } from "../core/names.ts";
import type { Tool } from "../core/tool.ts";

/**
 * Answers with `value` if it is a tool.
 *
 * @throws {KitbagError} `tool-invalid` if it is something else, as plain JavaScript can pass.
 */
export function asTool(value: unknown): Tool {
  if (typeof value !== "object" || value === null || !("code" in value) || !("inputSchema" in value)) {
    const problem = { path: "", expected: "a tool made with defineTool", found: showValue(value) };
    throw new KitbagError("tool-invalid", { tool: "unknown", problems: [problem] });
  }
  const tool = value as Tool;
  if (isName(tool.name)) return tool;
  const problem = { path: "name", expected: nameRule, found: showValue(tool.name) };
  throw new KitbagError("tool-invalid", { tool: String(tool.name), problems: [problem] });
}
