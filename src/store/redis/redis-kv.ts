import type { JsonValue } from "../../core/json.ts";
import type { KeyValueStore, ListedValue, VersionedValue } from "../../core/store.ts";
import { checkKey } from "../check-key.ts";
import { checkList } from "../check-list.ts";
import { checkWhole } from "../check-whole.ts";
import { checkVersion, checkWrite, toSum } from "../check-write.ts";
import { toKept } from "../kept-value.ts";
import { compareCodePoints } from "../sorted-keys.ts";
import { checkOpen, type StoreLife } from "../store-life.ts";
import { toPrefixEnd } from "../to-prefix-end.ts";
import type { RedisLink } from "./redis-link.ts";
import { deleteScript, incrementScript, listScript, setScript } from "./redis-scripts.ts";

/** What `kv` needs. */
export interface RedisKvOptions {
  readonly life: StoreLife;
  readonly link: RedisLink;
  /** What the names of all keys on the server begin with. */
  readonly prefix: string;
}

/** Makes the `kv` part of a Redis store. */
export function redisKv({ life, link, prefix }: RedisKvOptions): KeyValueStore {
  const values = `${prefix}kv:`;
  const lists = [`${prefix}keys`, `${prefix}expiring`];

  /** Runs a script for one key. The text is sent each time: a server that was restarted does not know it. */
  async function write(key: string, script: string, args: readonly (string | number | undefined)[]): Promise<unknown> {
    const names = [values + key, ...lists, `${prefix}version`];
    const texts = args.map((arg) => (arg === undefined ? "" : String(arg)));
    return link.send(["EVAL", script, String(names.length), ...names, key, values, ...texts], true);
  }

  return {
    async get(key) {
      checkKey(key);
      checkOpen(life, "kv.get");
      const kept = await link.send(["GET", values + key], false);
      return typeof kept === "string" ? toVersioned(kept) : undefined;
    },
    async set(key, value, options) {
      checkKey(key);
      const { expiresInMs, ifVersion } = checkWrite(options);
      const kept = JSON.stringify(toKept(key, value));
      checkOpen(life, "kv.set");
      const [found, version] = (await write(key, setScript, [kept, expiresInMs, ifVersion])) as string[];
      checkVersion(key, Number(found), ifVersion);
      return Number(version);
    },
    async delete(key, options) {
      checkKey(key);
      const { ifVersion } = checkWrite(options);
      checkOpen(life, "kv.delete");
      const found = Number(await write(key, deleteScript, [ifVersion]));
      checkVersion(key, found, ifVersion);
      return found > 0;
    },
    async list(options) {
      const { prefix: start, after, limit } = checkList(options);
      checkOpen(life, "kv.list");
      const from = compareCodePoints(after, start) < 0 ? `[${start}` : `(${after}`;
      const range = [values, from, `(${toPrefixEnd(start)}`, String(limit)];
      return toListed((await link.send(["EVAL", listScript, "2", ...lists, ...range], false)) as string[]);
    },
    async increment(key, by = 1, options) {
      checkKey(key);
      checkWhole("by", by, Number.MIN_SAFE_INTEGER);
      const { expiresInMs } = checkWrite(options);
      checkOpen(life, "kv.increment");
      const [sum = "", found = ""] = (await write(key, incrementScript, [by, expiresInMs])) as string[];
      return sum === "" ? toSum(key, JSON.parse(found) as JsonValue, by) : Number(sum);
    },
  };
}

function toVersioned(kept: string): VersionedValue {
  const colon = kept.indexOf(":");
  return { value: JSON.parse(kept.slice(colon + 1)) as JsonValue, version: Number(kept.slice(0, colon)) };
}

function toListed(answer: readonly string[]): (readonly [string, ListedValue])[] {
  const listed: (readonly [string, ListedValue])[] = [];
  for (let index = 0; index + 2 < answer.length; index += 3) {
    const [key = "", kept = "", leftMs = ""] = answer.slice(index, index + 3);
    const time = leftMs.startsWith("-") ? {} : { expiresInMs: Math.max(Number(leftMs), 1) };
    listed.push([key, { ...toVersioned(kept), ...time }]);
  }
  return listed;
}
