import type { Tool } from "../../core/tool.ts";
import type { Forge } from "../forge-interface.ts";
import { toMetaTool } from "../../core/define-tool.ts";
import { createDraftTools } from "./draft-tools.ts";
import { createStateTool } from "./state-tool.ts";
import { createVersionTools } from "./version-tools.ts";

/**
 * Makes the tools with which a model makes tools: `create_tool`, `update_tool`, `test_tool`, `list_versions`, `rollback_tool`,
 * `delete_tool`, `create_pipeline`, `create_skill`, `delete_skill` and `tool_state`. Add them to the forge's workspace. A draft that does not pass
 * is a failed outcome that says what to change. Whatever else belongs to making tools is added beside them.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createWorkspace } from "kitbag";
 * import { createForgeTools, openForge } from "kitbag/forge";
 *
 * const workspace = createWorkspace();
 * const directory = mkdtempSync(join(tmpdir(), "forge-"));
 * const forge = await openForge({ workspace, directory, home: join(directory, "home") });
 * for (const tool of createForgeTools(forge)) workspace.add(tool);
 *
 * const outcome = await workspace.call("create_tool", { name: "../x", description: "?", language: "bash", code: "ls", examples: [] });
 * console.assert(outcome.status === "failed" && outcome.error.code === "draft-refused");
 * await forge.close();
 * ```
 */
export function createForgeTools(forge: Forge): readonly Tool[] {
  return [...createDraftTools(forge), ...createVersionTools(forge), createStateTool(forge)].map(toMetaTool);
}
