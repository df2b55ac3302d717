import type { Readable, Writable } from "node:stream";

import type { McpServer } from "@modelcontextprotocol/server";

import type { Store } from "../../core/store.ts";
import type { Forge } from "../../forge/forge-interface.ts";
import type { Route } from "../../gate/gate.ts";
import type { UserSessions } from "../../gate/sessions/user-sessions.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { McpExposure, McpPromptSource, McpResourceSource, ServedClient } from "./client.ts";

/** What clients of one name see. */
export interface McpExposureRule {
  /** What the client calls itself; `*` stands for any text. */
  readonly client: string;
  readonly exposure: McpExposure;
}

/** How much clients may take. */
export interface McpServerLimits {
  /** Sessions of the 2025 generation that are open at once over HTTP; beyond it, the caller that holds the most loses one. @default 1000 */
  readonly maxSessions: number;
  /** Sessions of one caller; all who come without a token are one. @default 500 */
  readonly maxSessionsPerCaller: number;
  /** A connection of the 2025 generation, or a user's session, that was not used for so long is closed. @default 30 minutes */
  readonly idleMs: number;
  /** Sessions, by `session` of the URL, that one user has at once over HTTP: each has open skills of its own. @default 500 */
  readonly maxSessionsPerUser: number;
  /** Such sessions of all users. @default 1000 */
  readonly maxUserSessions: number;
  /** Streams of 2026 clients that listen for changes. @default 1024 */
  readonly maxSubscriptions: number;
  /** Calls that wait for what a person at a client says; more cannot be asked. @default 1000 */
  readonly maxParked: number;
  /** A call that is not over after so long becomes a task, if its client knows tasks. @default 5 seconds */
  readonly taskAfterMs: number;
  /** How long a task is kept, from its beginning; a call that is not over then is cancelled. @default 1 hour */
  readonly taskMs: number;
  /** Tasks that are kept; beyond it, calls do not become tasks. @default 1000 */
  readonly maxTasks: number;
  /** Tasks of one caller. @default 100 */
  readonly maxTasksPerCaller: number;
}

/** What happened to sessions of the 2025 generation that an operator may want to know. */
export type McpServerEvent =
  /** There were too many, and the caller that held the most lost one that was not in use. */
  | { readonly type: "session-dropped"; readonly caller: string; readonly held: number; readonly open: number }
  /** There were too many, and all were in use: the caller got none. */
  | { readonly type: "session-refused"; readonly caller: string; readonly open: number };

/** What {@link createMcpServer} takes. */
export interface McpServerOptions {
  readonly workspace: Workspace;
  /** Where runs and large outputs are read from. @default nowhere: there are no resources for them */
  readonly store?: Store;
  /** What makes tools while everything runs, for what is told of them. Its tools are in the workspace. */
  readonly forge?: Forge;
  /** Served beside Kitbag's own. */
  readonly resources?: readonly McpResourceSource[];
  readonly prompts?: readonly McpPromptSource[];
  /** Finds paths that begin with a text, for completions. @default paths are not completed */
  readonly listFiles?: (prefix: string) => Promise<readonly string[]>;
  /** @default "kitbag" */
  readonly name?: string;
  readonly version?: string;
  readonly title?: string;
  /** Put after Kitbag's own few lines. */
  readonly instructions?: string;
  /** What clients see; the first rule that fits decides, and who fits none sees both. @default "both" */
  readonly exposure?: McpExposure | readonly McpExposureRule[];
  readonly limits?: Partial<McpServerLimits>;
  /** The sessions of users over HTTP, if another way in shares them; the caller closes them. @default its own */
  readonly users?: UserSessions;
  /**
   * Called for every server instance of the SDK before it is connected, after Kitbag's own parts: may register whatever Kitbag does
   * not have. What it sets for a method goes before Kitbag's own.
   */
  readonly extend?: (mcp: McpServer, client: ServedClient) => void;
  /** Told of sessions that were dropped or refused. @default not reported */
  readonly report?: (event: McpServerEvent) => void;
  /** Told of what went wrong outside of any request. @default not reported */
  readonly onError?: (error: Error) => void;
}

/** What tells clients that something of the host's own changed. Tools, skills and prompts of the workspace tell themselves. */
export interface McpNotifier {
  toolsChanged(): void;
  promptsChanged(): void;
  resourcesChanged(): void;
  /** Tells those who asked about this resource. */
  resourceUpdated(uri: string): void;
}

/** Where MCP is spoken by lines. */
export interface StdioOptions {
  /** @default the standard input of this process */
  readonly input?: Readable;
  /** @default the standard output of this process */
  readonly output?: Writable;
}

/** A client on stdio. */
export interface StdioServing {
  /** Resolves when the client is gone or `close` was called. */
  readonly closed: Promise<void>;
  /** Ends it; calls that are running are cancelled. */
  close(): Promise<void>;
}

/** A workspace behind MCP. */
export interface McpServing {
  /** Serves one client by lines on stdio. Resolves when it listens. */
  serveStdio(options?: StdioOptions): Promise<StdioServing>;
  /** The route for `openGate`, for many clients over Streamable HTTP. @default path "/mcp" */
  route(path?: string): Route;
  readonly notify: McpNotifier;
  /** Sessions of the 2025 generation that are open over HTTP. */
  readonly sessions: number;
  /** Closes every session and cancels what is running. Close the gate first: it lets calls finish. */
  close(): Promise<void>;
}
