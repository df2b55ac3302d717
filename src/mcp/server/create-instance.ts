import { McpServer, type Implementation } from "@modelcontextprotocol/server";

import type { CallParts } from "./calls/answer-call.ts";
import { formValidator } from "./calls/form-validator.ts";
import { mostRounds } from "./calls/flight.ts";
import { attachCompletions } from "./completions/attach-completions.ts";
import { renderInstructions } from "./instructions.ts";
import type { McpServerOptions } from "./mcp-server-options.ts";
import { attachPrompts } from "./prompts/attach-prompts.ts";
import { attachResources } from "./resources/attach-resources.ts";
import type { RunWatch } from "./resources/run-watch.ts";
import type { Subscriptions } from "./resources/subscriptions.ts";
import type { ToolClient } from "./tool-client.ts";
import { attachTools } from "./tools/attach-tools.ts";

/** Changes that come in one go are told once. */
const toldOnce = [
  "notifications/tools/list_changed",
  "notifications/resources/list_changed",
  "notifications/prompts/list_changed",
];

/** A person may take so long to answer, each time. */
const answerMs = 10 * 60 * 1000;

/** One server of the SDK, for one client. */
export interface McpInstance {
  readonly mcp: McpServer;
  readonly subscriptions: Subscriptions;
}

/** What all instances share. */
export interface InstanceParts {
  readonly calls: CallParts;
  /** There is none without a store. */
  readonly runs: RunWatch | undefined;
}

/** What a server calls itself. */
export function toServerInfo({ name = "kitbag", version = "0.0.0", title }: McpServerOptions): Implementation {
  return { name, version, ...(title !== undefined && { title }) };
}

/** Makes the server for one client: its parts, and then what the host adds. */
export function createInstance(options: McpServerOptions, client: ToolClient, parts: InstanceParts): McpInstance {
  const mcp = new McpServer(toServerInfo(options), {
    instructions: renderInstructions(client.exposure(), options.instructions),
    debouncedNotificationMethods: toldOnce,
    cacheHints: { "server/discover": { ttlMs: answerMs, cacheScope: "private" } },
    jsonSchemaValidator: formValidator,
    inputRequired: { maxRounds: mostRounds["2025"], roundTimeoutMs: answerMs },
  });
  Object.assign(mcp.server, { onerror: options.onError });
  attachTools(mcp, client, parts.calls);
  const subscriptions = attachResources(mcp, client, parts.runs);
  attachPrompts(mcp, client);
  attachCompletions(mcp, client);
  options.extend?.(mcp, client);
  return { mcp, subscriptions };
}
