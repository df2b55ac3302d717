import { isUtf8 } from "node:buffer";

import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { copyJson, isRecord, maxJsonDepth, showValue, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { RuntimeContext } from "../../core/runtime.ts";
import type { Tool } from "../../core/tool.ts";
import { logConnection, type OnConnection } from "../connection-log.ts";
import type { Secrets } from "../script/load-secrets.ts";
import { createToolFunctions, readText, type ToolFunction } from "../tool-functions.ts";

/** What a module's requests are answered with. */
export interface HostFunctionOptions {
  readonly tool: Tool;
  readonly context: RuntimeContext;
  readonly secrets: Secrets;
  readonly onConnection: OnConnection | undefined;
  /** The largest request and the largest answer. */
  readonly maxBytes: number;
}

/** Makes what answers the requests of a module, in JSON: `{ ok: true, value }` or `{ ok: false, code, message }`. It never rejects. */
export function createHostFunctions(options: HostFunctionOptions): (request: Uint8Array) => Promise<Uint8Array> {
  const { context, secrets, maxBytes } = options;
  const functions = new Map<string, ToolFunction>([
    ...createToolFunctions({ context, secrets, refuse: invalid }),
    ["chunk", ({ value = null }) => context.chunk(value)],
    ["call", (request) => context.call(readText(request, "tool", invalid), request["input"] ?? {})],
    ["http.request", (request) => sendRequest(request, options)],
  ]);
  return async (bytes) => {
    try {
      const request = parseRequest(bytes, maxBytes);
      const name = readText(request, "fn", invalid);
      const run = functions.get(name);
      if (run === undefined) throw invalid("fn", showValue(name), `one of ${[...functions.keys()].join(", ")}`);
      const answer = Buffer.from(JSON.stringify({ ok: true, value: (await run(request)) ?? null }));
      if (answer.length <= maxBytes) return answer;
      throw new KitbagError("output-too-large", { tool: name, limitBytes: maxBytes });
    } catch (cause) {
      // What is ours is meant to be read; anything else could hold what a module must not see.
      const { code, message } = isKitbagError(cause)
        ? cause
        : new KitbagError("program-failed", { reason: "Kitbag failed" });
      return Buffer.from(JSON.stringify({ ok: false, code, message }));
    }
  };
}

function parseRequest(bytes: Uint8Array, maxBytes: number): JsonObject {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8"));
  } catch {
    throw invalid("request", "something else", "JSON");
  }
  const copy = copyJson(parsed, { maxBytes, maxDepth: maxJsonDepth + 4 });
  if (copy.ok && isRecord(copy.value)) return copy.value;
  throw invalid("request", showValue(parsed), 'an object with "fn"');
}

function invalid(option: string, found: string, expected: string): KitbagError {
  return new KitbagError("option-invalid", { option, found, expected });
}

/** Makes a request, if the tool's network permission allows it. Bytes that are no text go as `bodyBase64`, both ways. */
async function sendRequest(request: JsonObject, options: HostFunctionOptions): Promise<unknown> {
  const { tool, context, maxBytes } = options;
  const url = readText(request, "url", invalid);
  const rules = tool.permissions.network ?? [];
  if (rules.length === 0) {
    const reason = "it declares no host; add it to its permissions: network";
    throw new KitbagError("permission-refused", { tool: tool.name, permission: `network ${url}`, reason });
  }
  const { method, headers, body, bodyBase64 } = request;
  const { egressRequest } = await import("../../sandbox/egress/egress-request.ts");
  const response = await egressRequest(
    rules,
    {
      url,
      headers: toHeaders(headers),
      ...(typeof method === "string" && { method }),
      ...(typeof body === "string" && { body }),
      ...(typeof bodyBase64 === "string" && { body: Buffer.from(bodyBase64, "base64") }),
    },
    // In base64 it is a third longer, as JSON up to six times.
    {
      signal: context.signal,
      maxResponseBytes: Math.floor(maxBytes / 6),
      onConnection(connection) {
        options.onConnection?.({ ...connection, tool: tool.name });
        logConnection(context, connection);
      },
    },
  );
  return { status: response.status, headers: response.headers, url: response.url, ...toBody(response.body) };
}

function toBody(bytes: Uint8Array): { readonly body: string } | { readonly bodyBase64: string } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return isUtf8(buffer) ? { body: buffer.toString("utf8") } : { bodyBase64: buffer.toString("base64") };
}

function toHeaders(headers: JsonValue | undefined): Readonly<Record<string, string>> {
  if (headers === undefined || !isRecord(headers)) return {};
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}
