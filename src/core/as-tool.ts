import { KitbagError, type Problem } from "./errors.ts";
import { showValue } from "./json.ts";
import { isName, nameRule } from "./names.ts";
import type { Tool } from "./tool.ts";

const expectations: readonly (readonly [keyof Tool, (value: unknown) => boolean, string])[] = [
  ["name", isName, nameRule],
  ["description", (value) => typeof value === "string", "a text"],
  ["inputSchema", isObject, "a schema"],
  ["annotations", isObject, "an object"],
  ["permissions", isObject, "an object"],
  ["examples", Array.isArray, "a list"],
  ["inject", Array.isArray, "a list of names"],
  ["limits", isObject, "an object"],
  ["code", isCode, "code with a kind"],
];

/**
 * Answers with `value` if it is a tool.
 *
 * @throws {KitbagError} `tool-invalid` if it is something else, as plain JavaScript can pass.
 */
export function asTool(value: unknown): Tool {
  if (!isObject(value) || !("code" in value) || !("inputSchema" in value)) {
    throw invalid("unknown", [{ path: "", expected: "a tool made with defineTool", found: showValue(value) }]);
  }
  const tool = value as Tool;
  const problems: Problem[] = [];
  for (const [path, isRight, expected] of expectations) {
    if (!isRight(tool[path])) problems.push({ path, expected, found: showValue(tool[path]) });
  }
  if (problems.length > 0) throw invalid(typeof tool.name === "string" ? tool.name : "unknown", problems);
  return tool;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isCode(value: unknown): boolean {
  return isObject(value) && "kind" in value && typeof value.kind === "string";
}

function invalid(tool: string, problems: readonly Problem[]): KitbagError {
  return new KitbagError("tool-invalid", { tool, problems });
}
