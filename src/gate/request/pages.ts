import type { IncomingMessage, ServerResponse } from "node:http";

/** Headers of answers that a page may read. */
const exposed = [
  ...["mcp-session-id", "mcp-protocol-version", "www-authenticate", "retry-after", "allow", "x-request-id"],
  ...["content-disposition", "kitbag-call", "x-vercel-ai-ui-message-stream"],
].join(", ");

/** Lets the page of an allowed origin read the answer. */
export function allowPage({ headers }: IncomingMessage, response: ServerResponse): void {
  response.setHeader("access-control-allow-origin", headers.origin ?? "null");
  response.setHeader("access-control-expose-headers", exposed);
  response.setHeader("vary", "origin");
}

/** Tells whether a browser asks what a page may send. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

/** Answers what the page of an allowed origin may send: it is trusted, so whatever it asks for. */
export function sendPreflight({ headers }: IncomingMessage, response: ServerResponse): void {
  const asked = headers["access-control-request-headers"];
  response
    .writeHead(204, {
      "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
      ...(asked !== undefined && { "access-control-allow-headers": asked }),
      "access-control-max-age": "600",
    })
    .end();
}
