import { isKitbagError } from "../../../core/errors.ts";
import { copyJson, isRecord, maxJsonDepth, type JsonObject, type JsonValue } from "../../../core/json.ts";

/** What a script asks for; without `id` it does not wait for an answer. */
export interface RpcRequest {
  readonly id?: string | number;
  readonly method: string;
  readonly params: JsonObject;
}

/** Codes of JSON-RPC 2.0. */
export const rpcCodes = {
  notJson: -32_700,
  notRequest: -32_600,
  unknownMethod: -32_601,
  wrongParams: -32_602,
  failed: -32_000,
} as const;

/** Why a message got no result. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const longestId = 128;
const noParams: JsonObject = Object.freeze({});

/**
 * Reads one line of a script.
 *
 * @throws {RpcError} if it is no request of JSON-RPC 2.0.
 */
export function parseRequest(line: Buffer, maxBytes: number): RpcRequest {
  const { id, method, params } = readObject(line, maxBytes);
  if (typeof method !== "string") throw new RpcError(rpcCodes.notRequest, `Cannot read a message without "method"`);
  if (id !== undefined && !isId(id)) {
    throw new RpcError(
      rpcCodes.notRequest,
      `Cannot use this "id": give a number, or a text of at most ${longestId} characters`,
    );
  }
  if (params !== undefined && !isRecord(params)) {
    throw new RpcError(rpcCodes.wrongParams, `Cannot read "params" of ${method.slice(0, 64)}: give an object`);
  }
  return { method, params: params ?? noParams, ...(id !== undefined && { id }) };
}

function readObject(line: Buffer, maxBytes: number): Readonly<Record<string, JsonValue | undefined>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line.toString("utf8"));
  } catch {
    throw new RpcError(rpcCodes.notJson, "Cannot read a line that is not JSON: write one message a line");
  }
  // Refuses what is never meant: `__proto__`, thousands of levels.
  const copy = copyJson(parsed, { maxBytes: 2 * maxBytes, maxDepth: maxJsonDepth + 4 });
  if (!copy.ok)
    throw new RpcError(rpcCodes.notRequest, "Cannot use a message that is nested too deep, or has odd keys");
  if (!isRecord(copy.value)) throw new RpcError(rpcCodes.notRequest, "Cannot use a message that is no object");
  return copy.value;
}

function isId(id: JsonValue): id is string | number {
  return typeof id === "number" || (typeof id === "string" && id.length <= longestId);
}

/** One line that answers `id`; of the order jsonrpc, id, result. */
export function renderResult(id: string | number, result: unknown): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(result ?? null)}}\n`;
}

/** One line that says why `id` got no result. */
export function renderError(id: string | number | null, cause: unknown): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${JSON.stringify(toError(cause))}}\n`;
}

function toError(cause: unknown): JsonObject {
  if (cause instanceof RpcError) return { code: cause.code, message: cause.message };
  if (!isKitbagError(cause))
    return { code: rpcCodes.failed, message: "Kitbag failed", data: { code: "program-failed" } };
  const { code, message, details } = cause.toJSON();
  return { code: rpcCodes.failed, message, data: { code, details: details as unknown as JsonObject } };
}
