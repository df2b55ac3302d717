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
export type { McpClientAccess } from "./server/calls/client-access.ts";
export type { ClientAnswers } from "./server/calls/client-questions.ts";
export { createMcpServer } from "./server/create-mcp-server.ts";
export type {
  McpExposure,
  McpExposureRule,
  McpServerEvent,
  McpServerLimits,
  McpServerOptions,
} from "./server/mcp-server-options.ts";
export type { McpNotifier, McpServing, StdioOptions, StdioServing } from "./server/mcp-serving.ts";
export type { McpArgument, McpPromptSource, McpResourceSource } from "./server/mcp-sources.ts";
export type { McpGeneration, ServedClient } from "./server/served-client.ts";
