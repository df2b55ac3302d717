/**
 * Kitbag behind MCP: a workspace served to every client, on stdio and over HTTP; and other servers as sources of tools. May import what
 * `layers.ts` puts below it: `gate`, `agent`, `forge`, `workspace` and the rows under these.
 *
 * Start with `server/create-mcp-server.ts`, then `server/calls/call-tool.ts`: the one function that answers `tools/call`. The SDK's handlers
 * (the `attach-…` files) and the plain envelope (`server/plain/`) only read requests and write answers. What "session" means here:
 *
 * - a `Session` of the workspace holds which skills are open: for the process on stdio, and for a user and a session name over HTTP
 *   (`gate/sessions/user-sessions.ts`), in both generations of the protocol;
 * - `limitSession` shows a `Session` to one caller: without the tools and skills that the caller may not use;
 * - an `HttpSession` is the connection of a client of 2025 over HTTP.
 *
 * @module
 */
export type {
  Caller,
  Gate,
  GateEvent,
  RequestEnd,
  GateLimits,
  GateOAuth,
  GateOptions,
  GateRequest,
  GateToken,
  Rate,
  Refusal,
  Route,
} from "../gate/gate.ts";
export { openGate } from "../gate/open-gate.ts";
export type { McpOAuth } from "../core/mcp-source.ts";
export type { McpServerEntry } from "../core/mcp-source.ts";
export type { McpNotice } from "./client/add-mcp-servers.ts";
export type { McpOffer, McpOfferedTool } from "./client/inspect-server.ts";
export { openMcpServers } from "./client/open-mcp-servers.ts";
export type { McpServersOptions } from "./client/open-mcp-servers.ts";
export type { ClientAnswers, McpClientAccess } from "./server/calls/ask-client.ts";
export type { McpServerContent } from "./client/server-content.ts";
export { createMcpServer } from "./server/create-mcp-server.ts";
export type {
  McpArgument,
  McpExposure,
  McpGeneration,
  McpPromptSource,
  McpResourceSource,
  ServedClient,
} from "./server/client.ts";
export type {
  McpExposureRule,
  McpNotifier,
  McpServerEvent,
  McpServerLimits,
  McpServerOptions,
  McpServing,
  StdioOptions,
  StdioServing,
} from "./server/mcp-server-options.ts";
