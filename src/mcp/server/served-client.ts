import type { Store } from "../../core/store.ts";
import type { Forge } from "../../forge/forge-interface.ts";
import type { Caller } from "../../gate/gate.ts";
import type { Session, Workspace } from "../../workspace/workspace.ts";
import type { McpPromptSource, McpResourceSource } from "./mcp-sources.ts";

/** The two generations of the protocol: up to 2025-11-25 (sessions), and since 2026-07-28 (no state between requests). */
export type McpGeneration = "2025" | "2026";

/**
 * One client that is served: what the parts of the server (tools, resources, prompts, completions, skills) know of it. There is one
 * for each connection on stdio, each session of 2025 over HTTP and each request of 2026 over HTTP.
 */
export interface ServedClient {
  readonly workspace: Workspace;
  /**
   * What is open for this client, as the caller of the request that is being answered may see it. In the 2025 generation it is the client's own; in 2026 all clients see the same one, in which
   * nothing is opened. What the caller's scopes do not allow is not in it.
   */
  readonly session: Session;
  /** Who makes the request that is being answered; outside of one, who opened the session. */
  readonly caller: Caller;
  readonly generation: McpGeneration;
  readonly store?: Store;
  readonly forge?: Forge;
  /** Finds paths that begin with a text, for completions. */
  readonly listFiles?: (prefix: string) => Promise<readonly string[]>;
  /** Resources and prompts that are served beside Kitbag's own, after them. */
  readonly resources: readonly McpResourceSource[];
  readonly prompts: readonly McpPromptSource[];
  /**
   * The names of the tools that `tools/list` shows to this client, for texts that speak of them. @default those of dispatch and all
   * that are available
   */
  readonly shownTools?: () => Iterable<string>;
  /** What the client calls itself; unknown before it has said so. */
  info(): { readonly name: string; readonly version: string } | undefined;
}
