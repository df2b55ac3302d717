import { Writable } from "node:stream";

import type { Invocation } from "../cli-command.ts";
import type { Served } from "./open-served.ts";

/** Serves the client that started this program, until it ends or `signal` is aborted. */
export async function serveStdio({ terminal }: Invocation, { server }: Served, signal: AbortSignal): Promise<void> {
  if (terminal.canAsk) {
    terminal.note(
      "Waiting for MCP messages on standard input: clients start this program themselves.\nkitbag serve --print-config <client> prints what they must be told; --http serves a URL. Ctrl-C stops it.\n",
    );
  }
  const serving = await server.serveStdio({ input: process.stdin, output: openProtocolOutput() });
  const stop = (): void => void serving.close();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  await serving.closed;
}

/**
 * Standard output as a stream for the protocol alone. `process.stdout.write` goes to standard error by then, so that nothing that a
 * tool or a configuration prints gets between the messages.
 */
export function openProtocolOutput({ stdout }: { readonly stdout: Writable } = process): Writable {
  const { write } = Object.getPrototypeOf(stdout) as Writable;

  return new Writable({
    decodeStrings: false,
    write(chunk: Buffer | string, encoding, done) {
      if (write.call(stdout, chunk, encoding)) done();
      else stdout.once("drain", done);
    },
  });
}
