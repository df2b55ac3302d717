import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  type RequestMetaEnvelope,
} from "@modelcontextprotocol/server";

import { isRecord } from "../../../core/json.ts";
import type { McpGeneration } from "../client.ts";

/**
 * A request that asks for an answer and nothing else: a list of tools or a call, without progress, pages, traces, answers to questions or
 * anything else that a client may add. Every field was checked.
 */
export interface PlainRequest {
  readonly id: string | number;
  readonly method: "tools/call" | "tools/list";
  /** Of the tool; empty for a list. */
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>> | undefined;
  /** What a client of 2026 says of itself with each request. */
  readonly envelope: RequestMetaEnvelope | undefined;
}

/** The one revision of the 2026 generation. */
export const modernRevision = "2026-07-28";

const messageKeys = new Set(["jsonrpc", "id", "method", "params"]);
const knownKeys = { "tools/call": new Set(["name", "arguments", "_meta"]), "tools/list": new Set(["_meta"]) };
const envelopeKeys = new Set<string>([PROTOCOL_VERSION_META_KEY, CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY]);
const infoKeys = new Set(["name", "version", "title"]);
const noKeys: ReadonlySet<string> = new Set();

type Fields = Readonly<Record<string, unknown>>;

/** Reads a JSON-RPC message; `undefined` if it is not a plain request or is wrong in any way: then the SDK answers it. */
export function readPlain(message: unknown, generation: McpGeneration): PlainRequest | undefined {
  if (!hasOnly(message, messageKeys) || message["jsonrpc"] !== "2.0") return undefined;
  const { id, method, params = {} } = message;
  if (!isId(id) || !isMethod(method) || !hasOnly(params, knownKeys[method])) return undefined;
  const said = readEnvelope(params["_meta"], generation);
  if (said === undefined) return undefined;
  const envelope = generation === "2026" ? said : undefined;
  if (method === "tools/list") return { id, method, name: "", input: undefined, envelope };
  const { name, arguments: input } = params;
  const isCall = typeof name === "string" && (input === undefined || isRecord(input));
  return isCall ? { id, method, name, input, envelope } : undefined;
}

function isMethod(value: unknown): value is PlainRequest["method"] {
  return value === "tools/call" || value === "tools/list";
}

function isId(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** A client of 2025 adds nothing to a plain request. */
const nothing = {} as RequestMetaEnvelope;

function readEnvelope(meta: unknown, generation: McpGeneration): RequestMetaEnvelope | undefined {
  if (generation === "2025") return meta === undefined || hasOnly(meta, noKeys) ? nothing : undefined;
  if (!hasOnly(meta, envelopeKeys) || meta[PROTOCOL_VERSION_META_KEY] !== modernRevision) return undefined;
  const { [CLIENT_CAPABILITIES_META_KEY]: capabilities, [CLIENT_INFO_META_KEY]: info } = meta;
  if (!hasOnly(info, infoKeys) || !isRecord(capabilities)) return undefined;
  const isNamed = typeof info["name"] === "string" && typeof info["version"] === "string";
  const hasTitle = info["title"] === undefined || typeof info["title"] === "string";
  // The SDK checks what a capability holds; most clients only say that they have it.
  const isKnown = Object.values(capabilities).every((capability) => hasOnly(capability, noKeys));
  return isNamed && hasTitle && isKnown ? meta : undefined;
}

function hasOnly(value: unknown, known: ReadonlySet<string>): value is Fields {
  return isRecord(value) && Object.keys(value).every((key) => known.has(key));
}
