import { isUtf8 } from "node:buffer";

import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { copyJson, isRecord, maxJsonDepth, showValue, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { RuntimeContext } from "../../core/runtime.ts";
import type { Tool } from "../../core/tool.ts";
import { logConnection, type OnConnection } from "../connection-log.ts";
import { createStateFunctions } from "../state-functions.ts";

/** What a module's requests are answered with. */
export interface HostFunctionOptions {
  readonly tool: Tool;
  readonly context: RuntimeContext;
  readonly onConnection: OnConnection | undefined;
  /** The largest request and the largest answer. */
  readonly maxBytes: number;
}

type HostFunction = (request: JsonObject, options: HostFunctionOptions) => unknown;

const hostFunctions: ReadonlyMap<string, HostFunction> = new Map<string, HostFunction>([
  ["log", (request, { context }) => context.log(textOf(request, "message"), request["data"])],
  ["progress", ({ message, done, total }, { context }) => context.progress({ message, done, total } as object)],
  ["chunk", ({ value = null }, { context }) => context.chunk(value)],
  ["spend", ({ costUsd }, { context }) => context.spend(Number(costUsd))],
  ["call", (request, { context }) => context.call(textOf(request, "tool"), request["input"] ?? {})],
  ["user", (_request, { context }) => context.user],
  ["http.request", sendRequest],
]);

/** Answers one request of a module, in JSON: `{ ok: true, value }` or `{ ok: false, code, message }`. Never rejects. */
export async function answerRequest(bytes: Uint8Array, options: HostFunctionOptions): Promise<Uint8Array> {
  try {
    const request = parseRequest(bytes, options.maxBytes);
    const name = textOf(request, "fn");
    const run = findFunction(name, options);
    const answer = Buffer.from(JSON.stringify({ ok: true, value: (await run(request, options)) ?? null }));
    if (answer.length <= options.maxBytes) return answer;
    throw new KitbagError("output-too-large", { tool: name, limitBytes: options.maxBytes });
  } catch (cause) {
    // What is ours is meant to be read; anything else could hold what a module must not see.
    const { code, message } = isKitbagError(cause)
      ? cause
      : new KitbagError("program-failed", { reason: "Kitbag failed" });
    return Buffer.from(JSON.stringify({ ok: false, code, message }));
  }
}

function findFunction(name: string, { context }: HostFunctionOptions): HostFunction {
  const found = hostFunctions.get(name);
  if (found !== undefined) return found;
  const state = new Map<string, HostFunction>(createStateFunctions(context, invalid));
  const known = state.get(name);
  if (known !== undefined) return known;
  throw invalid("fn", showValue(name), `one of ${[...state.keys(), ...hostFunctions.keys()].join(", ")}`);
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

function textOf(request: JsonObject, name: string): string {
  const found = request[name];
  if (typeof found === "string") return found;
  throw invalid(name, showValue(found), "a text");
}

function invalid(option: string, found: string, expected: string): KitbagError {
  return new KitbagError("option-invalid", { option, found, expected });
}

/** Makes a request, if the tool's network permission allows it. Bytes that are no text go as `bodyBase64`, both ways. */
async function sendRequest(request: JsonObject, options: HostFunctionOptions): Promise<unknown> {
  const { tool, context, maxBytes } = options;
  const url = textOf(request, "url");
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
