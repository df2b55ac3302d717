import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";

import { canBeAsked } from "../calls/ask-client.ts";
import { toServerInfo, type ServedConnection, type Services } from "../serve-client.ts";
import { answerPlainCall } from "./answer-plain.ts";
import { readPlain, type PlainRequest } from "./plain-request.ts";

/** Answers the plain calls among the messages of a client on stdio. */
export interface PlainStdio {
  /** Takes a message, or answers `false`: then it is for the SDK. */
  take(message: JSONRPCMessage): boolean;
  /** Cancels the calls that are running: the client disconnected. */
  close(): void;
}

/** Makes what answers plain calls on stdio. */
export function createPlainStdio(
  { options, calls }: Services,
  transport: Pick<Transport, "send">,
  connection: () => ServedConnection | undefined,
): PlainStdio {
  const running = new Map<unknown, AbortController>();
  const serverInfo = toServerInfo(options);

  async function answer(request: PlainRequest, { client, mcp }: ServedConnection): Promise<void> {
    const stop = new AbortController();
    running.set(request.id, stop);
    const { message } = await answerPlainCall(request, {
      calls,
      client,
      serverInfo,
      signal: stop.signal,
      // oxlint-disable-next-line typescript/no-deprecated -- the protocol keeps logging for clients that know nothing else
      log: (level, data, logger) => mcp.server.sendLoggingMessage({ level, data, logger }),
    });
    running.delete(request.id);
    // A client that disconnected needs no answer.
    if (!stop.signal.aborted) await transport.send(message).catch(() => {});
  }

  function cancel(id: unknown): boolean {
    const stop = running.get(id);
    stop?.abort(new Error("Cancelled by the client"));
    return stop !== undefined;
  }

  return {
    take(message) {
      if (!("method" in message)) return false;
      if (message.method === "notifications/cancelled") return cancel(message.params?.["requestId"]);
      const served = message.method === "tools/call" ? connection() : undefined;
      // Only the SDK knows what a host puts in place of a method.
      if (served === undefined || options.extend !== undefined) return false;
      const request = readPlain(message, served.client.generation);
      if (request === undefined || running.has(request.id)) return false;
      // A client of 2025 says what it is before anything else.
      if (served.client.generation === "2025" && served.client.info() === undefined) return false;
      const said = { mcpReq: { envelope: request.envelope ?? {} } };
      served.client.see(said);
      if (canBeAsked(served.client.capabilities(said))) return false;
      void answer(request, served);
      return true;
    },
    close() {
      for (const stop of running.values()) stop.abort(new Error("The client disconnected"));
    },
  };
}
