import type { Invocation } from "../cli-command.ts";
import type { Served } from "./open-served.ts";
import { openProtocolOutput } from "./protocol-output.ts";

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
