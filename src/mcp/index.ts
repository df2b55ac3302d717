/**
 * Kitbag behind MCP: a workspace served to every client, on stdio and over HTTP; and other servers as sources of tools.
 *
 * @module
 */
export type {
  Caller,
  Gate,
  GateEvent,
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
