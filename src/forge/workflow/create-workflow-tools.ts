import type { Store } from "../../core/store.ts";
import type { Tool } from "../../core/tool.ts";
import type { Model } from "../../models/model.ts";
import { toMetaTool } from "../../core/define-tool.ts";
import type { Forge } from "../forge-interface.ts";
import { createGenerateTool, createSuggestTool, type Writers } from "../generate/generate-tools.ts";
import { createTemplateTool } from "../templates/create-template-tool.ts";
import { createStepTool } from "./create-step-tool.ts";

/** Options of {@link createWorkflowTools}. */
export interface WorkflowToolsOptions extends Writers {
  /** The model that writes tools from descriptions. @default the model of the MCP client, if the client lets Kitbag ask it */
  readonly model?: Model;
  /** The store of the workspace: `suggest_improvements` reads the recorded calls in it. @default it reads only the definitions */
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
