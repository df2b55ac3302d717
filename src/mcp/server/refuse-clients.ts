import { isRecord } from "../../core/json.ts";
import type { Failure } from "../../core/errors.ts";
import type { Route } from "../../gate/gate.ts";
import { createLineSplitter } from "../../platform/lines.ts";
import { readMessage } from "./http/web-request.ts";
import type { StdioOptions, StdioServing } from "./mcp-server-options.ts";

/** Replaces a service that cannot start. */
export interface RefusedClients {
  /** Answers one client on stdio, a line a message, until the client ends. */
  serveStdio(options: Required<StdioOptions>): StdioServing;
  route(path: string): Route;
}

const longestLine = 1024 * 1024;

/** A longer batch is answered as one request. */
const longestBatch = 100;

/**
 * Answers every request of MCP clients, `initialize` too, with the reason why there is no service. Clients show the error of a request.
 * Few clients show what a program wrote to its standard error before it ended.
 */
export function refuseClients({ code, message }: Pick<Failure, "code" | "message">): RefusedClients {
  const error = { code: -32_000, message, data: { code } };

  /** The answer to a message, or to each message of a batch; `undefined` if the message is not a request. */
  function answer(message: unknown): unknown {
    if (!Array.isArray(message)) return answerOne(message);
    if (message.length > longestBatch) return { jsonrpc: "2.0", id: null, error };
    const answers = message.map(answerOne).filter((each) => each !== undefined);
    return answers.length === 0 ? undefined : answers;
  }

  function answerOne(message: unknown): unknown {
    if (!isRecord(message)) return { jsonrpc: "2.0", id: null, error };
    const { id, method } = message;
    if (typeof method !== "string" || (typeof id !== "string" && typeof id !== "number")) return undefined;
    return { jsonrpc: "2.0", id, error };
  }

  return {
    serveStdio({ input, output }) {
      const { promise: closed, resolve: close } = Promise.withResolvers<void>();
      const lines = createLineSplitter({
        // A line that is too long gets no answer.
        maxBytes: longestLine,
        onLine(line) {
          const made = answer(parse(line.toString("utf8")));
          if (made === undefined || output.write(`${JSON.stringify(made)}\n`)) return;
          input.pause();
          output.once("drain", () => input.resume());
        },
      });
      input.on("data", lines.push).once("end", close).once("close", close);
      if (input.readableEnded || input.destroyed) close();
      return {
        closed,
        async close() {
          input.off("data", lines.push).pause();
          close();
        },
      };
    },
    route: (path) => ({
      path,
      async handle(request) {
        const made = request.incoming.method === "POST" ? answer((await readMessage(request)).body) : undefined;
        const status = made !== undefined ? 200 : request.incoming.method === "POST" ? 202 : 503;
        const body = made ?? (status === 503 ? { jsonrpc: "2.0", id: null, error } : undefined);
        const text = body === undefined ? "" : JSON.stringify(body);
        request.response.writeHead(status, { "content-type": "application/json" }).end(text);
      },
      renderRefusal: (refusal) =>
        JSON.stringify({ jsonrpc: "2.0", error: { code: -32_000, message: refusal.message }, id: null }),
    }),
  };
}

/** The JSON of a line; `undefined` if it is not JSON: such a line gets an answer, too. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
