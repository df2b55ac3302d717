import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

import { toServerInfo } from "../create-instance.ts";
import type { ServedConnection, Services } from "../services.ts";
import { parseLine, readCancelled } from "./parse-line.ts";
import { createPlainCalls } from "./plain-calls.ts";
import { readPlain } from "./plain-request.ts";
import { splitLines } from "./split-lines.ts";
import { createStdioListens } from "./stdio-listens.ts";

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
export function createLeanStdio(services: Services, { input, output, connection }: LeanStdioParts): LeanStdio {
  const { options } = services;
  const calls = createPlainCalls(JSON.stringify(toServerInfo(options)));
  const listens = createStdioListens(services, connection);
  const lines = splitLines(input, take);
  let isHeld = false;

  function write(text: string): void {
    if (output.writableEnded || output.destroyed || output.write(`${text}\n`) || isHeld) return;
    isHeld = true;
    lines.holdUntil(once(output, "drain").finally(() => (isHeld = false)));
  }

  function take(line: Buffer): boolean {
    const served = connection();
    listens.see(line);
    // What the host puts in place of a method is known to the SDK alone.
    if (served === undefined || options.extend !== undefined) return false;
    if (line.includes('"tools/')) return answer(line, served);
    return calls.size > 0 && line.includes('"notifications/cancelled"') && cancel(parseLine(line));
  }

  function answer(line: Buffer, served: ServedConnection): boolean {
    const request = readPlain(parseLine(line), served.client.generation);
    if (request === undefined || calls.has(request.id)) return false;
    void calls.answer(request, served).then((answered) => {
      if (answered === "cancelled") return;
      if (answered.text === undefined) lines.giveBack(line);
      else write(answered.text);
    });
    return true;
  }

  function cancel(message: unknown): boolean {
    const requestId = readCancelled(message);
    return requestId !== undefined && calls.cancel(requestId);
  }

  input.once("end", calls.cancelAll);
  input.once("close", calls.cancelAll);
  return {
    rest: lines.stream,
    stop() {
      input.off("end", calls.cancelAll);
      input.off("close", calls.cancelAll);
      calls.cancelAll();
      listens.close();
      lines.stop();
    },
  };
}
