import { defineTool, toMetaTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ToolState } from "../../core/tool-state.ts";
import type { Tool } from "../../core/tool.ts";
import { findLimitedCaller } from "../../workspace/call/authority.ts";
import { anyJson } from "../drafts/draft-schema.ts";
import type { Forge } from "../forge-interface.ts";
import { createDraftTools } from "./draft-tools.ts";
import { anyObject, closed } from "./to-output.ts";
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

interface StateInput {
  readonly action: "get" | "set" | "list" | "delete";
  readonly tool: string;
  readonly key?: string;
  readonly value?: JsonValue;
  readonly prefix?: string;
  readonly after?: string;
}

/** Makes the tool that looks at what tools keep from one call to the next. */
function createStateTool(forge: Forge): Tool {
  return defineTool({
    name: "tool_state",
    title: "State of a tool",
    description:
      "Gets, sets, lists or deletes what a tool keeps from one call to the next (in Python: import kitbag; kitbag.state.get(key)). Values are JSON.",
    input: closed(
      {
        action: { type: "string", enum: ["get", "set", "list", "delete"] },
        tool: { type: "string", minLength: 1, description: "The address of the tool" },
        key: { type: "string", minLength: 1, description: "Needed but for list" },
        value: { ...anyJson, description: "What to set: any JSON" },
        prefix: { type: "string", description: "For list: only keys that begin so" },
        after: { type: "string", description: "For list: only keys after this one" },
      },
      ["action", "tool"],
    ),
    output: anyObject,
    async run(given, { call, user }): Promise<JsonObject> {
      const input = given as unknown as StateInput;
      const state = forge.state(input.tool, { user });
      const found = forge.workspace.getTool(input.tool);
      // What a tool keeps is part of what it does: whoever may not call it may not look at it, nor change it.
      const failure = found && findLimitedCaller(call)?.refuse(found);
      if (failure !== undefined) throw new KitbagError(failure.code, failure.details);
      return useState(state, input);
    },
  });
}

async function useState(state: ToolState, input: StateInput): Promise<JsonObject> {
  const { action, key, value, prefix = "", after = "" } = input;
  if (action === "list") {
    const entries = await state.list(prefix, { after });
    return { entries: entries.map((entry) => ({ key: entry.key, value: entry.value })) };
  }
  if (key === undefined) throw missing("key", action);
  if (action === "set") {
    if (value === undefined) throw missing("value", action);
    return { key, version: await state.set(key, value) };
  }
  if (action === "delete") return { key, deleted: await state.delete(key) };
  const found = await state.get(key);
  return found === undefined ? { key, found: false } : { key, found: true, value: found };
}

function missing(part: string, action: string): KitbagError {
  const problems = [{ path: part, expected: `a ${part} to ${action}`, found: "nothing" }];
  return new KitbagError("input-invalid", { tool: "tool_state", problems });
}
