import type { Store } from "../../core/store.ts";
import type { Session } from "../../workspace/sessions/session.ts";
import type { Workspace } from "../../workspace/workspace.ts";

/** The two generations of the protocol: up to 2025-11-25 (sessions), and since 2026-07-28 (no state between requests). */
export type McpGeneration = "2025" | "2026";

/** Who asks, as the gate or the terminal says it. */
export interface McpCaller {
  readonly id: string;
  readonly scopes: ReadonlySet<string> | "all";
}

/**
 * One client that is served: what the parts of the server (tools, resources, prompts, completions, skills) know of it. There is one
 * for each connection on stdio, each session of 2025 over HTTP and each request of 2026 over HTTP.
 */
export interface ServedClient {
  readonly workspace: Workspace;
  /**
   * What is open for this client. In the 2025 generation it is the client's own; in 2026 all clients see the same one, in which
   * nothing is opened.
   */
  readonly session: Session;
  readonly caller: McpCaller;
  readonly generation: McpGeneration;
  readonly store?: Store;
  /** Finds paths that begin with a text, for completions. */
  readonly listFiles?: (prefix: string) => Promise<readonly string[]>;
  /** What the client calls itself; unknown before it has said so. */
  info(): { readonly name: string; readonly version: string } | undefined;
}
