import { KitbagError } from "../core/errors.ts";
import type { Caller } from "../gate/gate.ts";
import { createApi, type ApiAnswer } from "./create-api.ts";
import type { HandlerOptions, HttpParts } from "./http-options.ts";
import { refuseRequest, problemType } from "./problem.ts";
import { safeHeaders, toEventStream, streamHeaders } from "./server-events.ts";

/** Answers requests of the API, as web standards and most frameworks have them. Never rejects. */
export type Handler = (request: Request) => Promise<Response>;

const defaultMaxBodyBytes = 4 * 1024 * 1024;

/**
 * Makes the HTTP API of a workspace as a function from `Request` to `Response`: for Next, Hono, Bun, Deno and everything else that speaks
 * web standards. `kitbag serve --http` mounts the same API at `/api`.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool } from "kitbag";
 * import { createHandler, localCaller } from "kitbag/http";
 *
 * const add = defineTool({
 *   name: "add",
 *   description: "Adds two numbers",
 *   input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
 *   run: ({ a, b }) => Number(a) + Number(b),
 * });
 * const handle = createHandler({ workspace: createWorkspace({ tools: [add] }) }, { caller: () => localCaller });
 *
 * const response = await handle(
 *   new Request("http://localhost/api/tools/add/call", {
 *     method: "POST",
 *     headers: { "content-type": "application/json" },
 *     body: JSON.stringify({ input: { a: 2, b: 40 } }),
 *   }),
 * );
 * console.assert((await response.text()).includes("42"));
 * ```
 */
export function createHandler(parts: HttpParts, options: HandlerOptions = {}): Handler {
  const { caller: findCaller, basePath = "/api", maxBodyBytes = defaultMaxBodyBytes, onError } = options;
  const api = createApi(parts, onError);
  return async (request) => {
    const url = new URL(request.url);
    if (url.pathname !== basePath && !url.pathname.startsWith(`${basePath}/`))
      return toProblemResponse(404, `the API is below ${basePath}`);
    let caller: Caller | undefined;
    try {
      caller = await findCaller?.(request);
    } catch (cause) {
      onError?.(cause);
      return toProblemResponse(500, "the service failed; its log says more");
    }
    if (caller === undefined)
      return toProblemResponse(401, "this request names no caller that this service knows; send a token");
    const leaving = new AbortController();
    const answer = await api.answer({
      method: request.method,
      path: url.pathname.slice(basePath.length) || "/",
      basePath,
      query: url.search.slice(1),
      header: (name) => request.headers.get(name) ?? undefined,
      caller,
      signal: request.signal,
      // Not every framework aborts the request when its client leaves: some cancel the body of the answer.
      get streamSignal() {
        return AbortSignal.any([request.signal, leaving.signal]);
      },
      readBody: () => readBody(request, maxBodyBytes),
    });
    return toResponse(answer, { isHead: request.method === "HEAD", onEnd: () => leaving.abort() });
  };
}

function toProblemResponse(status: number, reason: string): Response {
  return new Response(JSON.stringify(refuseRequest(status, reason)), {
    status,
    headers: { "content-type": problemType, ...safeHeaders },
  });
}

function toResponse(
  { status, headers, body }: ApiAnswer,
  { isHead, onEnd }: { readonly isHead: boolean; readonly onEnd: () => void },
): Response {
  if (isHead) return new Response(null, { status, headers });
  if (typeof body === "string") return new Response(body, { status, headers });
  if (body instanceof Uint8Array) return new Response(new Uint8Array(body), { status, headers });
  return new Response(toEventStream(body, onEnd), { status, headers: { ...headers, ...streamHeaders } });
}

/** @throws {KitbagError} `request-refused` if the body is too large, or was read before. */
async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.bodyUsed) {
    const reason = "the body was read before it came here; mount this handler before any body parser";
    throw new KitbagError("request-refused", { status: 500, reason });
  }
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new KitbagError("request-refused", {
        status: 413,
        reason: `the body is larger than ${maxBytes} bytes; send less`,
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
