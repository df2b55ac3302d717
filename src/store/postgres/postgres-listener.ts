import {
  breakPostgres,
  openPostgres,
  type LinkOptions,
  type OpenLink,
  type Row,
  type Statement,
} from "./postgres-link.ts";
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
  let open: OpenLink | undefined;

  function lose(): void {
    const lost = open;
    open = undefined;
    if (lost) breakPostgres(lost);
  }

  async function tick(): Promise<void> {
    try {
      if (!open) {
        open = await listen(options, lose);
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

async function listen({ linkOptions, channel, onNotice }: ListenerOptions, lose: () => void): Promise<OpenLink> {
  const link = await openPostgres(linkOptions.createClient, linkOptions.timeoutMs, lose);
  link.client.on("notification", ({ payload = "" }) => onNotice(payload));
  await link.watch.expect(link.client.query(`LISTEN "${channel}"`));
  return link;
}
