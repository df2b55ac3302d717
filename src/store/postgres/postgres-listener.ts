import type { Client } from "pg";

import { createWatch, type Watch } from "../watch-answers.ts";
import { linkSettings, socketOf, type LinkOptions, type Row, type Statement } from "./postgres-link.ts";
import type { PostgresParts } from "./postgres-parts.ts";

/** What a listener needs. */
export interface ListenerOptions extends Pick<PostgresParts, "onDrain"> {
  readonly linkOptions: LinkOptions;
  readonly channel: string;
  readonly pollEveryMs: number;
  /** It listens, for the first time or again: what was said before was not heard. */
  onStart(): void;
  onNotice(payload: string): void;
  /** What to ask in between; `undefined` if nothing. */
  poll(): Statement | undefined;
  onPoll(rows: readonly Row[]): void;
}

/** Hears notices for as long as the store is open. */
export interface PostgresListener {
  /** Begins; does nothing if it has. */
  start(): void;
}

/**
 * Makes a listener. It asks over the connection on which it listens, so that it notices when that is dead, and makes a new one;
 * a server that takes no `LISTEN`, such as a pool of connections, is asked all the same.
 */
export function createPostgresListener(options: ListenerOptions): PostgresListener {
  let timer: NodeJS.Timeout | undefined;
  let busy: Promise<void> | undefined;
  let open: OpenListener | undefined;

  function lose(): void {
    const lost = open;
    open = undefined;
    if (lost) socketOf(lost.client).destroy();
  }

  async function tick(): Promise<void> {
    try {
      if (!open) {
        open = await connect(options, lose);
        options.onStart();
      }
      const statement = options.poll();
      if (!statement) return;
      const { name, text, values } = statement;
      const { rows } = await open.watch.expect(open.client.query<Row, unknown[]>({ name, text, values: [...values] }));
      options.onPoll(rows);
    } catch {
      // The next tick tries again: whoever follows waits for the server to come back.
      lose();
    }
  }

  function look(): void {
    busy ??= tick().finally(() => (busy = undefined));
  }

  options.onDrain(async () => {
    clearInterval(timer);
    await busy;
    const last = open;
    open = undefined;
    await last?.client.end().catch(() => undefined);
  });

  return {
    start() {
      if (timer) return;
      timer = setInterval(look, options.pollEveryMs);
      look();
    },
  };
}

interface OpenListener {
  readonly client: Client;
  readonly watch: Watch;
}

async function connect({ linkOptions, channel, onNotice }: ListenerOptions, lose: () => void): Promise<OpenListener> {
  const { createClient, timeoutMs } = linkOptions;
  const client = createClient({ connectionTimeoutMillis: timeoutMs, ...linkSettings(timeoutMs) });
  client.on("error", lose).on("end", lose);
  client.on("notification", ({ payload = "" }) => onNotice(payload));
  await client.connect();
  const watch = createWatch(socketOf(client), timeoutMs);
  await watch.expect(client.query(`LISTEN "${channel}"`));
  return { client, watch };
}
