import type { McpServer } from "@modelcontextprotocol/server";

import type { ToolClient } from "./client.ts";
import type { McpNotifier } from "./mcp-server-options.ts";
import { followContent } from "./resources/follow-content.ts";
import type { Subscriptions } from "./resources/subscriptions.ts";

/** The clients that are told when something of the host's own changes. */
export interface Notices extends McpNotifier {
  /** Adds a client until the returned function is called. */
  add(notifier: McpNotifier): () => void;
}

/** Makes an empty list of clients. */
export function createNotices(): Notices {
  const all = new Set<McpNotifier>();
  const tell = (how: (notifier: McpNotifier) => void): void => {
    for (const notifier of [...all]) how(notifier);
  };
  return {
    add(notifier) {
      all.add(notifier);
      return () => void all.delete(notifier);
    },
    toolsChanged: () => tell((one) => one.toolsChanged()),
    promptsChanged: () => tell((one) => one.promptsChanged()),
    resourcesChanged: () => tell((one) => one.resourcesChanged()),
    resourceUpdated: (uri) => tell((one) => one.resourceUpdated(uri)),
  };
}

/** Tells a client what changes in its workspace, until the returned function is called. */
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

/** Sends notifications to the client of one instance. */
export interface InstanceNotifier extends McpNotifier {
  /** Tells which lists changed while the client did not listen. */
  catchUp(): void;
}

type ListName = "tools" | "resources" | "prompts";

/** One server of the SDK, for one client. */
export interface McpInstance {
  readonly mcp: McpServer;
  readonly subscriptions: Subscriptions;
}

/** Makes what sends notifications to the client of an instance. While `isListening` is false, it remembers which lists changed. */
export function createInstanceNotifier(
  { mcp: { server }, subscriptions }: McpInstance,
  client: ToolClient,
  isListening: () => boolean,
): InstanceNotifier {
  const missed = new Set<ListName>();
  const senders: Readonly<Record<ListName, () => Promise<void>>> = {
    tools: () => server.sendToolListChanged(),
    resources: () => server.sendResourceListChanged(),
    prompts: () => server.sendPromptListChanged(),
  };
  // A client that disconnected gets nothing; the transport reports the disconnect.
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
      // Clients of 2026 say what they follow in the request with which they listen.
      const asked = client.generation === "2026" ? [uri] : subscriptions.find(uri);
      for (const one of asked) send(server.sendResourceUpdated({ uri: one }));
    },
    catchUp() {
      for (const list of missed) send(senders[list]());
      missed.clear();
    },
  };
}
