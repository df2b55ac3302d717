import {
  MissingRequiredClientCapabilityError,
  type Implementation,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
} from "@modelcontextprotocol/server";

import { callTool, type OpenCalls } from "../calls/call-tool.ts";
import type { CallContext } from "../calls/pausable-call.ts";
import type { ToolClient } from "../client.ts";
import { listTtlMs } from "../resources/attach-resources.ts";
import { getToolList } from "../tools/attach-tools.ts";
import type { PlainRequest } from "./plain-request.ts";

/** What a plain request is answered with. */
export interface PlainParts {
  readonly calls: OpenCalls;
  readonly client: ToolClient;
  readonly serverInfo: Implementation;
  readonly signal: AbortSignal;
  /** Sends what a tool logs, to a client of 2025. @default logs are dropped: a plain request of 2026 does not ask for any */
  readonly log?: CallContext["mcpReq"]["log"];
  /** The HTTP request, if it came by one. */
  readonly http?: CallContext["http"];
}

/** A JSON-RPC message that answers a request, and the HTTP status that the SDK gives it. */
export interface PlainAnswer {
  readonly status: 200 | 400;
  readonly message: JSONRPCMessage;
}

/**
 * The plain envelope: writes the answer to a plain `tools/call` as the SDK does, without its work for each request. It only writes:
 * `callTool` makes the call, as it does for the SDK.
 */
export async function answerPlainCall(request: PlainRequest, parts: PlainParts): Promise<PlainAnswer> {
  const { client, calls, serverInfo } = parts;
  const base = { jsonrpc: "2.0", id: request.id } as const;
  try {
    const result = await callTool(calls, client, request, toContext(request, parts));
    const more = client.generation === "2026" ? toModernFields(serverInfo) : {};
    return { status: 200, message: { result: { ...result, ...more }, ...base } };
  } catch (cause) {
    const status = cause instanceof MissingRequiredClientCapabilityError ? 400 : 200;
    return { status, message: { ...base, error: toProtocolError(cause) } };
  }
}

/** Writes the answer to a plain `tools/list` of 2026. The list is JSON text already, which all clients share. */
export function renderPlainList({ id }: PlainRequest, client: ToolClient, serverInfo: Implementation): string {
  const more = { ttlMs: listTtlMs, cacheScope: "private", ...toModernFields(serverInfo) };
  const rest = JSON.stringify(more).slice(1);
  return `{"result":{"tools":${getToolList(client).json},${rest},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
}

/** What every result of 2026 has. */
function toModernFields(serverInfo: Implementation): object {
  return { resultType: "complete", _meta: { "io.modelcontextprotocol/serverInfo": serverInfo } };
}

const drop = (): Promise<void> => Promise.resolve();
const noState = (): undefined => undefined;

/** A plain request has no progress token, so there is nothing to notify of. */
function toContext({ envelope }: PlainRequest, { signal, log = drop, http }: PlainParts): CallContext {
  const mcpReq = { ...(envelope !== undefined && { envelope }), signal, log, notify: drop, requestState: noState };
  return http === undefined ? { mcpReq } : { mcpReq, http };
}

/** The JSON-RPC error for what a call threw. */
function toProtocolError(cause: unknown): JSONRPCErrorResponse["error"] {
  const { code, message, data } = cause as {
    readonly code?: unknown;
    readonly message?: string;
    readonly data?: unknown;
  };
  return {
    code: Number.isSafeInteger(code) ? Number(code) : -32_603,
    message: message ?? "Internal error",
    ...(data !== undefined && { data }),
  };
}
