import type { Readable, Writable } from "node:stream";

import type { Route } from "../../gate/gate.ts";

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
