import { hash } from "node:crypto";

import { createFollowers, type Follower } from "../tail.ts";
import { createPostgresListener } from "./postgres-listener.ts";
import type { Statement } from "./postgres-link.ts";
import type { PostgresParts } from "./postgres-parts.ts";

/** Tells followers, in this process and in others, that a stream has grown. */
export interface PostgresNotices {
  follow(stream: string, follower: Follower): () => void;
  /** What to add to a transaction that appends to these streams. */
  toStatements(streams: readonly string[]): readonly Statement[];
}

/** How often streams are looked at that somebody follows: a notice may be lost with its connection. */
const pollEveryMs = 1000;

/** Makes the notices of a store. It connects with the first follower. */
export function createPostgresNotices(parts: PostgresParts): PostgresNotices {
  const { life, schema } = parts;
  const channel = `kitbag/${schema.replaceAll('"', "")}`;
  const followers = createFollowers();
  /** By the short name in notices: how many follow the stream, and where it ended when it was last looked at. */
  const followed = new Map<string, { readonly stream: string; count: number; position?: string }>();
  const listener = createPostgresListener({
    ...parts,
    channel,
    pollEveryMs,
    onStart: () => wake([...followed.keys()]),
    onNotice: (payload) => wake(payload.split(",")),
    poll: () =>
      toPoll(
        schema,
        [...followed.values()].map(({ stream }) => stream),
      ),
    onPoll(rows) {
      for (const row of rows) {
        const one = followed.get(toShort(String(row["name"])));
        if (!one || one.position === row["position"]) continue;
        one.position = String(row["position"]);
        followers.wake(one.stream);
      }
    },
  });
  life.onClose(followers.end);

  function wake(shorts: readonly string[]): void {
    for (const short of shorts) {
      const one = followed.get(short);
      if (one) followers.wake(one.stream);
    }
  }

  return {
    follow(stream, follower) {
      const short = toShort(stream);
      const one = followed.get(short) ?? { stream, count: 0 };
      one.count += 1;
      followed.set(short, one);
      const leave = followers.add(stream, follower);
      listener.start();
      return () => {
        leave();
        one.count -= 1;
        if (one.count === 0) followed.delete(short);
      };
    },
    toStatements(streams) {
      if (streams.length === 0) return [];
      const payload = [...new Set(streams.map(toShort))].join(",");
      return [{ name: "notify", text: "SELECT pg_notify($1, $2)", values: [channel, payload] }];
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
