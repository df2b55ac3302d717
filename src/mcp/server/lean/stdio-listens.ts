import { createRunListens, readListenedUris, type RunListen } from "../resources/run-listens.ts";
import type { ServedConnection, Services } from "../services.ts";
import { parseLine, readCancelled } from "./parse-line.ts";

/** What a 2026 client on stdio wants to hear of runs. */
export interface StdioListens {
  /** Looks at a line of the client, on its way to the SDK. That one answers, and knows which streams hear of what. */
  see(line: Buffer): void;
  close(): void;
}

/** Makes what follows the runs that a client on stdio listens to. */
export function createStdioListens({ runs }: Services, connection: () => ServedConnection | undefined): StdioListens {
  const listens = createRunListens(runs, (uri) => connection()?.notifier.resourceUpdated(uri));
  const open = new Map<unknown, RunListen>();

  function begin(message: unknown): void {
    const { id, method } = (message ?? {}) as { readonly id?: unknown; readonly method?: unknown };
    if (method !== "subscriptions/listen" || open.has(id)) return;
    open.set(id, listens.begin(readListenedUris(message)));
  }

  function end(id: unknown): void {
    open.get(id)?.end();
    open.delete(id);
  }

  return {
    see(line) {
      if (runs === undefined || connection()?.client.generation !== "2026") return;
      if (line.includes('"subscriptions/listen"')) begin(parseLine(line));
      else if (open.size > 0 && line.includes('"notifications/cancelled"')) end(readCancelled(parseLine(line)));
    },
    close: listens.close,
  };
}
