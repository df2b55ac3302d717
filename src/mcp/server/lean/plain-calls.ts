import type { CallEvent } from "../../../core/events.ts";
import { toLogData } from "../calls/call-notices.ts";
import type { ServedConnection } from "../services.ts";
import { answerPlain } from "./answer-plain.ts";
import type { PlainRequest } from "./plain-request.ts";

/** The plain requests of one client that are being answered. */
export interface PlainCalls {
  readonly size: number;
  has(id: string | number): boolean;
  /** Answers with the text of the answer, `undefined` if the SDK must give it, or `"cancelled"`: there is none then. */
  answer(request: PlainRequest, served: ServedConnection): Promise<PlainAnswer>;
  /** Tells whether there was such a request. */
  cancel(id: string | number): boolean;
  cancelAll(): void;
}

/** What came of a plain request. */
export type PlainAnswer = { readonly text: string | undefined } | "cancelled";

/** Makes what answers plain requests of a client that stays. */
export function createPlainCalls(serverInfo: string): PlainCalls {
  const running = new Map<string | number, AbortController>();

  return {
    get size() {
      return running.size;
    },
    has: (id) => running.has(id),
    async answer(request, served) {
      const stop = new AbortController();
      running.set(request.id, stop);
      try {
        const text = await answerNow(request, served, { signal: stop.signal, serverInfo });
        return stop.signal.aborted ? "cancelled" : { text };
      } finally {
        running.delete(request.id);
      }
    },
    cancel(id) {
      const stop = running.get(id);
      stop?.abort(new Error("Cancelled by the client"));
      return stop !== undefined;
    },
    cancelAll() {
      for (const stop of running.values()) stop.abort(new Error("The client is gone"));
    },
  };
}

async function answerNow(
  request: PlainRequest,
  { client, mcp }: ServedConnection,
  { signal, serverInfo }: { readonly signal: AbortSignal; readonly serverInfo: string },
): Promise<string | undefined> {
  const said = { mcpReq: { envelope: request.envelope ?? {} } };
  client.see(said);
  const sent: Promise<void>[] = [];
  const onEvent = (event: CallEvent): void => {
    if (event.type !== "call-log") return;
    const data = toLogData(event.message, event.data);
    // oxlint-disable-next-line typescript/no-deprecated -- the protocol keeps logging for clients that know nothing else
    sent.push(mcp.server.sendLoggingMessage({ level: "info", data, logger: "kitbag" }));
  };
  const text = await answerPlain(request, {
    client,
    capabilities: client.capabilities(said),
    serverInfo,
    // Clients of 2026 say with a request that they want logs, which makes it no plain one.
    options: { signal, ...(client.generation === "2025" && { onEvent }) },
  });
  if (sent.length > 0) await Promise.allSettled(sent);
  return text;
}
