import { isMcpProgram, type McpSource } from "../../core/mcp-source.ts";
import type { McpConnection } from "./connect-server.ts";
import { type Connected, createConnector, type ConnectorOptions } from "./connect-source.ts";
import type { Definitions } from "./definitions.ts";
import type { LogIn } from "./oauth-file.ts";
import { preparePackages } from "./package-runner.ts";
import { createServerLink, type RestartPolicy, type ServerLink } from "./server-link.ts";

/** How the tools of other MCP servers run. */
export interface McpRuntimeOptions extends ConnectorOptions {
  readonly restarts?: Partial<RestartPolicy>;
}

/** What happens at a server. */
export type McpEvent =
  | { readonly type: "definitions"; readonly source: McpSource; readonly definitions: Definitions }
  | { readonly type: "content"; readonly source: McpSource; readonly what: "prompts" | "resources" }
  | { readonly type: "server-down"; readonly source: McpSource; readonly reason: string };

/** A server, and who uses it now. */
export interface Server {
  readonly link: ServerLink;
  /** The newest connection, and the program behind it. */
  connected?: Connected;
  /** Lets a person log in at the next connection. */
  logIn?: LogIn | undefined;
  /** How many calls it has. */
  busy: number;
}

/** All servers that are used. */
export interface ServerPool {
  /** The server of a source; sources that say the same have the same. */
  find(source: McpSource): Server;
  close(): Promise<void>;
}

/** Makes a pool in which no server runs yet. */
export function createServerPool(options: McpRuntimeOptions, tell: (event: McpEvent) => void): ServerPool {
  const servers = new Map<string, Server>();
  const known = new WeakMap<McpSource, Server>();
  const connector = createConnector(options);
  const { restarts } = options;

  async function connect(source: McpSource, server: Server, signal: AbortSignal): Promise<McpConnection> {
    const { logIn } = server;
    const onDefinitions = (definitions: Definitions): void => tell({ type: "definitions", source, definitions });
    const onContent = (what: "prompts" | "resources"): void => tell({ type: "content", source, what });
    server.connected = await connector(source, { signal, onDefinitions, onContent, logIn });
    const { connection } = server.connected;
    onDefinitions(connection.definitions);
    return connection;
  }

  function make(source: McpSource): Server {
    const server: Server = {
      busy: 0,
      link: createServerLink({
        source,
        restarts,
        connect: (signal) => connect(source, server, signal),
        // Installing what a server needs takes longer than an answer of it may.
        ...(isMcpProgram(source) && { prepare: (signal) => preparePackages(source, options.prepare, signal) }),
        onDown: (reason) => tell({ type: "server-down", source, reason }),
      }),
    };
    return server;
  }

  return {
    find(source) {
      const same = known.get(source);
      if (same !== undefined) return same;
      const key = JSON.stringify(source);
      const server = servers.get(key) ?? make(source);
      servers.set(key, server);
      known.set(source, server);
      return server;
    },
    async close() {
      await Promise.all([...servers.values()].map(({ link }) => link.close()));
    },
  };
}
