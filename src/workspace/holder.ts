import type { Listeners } from "./listeners.ts";
import type { RegisteredTool, WorkspaceChange } from "./registered-tool.ts";

/** Who has skills open: the workspace itself, or one of its sessions. What is available differs from one to the next. */
export interface Holder {
  /** The skills it has open, in the order they were opened. Never changed in place: another set takes its place. */
  open: ReadonlySet<string>;
  /** Those of them that somebody asked for; the others are open because another one requires them. */
  readonly asked: Set<string>;
  /** Nothing is available to one that is closed. */
  isClosed: boolean;
  /** Those who want to hear what changes for it. */
  readonly changes: Pick<Listeners<WorkspaceChange>, "isHeard" | "tell">;
  /** The list of available tools that it was given last. */
  tools: readonly RegisteredTool[];
  /** The end of what it does with skills: one thing after the other. */
  turn: Promise<unknown>;
  /** Stops what it is opening; made when it opens something. */
  stop?: AbortController;
}

/** Makes a holder that begins with what `from` has open. */
export function createHolder(changes: Holder["changes"], from?: Holder): Holder {
  return {
    open: from?.open ?? new Set(),
    asked: new Set(from?.asked),
    isClosed: false,
    changes,
    tools: from?.tools ?? [],
    turn: Promise.resolve(),
  };
}
