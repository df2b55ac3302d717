import type { McpServer } from "@modelcontextprotocol/server";

import type { ServedClient } from "../client.ts";
import { attachSkills } from "../skills/attach-skills.ts";
import { createContent, toCacheFields, toOrder } from "./create-content.ts";
import { pageItems } from "./page-items.ts";
import type { RunWatch } from "./run-watch.ts";
import { createSubscriptions, type Subscriptions } from "./subscriptions.ts";

/** How long lists may be used by clients that do not hear of changes. */
const listTtlMs = 5000;

/**
 * Serves the resources of a client, those of the skills extension among them. Before the server is connected. Answers with what the
 * client subscribed to; `runs` tells of changes of runs.
 */
export function attachResources(mcp: McpServer, client: ServedClient, runs?: RunWatch): Subscriptions {
  const { server } = mcp;
  // The extension registers handlers of its own for resources; ours take their place.
  attachSkills(mcp, client);
  server.registerCapabilities({ resources: { subscribe: true, listChanged: true } });
  const content = createContent(client);
  // A client that went away hears nothing.
  const onRunChange = (uri: string): void => void server.sendResourceUpdated({ uri }).catch(() => {});
  const subscriptions = createSubscriptions((uri) => runs?.follow(uri, () => onRunChange(uri), client.caller.id));

  server.setRequestHandler("resources/list", async ({ params }) => {
    const all = await content.list();
    const { items, nextCursor } = pageItems(all, params?.cursor, { keyOf: toOrder });
    return {
      resources: [...items],
      ...(nextCursor !== undefined && { nextCursor }),
      ...toCacheFields(client, listTtlMs),
    };
  });
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [...content.templates()],
    ...toCacheFields(client, listTtlMs),
  }));
  server.setRequestHandler("resources/read", ({ params }, context) => content.read(params.uri, context));
  if (client.generation === "2025") {
    server.setRequestHandler("resources/subscribe", async ({ params }, context) => {
      // Who subscribes to what is not there would wait for ever.
      await content.read(params.uri, context);
      subscriptions.add(params.uri);
      return {};
    });
    server.setRequestHandler("resources/unsubscribe", ({ params }) => {
      subscriptions.delete(params.uri);
      return {};
    });
  }
  return subscriptions;
}
