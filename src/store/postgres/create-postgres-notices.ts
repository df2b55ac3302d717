import { hash } from "node:crypto";

import { createFollowers, type Follower } from "../tail.ts";
import {
  breakPostgres,
  type LinkOptions,
  type OpenLink,
  openPostgres,
  type Row,
  type Statement,
} from "./postgres-link.ts";
import type { PostgresParts } from "./postgres-reader.ts";

/** Tells followers, in this process and in others, that a stream has grown. */
export interface PostgresNotices {
  follow(stream: string, follower: Follower): () => void;
  /** What to add to a transaction that appends to these streams. */
  toStatements(streams: readonly string[]): readonly Statement[];
}

/** How often followed streams are read, because a notice may be lost with its connection. */
const pollEveryMs = 1000;

/** Makes the notices of a store. It connects with the first follower. */
export function createPostgresNotices(parts: PostgresParts): PostgresNotices {
  const { life, schema } = parts;
  const channel = `kitbag/${schema.replaceAll('"', "")}`;
  const followed = createFollowed();
  const listener = createPostgresListener({
    ...parts,
    channel,
    pollEveryMs,
    onStart: () => followed.wakeAll(),
    onNotice: (payload) => payload.split(",").forEach(followed.wake),
    poll: () => toPoll(schema, followed.streams()),
    onPoll(rows) {
      for (const row of rows) followed.see(String(row["name"]), String(row["position"]));
    },
  });
  life.onClose(followed.end);

  return {
    follow(stream, follower) {
      const leave = followed.add(stream, follower);
      listener.start();
      return leave;
    },
    toStatements(streams) {
      if (streams.length === 0) return [];
      const payload = [...new Set(streams.map(toShort))].join(",");
      return [{ name: "notify", text: "SELECT pg_notify($1, $2)", values: [channel, payload] }];
    },
  };
}

interface FollowedStream {
  readonly stream: string;
  count: number;
  /** Its end at the last check. */
  position?: string;
}

/** The followed streams, by their short names. */
function createFollowed() {
  const followers = createFollowers();
  const followed = new Map<string, FollowedStream>();
  const wake = (short: string): void => {
    const one = followed.get(short);
    if (one) followers.wake(one.stream);
  };

  return {
    wake,
    end: followers.end,
    streams: () => Array.from(followed.values(), ({ stream }) => stream),
    wakeAll() {
      for (const short of followed.keys()) wake(short);
    },
    /** Wakes those who follow a stream that was seen to end somewhere else before. */
    see(stream: string, position: string) {
      const one = followed.get(toShort(stream));
      if (!one || one.position === position) return;
      one.position = position;
      followers.wake(stream);
    },
    add(stream: string, follower: Follower): () => void {
      const short = toShort(stream);
      const one = followed.get(short) ?? { stream, count: 0 };
      one.count += 1;
      followed.set(short, one);
      const leave = followers.add(stream, follower);
      return () => {
        leave();
        one.count -= 1;
        if (one.count === 0) followed.delete(short);
      };
    },
  };
}

/** A name that is short enough for a hundred of them to be in one notice. Two streams with the same one only wake in vain. */
function toShort(stream: string): string {
  return hash("sha1", stream).slice(0, 16);
}

function toPoll(schema: string, streams: readonly string[]): Statement | undefined {
  if (streams.length === 0) return undefined;
  const text = `SELECT name, position FROM ${schema}.streams WHERE name = ANY($1::text[])`;
  return { name: "poll", text, values: [streams] };
}

/** What a listener needs. */
interface ListenerOptions extends Pick<PostgresParts, "onDrain"> {
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
interface PostgresListener {
  /** Begins; does nothing if it has. */
  start(): void;
}

/**
 * Makes a listener. It asks over the connection on which it listens, so that it notices when that is dead, and makes a new one;
 * a server that takes no `LISTEN`, such as a pool of connections, is asked all the same.
 */
function createPostgresListener(options: ListenerOptions): PostgresListener {
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
      // The next tick tries again: followers wait for the server to come back.
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
