import type { McpNotifier } from "./mcp-serving.ts";

/** Everybody who can be told of changes. */
export interface Notices extends McpNotifier {
  /** Answers with the function that takes it out. */
  add(notifier: McpNotifier): () => void;
}

/** Makes a list of those who are told of changes. */
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
