import { renderSchema } from "../../core/schema/render-schema.ts";
import type { ServedClient } from "./client.ts";

/** The dispatch tools, with which a client finds, opens and calls everything. */
const dispatchNames = [
  "search_tools",
  "describe_tool",
  "call_tool",
  "call_tools",
  "list_skills",
  "read_skill",
  "read_skill_file",
  "activate_skill",
  "deactivate_skill",
] as const;

/** The names of the tools that a client is shown, and can call by that name. */
export function findShownTools(client: ServedClient): ReadonlySet<string> {
  if (client.shownTools !== undefined) return new Set(client.shownTools());
  const available = client.session.getAvailableTools().map((entry) => entry.wireName);
  return new Set([...dispatchNames, ...available]);
}

/** The words of a prompt for one client. */
export interface PromptWords {
  /** Whether the client can call this tool. */
  has(tool: string): boolean;
  /** How a text names a tool: by its name, or by the tool that reaches it. */
  name(tool: string): string;
  /** What a tool takes, as it is now; empty if the client knows it already. */
  takes(tool: string): string;
}

/** Makes the words with which prompts speak to a client of tools. */
export function createPromptWords(client: ServedClient): PromptWords {
  const { session } = client;
  const shown = findShownTools(client);
  const reaches = shown.has("call_tool");

  function has(tool: string): boolean {
    return shown.has(tool) || (reaches && session.isToolAvailable(tool));
  }

  return {
    has,
    name: (tool) => (shown.has(tool) ? `\`${tool}\`` : `\`call_tool\` with the name ${tool}`),
    takes(tool) {
      // Who is shown a tool has its schema already.
      const entry = shown.has(tool) ? undefined : session.getTool(tool);
      if (entry === undefined) return "";
      // It stands in a numbered step, and backticks are for names of tools.
      const schema = renderSchema(entry.tool.inputSchema).replaceAll("`", "'").replaceAll("\n", "\n   ");
      return `It takes ${schema}`;
    },
  };
}
