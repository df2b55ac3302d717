import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpHandler, InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";

import type { Caller } from "../../src/gate/gate.ts";
import { attachCompletions } from "../../src/mcp/server/completions/attach-completions.ts";
import { attachPrompts } from "../../src/mcp/server/prompts/attach-prompts.ts";
import { attachResources } from "../../src/mcp/server/resources/attach-resources.ts";
import { followContent } from "../../src/mcp/server/resources/follow-content.ts";
import type { ServedClient } from "../../src/mcp/server/client.ts";
import type { Session, Workspace } from "../../src/workspace/workspace.ts";

/** What the client is served, where it is not the usual. */
export type ServedParts = Omit<Partial<ServedClient>, "workspace">;

/** An official client, connected to the parts of our server that are about reading. */
export interface ConnectedClient {
  readonly client: Client;
  readonly session: Session;
}

const local: Caller = { id: "local", scopes: "all" };
const info = { name: "kitbag", version: "1.0.0" };

/** Connects a client of the 2025 generation, in memory. */
export async function connect2025(workspace: Workspace, parts: ServedParts = {}): Promise<ConnectedClient> {
  const served = toServed(workspace, { ...parts, generation: "2025" });
  const mcp = new McpServer(info);
  const subscriptions = attachAll(mcp, served);
  const end = followContent(served, {
    onResources: () => mcp.sendResourceListChanged(),
    onUpdated: (uri) => void subscriptions.find(uri).map((one) => mcp.server.sendResourceUpdated({ uri: one })),
    onPrompts: () => mcp.sendPromptListChanged(),
  });
  const [here, there] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1.0.0" });
  await Promise.all([mcp.connect(here), client.connect(there)]);
  onTestFinished(async () => {
    end();
    await client.close();
    await served.session.close();
  });
  return { client, session: served.session };
}

/** Connects a client of the 2026 generation to a handler of HTTP requests, without a network. */
export async function connect2026(workspace: Workspace, parts: ServedParts = {}): Promise<ConnectedClient> {
  const served = toServed(workspace, { ...parts, generation: "2026" });
  const handler = createMcpHandler(
    () => {
      const mcp = new McpServer(info);
      attachAll(mcp, served);
      return mcp;
    },
    { legacy: "reject" },
  );
  const end = followContent(served, {
    onResources: () => handler.notify.resourcesChanged(),
    onUpdated: (uri) => handler.notify.resourceUpdated(uri),
    onPrompts: () => handler.notify.promptsChanged(),
  });
  const transport = new StreamableHTTPClientTransport(new URL("http://127.0.0.1/mcp"), {
    fetch: (url, init) => handler.fetch(new Request(url, init)),
  });
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  await client.connect(transport);
  onTestFinished(async () => {
    end();
    await client.close();
    await handler.close();
    await served.session.close();
  });
  return { client, session: served.session };
}

/** What our parts know of a client. */
export function toServed(workspace: Workspace, parts: ServedParts = {}): ServedClient {
  return {
    workspace,
    session: workspace.openSession(),
    caller: local,
    generation: "2025",
    resources: [],
    prompts: [],
    info: () => undefined,
    ...parts,
  };
}

function attachAll(mcp: McpServer, served: ServedClient): ReturnType<typeof attachResources> {
  attachPrompts(mcp, served);
  attachCompletions(mcp, served);
  return attachResources(mcp, served);
}
