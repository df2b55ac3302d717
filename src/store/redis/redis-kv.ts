import type { JsonValue } from "../../core/json.ts";
import type { KeyValueStore, ListedValue, VersionedValue } from "../../core/store.ts";
import { checkKey, checkList, checkVersion, checkWhole, checkWrite, toSum } from "../checks.ts";
import { toKept } from "../kept-value.ts";
import { compareCodePoints, toPrefixEnd } from "../sorted-keys.ts";
import { checkOpen, type StoreLife } from "../store-life.ts";
import type { RedisLink } from "./redis-link.ts";

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

/**
 * The scripts in which a server does what must be done in one step.
 *
 * Each value is kept as its version, a colon and its JSON, under a key of its own that the server lets expire. Beside it are a list
 * of all keys in order, and one of those that expire by their time, from which a few are taken out with each write.
 *
 * `KEYS`: the value, the list of keys, the list of those that expire, the last version. `ARGV[1]` is the key, `ARGV[2]` what all
 * keys of values begin with.
 */
const prelude = `
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
local kept = redis.call('GET', KEYS[1])
local found = kept and string.match(kept, '^%d+') or '0'

-- Never less than the time: should the server forget its data, no version comes twice.
local function nextVersion()
  local version = time[1] * 1000000 + time[2]
  local last = tonumber(redis.call('GET', KEYS[4]) or '0')
  if version <= last then version = last + 1 end
  local text = string.format('%.0f', version)
  redis.call('SET', KEYS[4], text)
  return text
end

local function forget(key)
  redis.call('ZREM', KEYS[2], key)
  redis.call('ZREM', KEYS[3], key)
end

local function sweep()
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', nowMs, 'LIMIT', 0, 3)) do
    if redis.call('EXISTS', ARGV[2] .. key) == 0 then forget(key) end
  end
end

local function put(value, expiresInMs)
  local version = nextVersion()
  sweep()
  if expiresInMs == 'keep' then
    redis.call('SET', KEYS[1], version .. ':' .. value, 'KEEPTTL')
  elseif expiresInMs == '' then
    redis.call('SET', KEYS[1], version .. ':' .. value)
    redis.call('ZREM', KEYS[3], ARGV[1])
  else
    redis.call('SET', KEYS[1], version .. ':' .. value, 'PX', expiresInMs)
    redis.call('ZADD', KEYS[3], nowMs + expiresInMs, ARGV[1])
  end
  redis.call('ZADD', KEYS[2], 0, ARGV[1])
  return version
end
`;

/** `ARGV`: value, time to live, expected version, the last two empty for none. Answers with the version found and the new one. */
const setScript = `${prelude}
if ARGV[5] ~= '' and ARGV[5] ~= found then return { found, '' } end
return { found, put(ARGV[3], ARGV[4]) }`;

/** `ARGV`: expected version, empty for none. Answers with the version found. */
const deleteScript = `${prelude}
if ARGV[3] == '' or ARGV[3] == found then
  redis.call('DEL', KEYS[1])
  forget(ARGV[1])
end
sweep()
return found`;

/** `ARGV`: what to add, time to live. Answers with the sum, or with nothing and what was found. */
const incrementScript = `${prelude}
local largest = ${Number.MAX_SAFE_INTEGER}
local text = kept and string.sub(kept, #found + 2) or '0'
local start = string.match(text, '^%-?%d+$') and tonumber(text)
if not start or math.abs(start) > largest then return { '', text } end
local sum = start + tonumber(ARGV[3])
if math.abs(sum) > largest then return { '', text } end
local shown = string.format('%.0f', sum)
put(shown, kept and 'keep' or ARGV[4])
return { shown, '' }`;

/**
 * `KEYS`: the list of keys, the list of those that expire. `ARGV`: what all keys of values begin with, where to begin and end, how
 * many. Answers with keys, what is kept under them, and what is left of its time (-1 for ever), in turn.
 */
const listScript = `
local answer, from, left = {}, ARGV[2], tonumber(ARGV[4])
while left > 0 do
  local keys = redis.call('ZRANGEBYLEX', KEYS[1], from, ARGV[3], 'LIMIT', 0, math.min(left, 500))
  if #keys == 0 then break end
  for _, key in ipairs(keys) do
    local kept = redis.call('GET', ARGV[1] .. key)
    if kept then
      answer[#answer + 1] = key
      answer[#answer + 1] = kept
      answer[#answer + 1] = tostring(redis.call('PTTL', ARGV[1] .. key))
      left = left - 1
    else
      redis.call('ZREM', KEYS[1], key)
      redis.call('ZREM', KEYS[2], key)
    end
  end
  from = '(' .. keys[#keys]
end
return answer`;
