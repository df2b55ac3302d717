import type { JsonObject, JsonValue } from "./json.ts";
import type { Permissions } from "./permissions.ts";
import type { ToolCode } from "./tool-data.ts";

interface SourceFacts {
  /** Of a server in a configuration, also who owns its tools. */
  readonly name: string;
  /** The skill that brings it and owns its tools. */
  readonly skill?: string;
  /** Only these of its tools, by the names that the server gives them. @default all */
  readonly tools?: readonly string[];
  /** How long one call may take. @default the workspace's limit */
  readonly limitMs?: number;
  /** Nothing of it runs without somebody's approval. @default false */
  readonly needsApproval?: boolean;
}

/** An MCP server that is a program of this machine. */
export interface McpProgram extends SourceFacts {
  /** By name or absolute path; of a skill also `./` and a file of it. */
  readonly command: string;
  readonly args: readonly string[];
  /** All that it may touch, and the names of the variables that it sees. */
  readonly permissions: Permissions;
  /** The skill that brings it. */
  readonly folder?: McpFolder;
  /** It runs with all rights of this user; only an operator can say so. @default it runs in the sandbox */
  readonly sandbox?: "off";
}

/** The folder of a skill that brings a server, and exactly which bytes it is made of. */
export interface McpFolder {
  readonly directory: string;
  readonly digest: string;
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly digest: string }[];
}

/** An MCP server that is reached over HTTP. */
export interface McpAddress extends SourceFacts {
  readonly url: string;
  /** The name of the secret that is the bearer token. */
  readonly token?: string;
  /** More headers: the names of the secrets that are their values. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Says that the server asks for a log-in. @default it does not */
  readonly oauth?: McpOAuth;
  /**
   * Hosts that may be on this machine or in a private network, beside an address that `url` or the issuer names. Of a skill these are
   * its network rules, and only addresses among them count. @default none
   */
  readonly allowHosts?: readonly string[];
}

/** How one logs in to a server. */
export interface McpOAuth {
  /** Of a client that is registered already. @default it registers itself */
  readonly clientId?: string;
  /** The name of the secret that is the client's. With it the client acts for itself, and no person is asked. */
  readonly clientSecret?: string;
  /** The only authorization server that gets the client's secret. */
  readonly issuer?: string;
  readonly scope?: string;
}

/** Another MCP server, as a source of tools. */
export type McpSource = McpProgram | McpAddress;

/** A tool as its server describes it, in the server's own words. */
export interface McpDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
}

/** The code of a tool that another MCP server has. */
export interface McpCode extends ToolCode {
  readonly kind: "mcp";
  readonly source: McpSource;
  /** What was agreed to: the server must still say exactly this when the tool is called. */
  readonly definition: McpDefinition;
}

/** The name of a source among all: `server`, or `skill/server`. */
export function toSourceKey({ name, skill }: Pick<McpSource, "name" | "skill">): string {
  return skill === undefined ? name : `${skill}/${name}`;
}

/** Tells whether a source is a program of this machine. */
export function isMcpProgram(source: McpSource): source is McpProgram {
  return "command" in source;
}

/** The key of an output that is MCP content: `{ "$content": [ … ] }`, and nothing beside it. */
export const contentKey = "$content";

/** Makes the output of a tool whose result is content blocks and not only text. */
export function toContentOutput(blocks: readonly JsonValue[]): JsonObject {
  return { [contentKey]: blocks };
}
