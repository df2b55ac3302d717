import type { ToolSource } from "../core/events.ts";
import type { Tool } from "../core/tool.ts";

/** A tool that is in a workspace: the tool, and what the workspace knows about it. */
export interface RegisteredTool {
  readonly tool: Tool;
  /** `owner/name`, or the bare name of a global tool. */
  readonly address: string;
  /** The name that models and MCP clients see. */
  readonly wireName: string;
  readonly source: ToolSource;
  /** The component or skill it belongs to; `global` for a tool of the workspace itself. */
  readonly owner: string;
}

/** What changed in a workspace, told once, after everything is consistent. */
export interface WorkspaceChange {
  readonly added: readonly RegisteredTool[];
  readonly removed: readonly RegisteredTool[];
  /** Now as they are after the change. */
  readonly replaced: readonly RegisteredTool[];
}
