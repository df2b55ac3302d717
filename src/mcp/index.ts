/**
 * Kitbag behind MCP: a workspace served to every client, on stdio and over HTTP.
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
export type { McpClientAccess } from "./server/calls/client-access.ts";
export type { ClientAnswers } from "./server/calls/client-questions.ts";
export { createMcpServer } from "./server/create-mcp-server.ts";
export type { McpExposure, McpExposureRule, McpServerLimits, McpServerOptions } from "./server/mcp-server-options.ts";
export type { McpNotifier, McpServing, StdioOptions, StdioServing } from "./server/mcp-serving.ts";
export type { McpArgument, McpPromptSource, McpResourceSource } from "./server/mcp-sources.ts";
export type { McpGeneration, ServedClient } from "./server/served-client.ts";
