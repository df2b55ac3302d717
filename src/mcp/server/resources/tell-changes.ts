import type { McpServer } from "@modelcontextprotocol/server";

import type { ServedClient } from "../served-client.ts";
import { followContent } from "./follow-content.ts";
import type { Subscriptions } from "./subscriptions.ts";

/**
 * Tells a client that stays connected of changes of resources and prompts, until the function that it answers with is called. For a
 * client of the 2026 generation it tells everything: the transport knows what it listens for.
 */
export function tellChanges(mcp: McpServer, client: ServedClient, subscriptions: Subscriptions): () => void {
  const isModern = client.generation === "2026";
  return followContent(client, {
    onResources: () => mcp.sendResourceListChanged(),
    onUpdated(uri) {
      for (const one of isModern ? [uri] : subscriptions.find(uri)) sendUpdated(mcp, one);
    },
    onPrompts: () => mcp.sendPromptListChanged(),
  });
}

/** A client that has gone needs to hear nothing. */
function sendUpdated(mcp: McpServer, uri: string): void {
  if (mcp.isConnected()) mcp.server.sendResourceUpdated({ uri }).catch(() => undefined);
}
