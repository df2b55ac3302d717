import type { CallToolResult, ClientCapabilities } from "@modelcontextprotocol/server";

import type { Tool } from "../../../core/tool.ts";
import type { CallOptions } from "../../../workspace/call/call-options.ts";
import type { RegisteredTool } from "../../../workspace/registry/registered-tool.ts";
import { canBeAsked, refuseToAsk } from "../calls/answer-call.ts";
import { lacksInput } from "../calls/ask-missing-input.ts";
import { findCalledTool, findTarget, type CallTarget } from "../calls/call-target.ts";
import { createClientAccess } from "../calls/client-access.ts";
import { toTargetResult } from "../calls/to-target-result.ts";
import { findSession } from "../sessions/handle-dispatch.ts";
import type { ToolClient } from "../tool-client.ts";
import { getToolList, listTtlMs } from "../tools/attach-tools.ts";
import type { PlainRequest } from "./plain-request.ts";

/** What a plain request is answered with. */
export interface PlainParts {
  readonly client: ToolClient;
  readonly capabilities: ClientCapabilities | undefined;
  /** JSON of what this server calls itself. */
  readonly serverInfo: string;
  readonly options: Pick<CallOptions, "onEvent" | "signal">;
}

/**
 * Answers a plain request without the SDK, as it would: the same call, the same bytes but for the order of keys. `undefined` if the
 * client may have to be asked, or there is no such tool; nothing has run then, and the SDK answers.
 */
export async function answerPlain(request: PlainRequest, parts: PlainParts): Promise<string | undefined> {
  if (request.method === "tools/list") return toListAnswer(request, parts);
  const result = await call(request, parts);
  return result === undefined ? undefined : toAnswer(request, parts, JSON.stringify(result).slice(1, -1));
}

function toListAnswer(request: PlainRequest, parts: PlainParts): string {
  const hints = parts.client.generation === "2026" ? `,"ttlMs":${listTtlMs},"cacheScope":"private"` : "";
  return toAnswer(request, parts, `"tools":${getToolList(parts.client).json}${hints}`);
}

function toAnswer({ id }: PlainRequest, { client, serverInfo }: PlainParts, fields: string): string {
  const more =
    client.generation === "2026"
      ? `,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":${serverInfo}}`
      : "";
  return `{"result":{${fields}${more}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
}

async function call({ name, input }: PlainRequest, parts: PlainParts): Promise<CallToolResult | undefined> {
  const { client, capabilities, options } = parts;
  const target = findTarget(client, name);
  if (!isPlainTarget(target, input, parts)) return undefined;
  const { access } = createClientAccess(refuseToAsk, capabilities);
  const form = target.findForm(input);
  const outcome = await target.run(input, { ...options, user: client.caller.id, injected: { mcp: access } });
  return toTargetResult(target, outcome, form);
}

/** Tells whether a call can be made without asking anybody. */
function isPlainTarget(
  target: CallTarget,
  input: PlainRequest["input"],
  { client, capabilities }: PlainParts,
): boolean {
  const { entry, kind, name } = target;
  if (kind === "direct" && entry === undefined) return false;
  const called = entry ?? findCalledTool(client, name, input);
  if (called !== undefined && (asks(called.tool) || repeatsArguments(called.tool))) return false;
  if (!canBeAsked(capabilities)) return true;
  if (target.findCalls(input).some(lacksInput)) return false;
  const session = client.generation === "2026" ? findSession(client, input) : client.session;
  return !hasAskingTools(session.getAvailableTools());
}

/** Whether the client may be asked when a tool is called. */
function asks({ needsApproval, inject }: Tool): boolean {
  return needsApproval || inject.includes("mcp") || inject.includes("sampling");
}

const asking = new WeakMap<readonly RegisteredTool[], boolean>();

/** Whether a call inside the call may ask the client: any tool may call any other. */
function hasAskingTools(available: readonly RegisteredTool[]): boolean {
  const known = asking.get(available) ?? available.some(({ tool }) => asks(tool));
  asking.set(available, known);
  return known;
}

const repeating = new WeakMap<Tool, boolean>();

/** Whether headers of a request must repeat arguments of the tool: the SDK compares them. */
function repeatsArguments(tool: Tool): boolean {
  const known = repeating.get(tool) ?? JSON.stringify(tool.inputSchema).includes('"x-mcp-header"');
  repeating.set(tool, known);
  return known;
}
