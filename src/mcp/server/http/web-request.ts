import { once } from "node:events";

import type { GateRequest, IncomingMessage, ServerResponse } from "../../../gate/gate.ts";

/** A request as the SDK takes it, and its body. */
export interface WebRequest {
  readonly request: Request;
  /** The body as JSON; `undefined` if there is no body or it is not JSON. */
  readonly body: unknown;
}

/** Only its path is read. */
const anyHost = "http://localhost";

/** A body, as it came and as JSON. */
export interface ReadBody {
  /** None if the method has no body. */
  readonly bytes: Buffer | undefined;
  /** The body as JSON; `undefined` if it is not JSON. */
  readonly body: unknown;
}

/** Reads the body of a request. Rejects with what reading it rejects with. */
export async function readMessage(given: GateRequest): Promise<ReadBody> {
  const { method } = given.incoming;
  if (method === "GET" || method === "HEAD") return { bytes: undefined, body: undefined };
  const bytes = await given.readBody();
  return { bytes, body: parseJson(bytes) };
}

/** Makes a request of the gate, whose body was read, what the SDK takes. */
export function toWebRequest({ incoming, path, signal }: GateRequest, { bytes, body }: ReadBody): WebRequest {
  const { method = "GET" } = incoming;
  const request = new Request(new URL(path, anyHost), {
    method,
    headers: toHeaders(incoming),
    signal,
    // The SDK is given what the body is as JSON, and reads the bytes only of what is not JSON.
    ...(bytes !== undefined && body === undefined && { body: new Uint8Array(bytes) }),
  });
  return { request, body };
}

function toHeaders({ headers }: IncomingMessage): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    return [[name, Array.isArray(value) ? value.join(", ") : value]];
  });
}

/** What is no JSON is for the SDK to refuse, from the same bytes. */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Writes an answer of the SDK. Resolves when it is written, the client is gone or `signal` is aborted: a stream is cancelled then, and
 * what feeds it ends.
 */
export async function writeWebResponse(answer: Response, response: ServerResponse, signal: AbortSignal): Promise<void> {
  const headers = Object.fromEntries(answer.headers);
  if (answer.body === null) return void response.writeHead(answer.status, headers).end();
  if (headers["content-type"] === "application/json") {
    const bytes = Buffer.from(await answer.arrayBuffer());
    return void response.writeHead(answer.status, { ...headers, "content-length": bytes.length }).end(bytes);
  }
  response.writeHead(answer.status, headers);
  // A client that waits for events waits for the head first.
  response.flushHeaders();
  const reader = answer.body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  response.once("close", cancel);
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (!response.write(read.value)) await once(response, "drain", { signal });
    }
  } catch {
    // The client is gone, or the gate closes: the answer has no reader.
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
    response.end();
  }
}

/** An answer that is an error of the protocol. */
export function toErrorResponse(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}

/** The method that a message names, of whatever it is. */
export function methodOf(body: unknown): unknown {
  return typeof body === "object" && body !== null && "method" in body ? body.method : undefined;
}
