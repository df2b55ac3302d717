import type { ServedClient } from "../client.ts";

/** The fixed few tools with which a client finds, opens and calls everything. */
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
