import { createTool } from "../../core/define-tool.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { ScriptInterface, ScriptTool } from "../scripts/script-interface.ts";
import type { SkillFacts } from "./skill-facts.ts";

/**
 * Checks the tools of scripts once, so that what is remembered need not be checked again: each has the schema and the examples
 * that the tool will have. One that cannot be a tool is left out, and says why.
 */
export function checkTools(facts: SkillFacts): SkillFacts {
  if (facts.areToolsChecked === true) return facts;
  const diagnostics: Diagnostic[] = [];
  const scripts = facts.scripts.map((script) => ({
    ...script,
    tools: script.tools.flatMap((tool) => checkTool(script, tool, diagnostics)),
  }));
  return {
    ...facts,
    scripts,
    scriptDiagnostics: [...facts.scriptDiagnostics, ...diagnostics],
    areToolsChecked: true,
  };
}

function checkTool({ path }: ScriptInterface, own: ScriptTool, diagnostics: Diagnostic[]): ScriptTool[] {
  const { name, description, inputSchema, outputSchema, annotations, limits, cache, examples } = own;
  try {
    const tool = createTool({
      name,
      description,
      input: inputSchema,
      ...(outputSchema !== undefined && { output: outputSchema }),
      ...(annotations !== undefined && { annotations }),
      ...(limits !== undefined && { limits }),
      ...(cache !== undefined && { cache }),
      examples,
      code: { kind: "script" },
    });
    const { inputSchema: input, outputSchema: output } = tool;
    return [
      { ...own, inputSchema: input, ...(output !== undefined && { outputSchema: output }), examples: tool.examples },
    ];
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    const message = `Left out the tool "${name}" of ${path}: ${cause.message}`;
    diagnostics.push({ severity: "error", code: "tool-invalid", message, file: path });
    return [];
  }
}
