import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  type RequestMetaEnvelope,
} from "@modelcontextprotocol/server";

import type { McpGeneration } from "../served-client.ts";

/**
 * A request for which nothing but an answer is wanted: a list of tools or a call, without progress, pages, traces or anything else
 * that a client may say beside it. Everything of it was checked.
 */
export interface PlainRequest {
  readonly id: string | number;
  readonly method: "tools/call" | "tools/list";
  /** Of the tool; empty for a list. */
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>> | undefined;
  /** What a client of 2026 says with each request. */
  readonly envelope: RequestMetaEnvelope | undefined;
}

/** The one revision of the 2026 generation. */
export const modernRevision = "2026-07-28";

const messageKeys = new Set(["jsonrpc", "id", "method", "params"]);
const knownKeys = { "tools/call": new Set(["name", "arguments", "_meta"]), "tools/list": new Set(["_meta"]) };
const envelopeKeys = new Set<string>([PROTOCOL_VERSION_META_KEY, CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY]);
const infoKeys = new Set(["name", "version", "title"]);

type Fields = Readonly<Record<string, unknown>>;

/** Reads a message that was JSON. What is not plain, or not right, is `undefined`: the SDK answers it. */
export function readPlain(message: unknown, generation: McpGeneration): PlainRequest | undefined {
  if (!isFields(message, messageKeys) || message["jsonrpc"] !== "2.0") return undefined;
  const { id, method, params = {} } = message;
  if (!isId(id) || !isMethod(method) || !isFields(params, knownKeys[method])) return undefined;
  const said = readEnvelope(params["_meta"], generation);
  if (said === undefined) return undefined;
  const envelope = generation === "2026" ? said : undefined;
  if (method === "tools/list") return { id, method, name: "", input: undefined, envelope };
  const { name, arguments: input } = params;
  const isCall = typeof name === "string" && (input === undefined || isObject(input));
  return isCall ? { id, method, name, input, envelope } : undefined;
}

function isMethod(value: unknown): value is PlainRequest["method"] {
  return value === "tools/call" || value === "tools/list";
}

function isId(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** A client of 2025 says nothing with a plain request. */
const nothing = {} as RequestMetaEnvelope;

function readEnvelope(meta: unknown, generation: McpGeneration): RequestMetaEnvelope | undefined {
  if (generation === "2025") return meta === undefined || isEmpty(meta) ? nothing : undefined;
  if (!isFields(meta, envelopeKeys) || meta[PROTOCOL_VERSION_META_KEY] !== modernRevision) return undefined;
  const { [CLIENT_CAPABILITIES_META_KEY]: capabilities, [CLIENT_INFO_META_KEY]: info } = meta;
  if (!isFields(info, infoKeys) || !isObject(capabilities)) return undefined;
  const isNamed = typeof info["name"] === "string" && typeof info["version"] === "string";
  const hasTitle = info["title"] === undefined || typeof info["title"] === "string";
  // What a capability holds is for the SDK to check; most clients say only that they have it.
  const isKnown = Object.values(capabilities).every(isEmpty);
  return isNamed && hasTitle && isKnown ? meta : undefined;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isFields(value: unknown, known: ReadonlySet<string>): value is Fields {
  if (!isObject(value)) return false;
  for (const key in value) if (!known.has(key)) return false;
  return true;
}

function isEmpty(value: unknown): boolean {
  return isFields(value, noKeys);
}

const noKeys: ReadonlySet<string> = new Set();
