import type { Store } from "../../core/store.ts";
import type { Tool } from "../../core/tool.ts";
import type { Model } from "../../models/model.ts";
import { toMetaTool } from "../../core/define-tool.ts";
import type { Forge } from "../forge-interface.ts";
import { createGenerateTool, createSuggestTool, type Writers } from "../generate/generate-tools.ts";
import { createTemplateTool } from "../templates/create-template-tool.ts";
import { createStepTool } from "./create-step-tool.ts";

/** What {@link createWorkflowTools} takes. */
export interface WorkflowToolsOptions extends Writers {
  /** Writes tools from descriptions. @default the caller, if it can; else the closest template is filled in */
  readonly model?: Model;
  /** The store of the workspace, whose recorded calls are read. @default suggestions come from definitions alone */
  readonly store?: Store;
}

/**
 * Makes the tools that lead to a tool or a skill: `create_from_template`, `create_skill_step`, `generate_tool` and
 * `suggest_improvements`. Add them to the forge's workspace, beside those of `createForgeTools`.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createWorkspace } from "kitbag";
 * import { createWorkflowTools, openForge } from "kitbag/forge";
 *
 * const workspace = createWorkspace();
 * const directory = mkdtempSync(join(tmpdir(), "forge-"));
 * const forge = await openForge({ workspace, directory, home: join(directory, "home") });
 * for (const tool of createWorkflowTools(forge)) workspace.add(tool);
 *
 * const outcome = await workspace.call("create_skill_step", { purpose: "Greets people. Use it to say hello." });
 * console.assert(outcome.status === "ok" && JSON.stringify(outcome.output).includes('"step":"name"'));
 * await forge.close();
 * ```
 */
export function createWorkflowTools(forge: Forge, options: WorkflowToolsOptions = {}): readonly Tool[] {
  const { store } = options;
  return [
    createTemplateTool(forge),
    createStepTool(forge),
    createGenerateTool(forge, options),
    createSuggestTool(forge, store),
  ].map(toMetaTool);
}
