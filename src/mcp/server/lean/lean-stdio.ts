import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

import type { CallEvent } from "../../../core/events.ts";
import { toLogData } from "../calls/call-notices.ts";
import { toServerInfo } from "../create-instance.ts";
import type { ServedConnection, Services } from "../services.ts";
import { answerPlain } from "./answer-plain.ts";
import { readPlain, type PlainRequest } from "./plain-request.ts";
import { splitLines } from "./split-lines.ts";

/** What plain requests on stdio are answered with. */
export interface LeanStdioParts {
  readonly input: Readable;
  readonly output: Writable;
  /** The client, as soon as it has said who it is. */
  readonly connection: () => ServedConnection | undefined;
}

/** What is left for the SDK. */
export interface LeanStdio {
  readonly rest: Readable;
  /** Stops reading, and cancels what is running. */
  stop(): void;
}

/** Answers plain requests on stdio without the SDK, and leaves the rest to it. */
export function createLeanStdio({ options }: Services, { input, output, connection }: LeanStdioParts): LeanStdio {
  const running = new Map<string | number, AbortController>();
  const serverInfo = JSON.stringify(toServerInfo(options));
  const lines = splitLines(input, take);
  let isStopped = false;

  function write(text: string): void {
    if (isStopped || output.writableEnded || output.destroyed) return;
    if (!output.write(`${text}\n`) && !output.writableNeedDrain) return;
    if (output.writableNeedDrain && output.listenerCount("drain") === 0) lines.holdUntil(once(output, "drain"));
  }

  function take(line: Buffer): boolean {
    const served = connection();
    if (served === undefined || options.extend !== undefined) return false;
    if (line.includes('"tools/')) return answer(line, served);
    return running.size > 0 && line.includes('"notifications/cancelled"') && cancel(parse(line));
  }

  function answer(line: Buffer, served: ServedConnection): boolean {
    const request = readPlain(parse(line), served.client.generation);
    if (request === undefined || running.has(request.id)) return false;
    const stop = new AbortController();
    running.set(request.id, stop);
    void answerNow(request, served, stop.signal)
      .then((text) => {
        if (text === undefined) lines.giveBack(line);
        else if (!stop.signal.aborted) write(text);
      })
      .finally(() => running.delete(request.id));
    return true;
  }

  async function answerNow(
    request: PlainRequest,
    { client, mcp }: ServedConnection,
    signal: AbortSignal,
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

  function cancel(message: unknown): boolean {
    const { requestId } = (message as { readonly params?: { readonly requestId?: string | number } })?.params ?? {};
    const stop = requestId === undefined ? undefined : running.get(requestId);
    stop?.abort(new Error("Cancelled by the client"));
    return stop !== undefined;
  }

  function stopAll(): void {
    for (const stop of running.values()) stop.abort(new Error("The client is gone"));
  }

  input.once("end", stopAll);
  input.once("close", stopAll);
  return {
    rest: lines.stream,
    stop() {
      isStopped = true;
      input.off("end", stopAll);
      input.off("close", stopAll);
      stopAll();
      lines.stop();
    },
  };
}

/** What is no JSON is for the SDK to refuse. */
function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}
