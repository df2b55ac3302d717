import { createMcpHandler, type AuthInfo, type McpHttpHandler } from "@modelcontextprotocol/server";

import type { Caller } from "../../../gate/gate.ts";
import { followClient } from "../follow-instance.ts";
import type { McpNotifier } from "../mcp-serving.ts";
import { serveClient, type Services } from "../services.ts";

/** Nobody: what is told of the workspace is told to all. */
const everybody: Caller = { id: "everybody", scopes: "all" };

/** What serves the 2026 generation over HTTP. */
export interface ModernService {
  readonly handler: McpHttpHandler;
  close(): Promise<void>;
}

/** Makes what serves the 2026 generation: a server for each request, and one that tells all who listen what changes. */
export function createModernService(services: Services): ModernService {
  const { options, limits, notices, shared } = services;
  const handler = createMcpHandler(
    ({ authInfo }) => serveClient(services, { caller: readCaller(authInfo), generation: "2026", session: shared }).mcp,
    {
      legacy: "reject",
      maxSubscriptions: limits.maxSubscriptions,
      // The gate has read the body, and says how large it may be.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      ...(options.onError !== undefined && { onerror: options.onError }),
    },
  );
  const notifier = tellOnce(handler.notify);
  const { client } = serveClient(services, { caller: everybody, generation: "2026", session: shared });
  const ends = [followClient(client, notifier), notices.add(notifier)];
  return {
    handler,
    async close() {
      for (const end of ends.splice(0)) end();
      await handler.close();
    },
  };
}

/** How the caller reaches the server that is made for its request. There is no token in it. */
export function toAuthInfo(caller: Caller): AuthInfo {
  const scopes = caller.scopes === "all" ? [] : [...caller.scopes];
  return { token: "", clientId: caller.id, scopes, extra: { caller } };
}

function readCaller(info: AuthInfo | undefined): Caller {
  const { caller } = info?.extra ?? {};
  // Without the gate nobody is known, so nothing is allowed.
  return (caller as Caller | undefined) ?? { id: "nobody", scopes: new Set() };
}

/** Changes that come in one go are told once. */
function tellOnce(notifier: McpNotifier): McpNotifier {
  const waiting = new Map<string, () => void>();
  const later = (key: string, tell: () => void): void => {
    if (waiting.size === 0) {
      queueMicrotask(() => {
        const all = [...waiting.values()];
        waiting.clear();
        for (const one of all) one();
      });
    }
    waiting.set(key, tell);
  };
  return {
    toolsChanged: () => later("tools", () => notifier.toolsChanged()),
    promptsChanged: () => later("prompts", () => notifier.promptsChanged()),
    resourcesChanged: () => later("resources", () => notifier.resourcesChanged()),
    resourceUpdated: (uri) => later(`resource ${uri}`, () => notifier.resourceUpdated(uri)),
  };
}
