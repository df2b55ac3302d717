import type {
  ClientCapabilities,
  GetPromptResult,
  InputRequiredResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
  ServerContext,
} from "@modelcontextprotocol/server";

import type { Store } from "../../core/store.ts";
import type { Forge } from "../../forge/forge-interface.ts";
import type { Caller } from "../../gate/gate.ts";
import type { Session, Workspace } from "../../workspace/workspace.ts";

/** The two generations of the protocol: up to 2025-11-25 (sessions), and since 2026-07-28 (no state between requests). */
export type McpGeneration = "2025" | "2026";

/**
 * One client that is served: what the parts of the server (tools, resources, prompts, completions, skills) know of it. There is one
 * for each connection on stdio, each session of 2025 over HTTP and each request of 2026 over HTTP.
 */
export interface ServedClient {
  readonly workspace: Workspace;
  /**
   * What is open for this client, limited to what the caller of the current request may see: of the process on stdio, of the user and the
   * session name over HTTP.
   */
  readonly session: Session;
  /** The caller of the current request; outside of a request, the caller that opened the session. */
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

/**
 * Which tools a client sees: the dispatch tools, with which it finds and calls everything (`dispatch`); those that are available now, and
 * the tools that list, read and open skills (`direct`); or both.
 */
export type McpExposure = "both" | "dispatch" | "direct";

/** The part of a request that describes its client. */
export interface ClientRequest {
  readonly mcpReq: Pick<ServerContext["mcpReq"], "envelope">;
}

/** A client, with what only `tools/` and `calls/` use. */
export interface ToolClient extends ServedClient {
  /** The session that it uses, to which its tasks belong; `hold` keeps it open until the answered function is called. */
  readonly use: { readonly key: string; hold(): () => void };
  /** Remembers the name that the client gives itself in a request. */
  see(context: ClientRequest): void;
  /** Which tools it is shown. */
  exposure(): McpExposure;
  /** The capabilities that the client declares, with this request or when it connected. */
  capabilities(context: ClientRequest): ClientCapabilities | undefined;
}

/**
 * Resources that are served beside Kitbag's own. Each function gets the caller of the request, who may have scopes.
 *
 * **Contract**: lists may change whenever `McpServing.notify` says so, and are in a fixed order.
 */
export interface McpResourceSource {
  list?(caller: Caller): readonly Resource[] | Promise<readonly Resource[]>;
  templates?(caller: Caller): readonly ResourceTemplateType[] | Promise<readonly ResourceTemplateType[]>;
  /** Answers `undefined` for what is not its own; then the next source is asked. Kitbag's own URIs never come here. */
  read(
    uri: string,
    context: ServerContext,
    caller: Caller,
  ): Promise<ReadResourceResult | InputRequiredResult | undefined>;
  /** Values for an argument of one of its templates; `undefined` for a template that is not its own. */
  complete?(template: string, argument: McpArgument): Promise<readonly string[] | undefined>;
}

/** Prompts that are served beside Kitbag's own. */
export interface McpPromptSource {
  list(caller: Caller): readonly Prompt[] | Promise<readonly Prompt[]>;
  /** Answers `undefined` for what is not its own; then the next source is asked. */
  get(
    name: string,
    values: Readonly<Record<string, string>>,
    context: ServerContext,
    caller: Caller,
  ): Promise<GetPromptResult | InputRequiredResult | undefined>;
  /** Values for an argument of one of its prompts; `undefined` for a prompt that is not its own. */
  complete?(prompt: string, argument: McpArgument): Promise<readonly string[] | undefined>;
}

/** An argument that is being typed. */
export interface McpArgument {
  readonly name: string;
  /** What is typed so far. */
  readonly value: string;
}
