import type { McpInstance } from "./create-instance.ts";
import type { McpNotifier } from "./mcp-serving.ts";
import { followContent } from "./resources/follow-content.ts";
import type { ToolClient } from "./tool-client.ts";

/** Tells a client what changes in its workspace, until the function that it answers with is called. */
export function followClient(client: ToolClient, notifier: McpNotifier): () => void {
  const ends = [
    client.session.onChange(() => {
      if (client.exposure() !== "dispatch") notifier.toolsChanged();
    }),
    followContent(client, {
      onResources: notifier.resourcesChanged,
      onPrompts: notifier.promptsChanged,
      onUpdated: notifier.resourceUpdated,
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** What sends notices to the client of one instance. */
export interface InstanceNotifier extends McpNotifier {
  /** Tells which lists changed while the client did not listen. */
  catchUp(): void;
}

type ListName = "tools" | "resources" | "prompts";

/** Makes what sends notices to the client of an instance. While `isListening` says no, it is remembered which lists changed. */
export function createInstanceNotifier(
  { mcp, subscriptions }: McpInstance,
  client: ToolClient,
  isListening: () => boolean,
): InstanceNotifier {
  const { server } = mcp;
  const missed = new Set<ListName>();
  const senders: Readonly<Record<ListName, () => Promise<void>>> = {
    tools: () => server.sendToolListChanged(),
    resources: () => server.sendResourceListChanged(),
    prompts: () => server.sendPromptListChanged(),
  };
  // A client that went away hears nothing; that it did is told elsewhere.
  const send = (sending: Promise<void>): void => void sending.catch(() => {});

  function tell(list: ListName): void {
    if (isListening()) send(senders[list]());
    else missed.add(list);
  }

  return {
    toolsChanged: () => tell("tools"),
    resourcesChanged: () => tell("resources"),
    promptsChanged: () => tell("prompts"),
    resourceUpdated(uri) {
      // Clients of 2026 say what they want to hear of where they listen.
      const asked = client.generation === "2026" ? [uri] : subscriptions.find(uri);
      for (const one of asked) send(server.sendResourceUpdated({ uri: one }));
    },
    catchUp() {
      for (const list of missed) send(senders[list]());
      missed.clear();
    },
  };
}
