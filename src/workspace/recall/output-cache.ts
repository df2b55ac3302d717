import { hash } from "node:crypto";

import type { LRUCache } from "lru-cache";

import { toCanonicalJson, cloneJson, type JsonValue } from "../../core/json.ts";
import type { KeyValueStore } from "../../core/store.ts";
import type { ToolCache } from "../../core/tool.ts";
import type { ToolOutcome } from "../../core/outcome.ts";

/** An output that is kept. */
interface KeptOutput {
  readonly output: JsonValue;
  /** The text of the input for which it was made, if it may be said in other words. */
  readonly said?: string | undefined;
  /** Of the output, as JSON. */
  readonly bytes: number;
}

/** Which outputs to forget; those that have all of it. */
export interface ForgetOptions {
  /** The address of a tool. */
  readonly tool?: string;
  /** The version that the tool had when it was called, as it says it itself. */
  readonly version?: string;
  /** One of the tags that the tool gave them. */
  readonly tag?: string;
}

/** How long an output is kept, and by what it is found to be forgotten. */
interface KeepOptions extends Pick<ToolCache, "ttlMs" | "tags"> {
  /** The one that the tool says. */
  readonly version: string | undefined;
  /** That of before the tool was begun. */
  readonly generation: number;
}

/** An output that is kept; or else the generation: what is begun before it grows may be out of date when it ends. */
export type FoundOutput = { readonly kept: KeptOutput } | { readonly generation: number };

/** Outputs that may be used again, the latest in memory and all of them in the store behind it. */
export interface OutputCache {
  /** Of its workspace: no other has the same. */
  readonly id: string;
  /** Those that are not in memory, or were put there more than a second ago, are looked up in the store. */
  find(key: string): Promise<FoundOutput>;
  /** Keeps an output, unless it is too large or something was forgotten since it was begun, here or in another process. */
  keep(key: string, kept: KeptOutput, options: KeepOptions): Promise<void>;
  /** Answers how many the store had. Other processes forget theirs within a second. */
  forget(options: ForgetOptions): Promise<number>;
}

const keyPrefix = "cache:";
/** Counts how often something was forgotten, by all processes that share the store. */
const generationKey = "cache-generation";
/** A larger output is not kept: reading it back would cost what running the tool does. */
const maxBytes = 4 * 1024 * 1024;
const maxMemoryBytes = 64 * 1024 * 1024;
/** For so long an output is taken from memory without a look into the store, where another process may have deleted it. */
const trustMs = 1000;

/** What decides whether an output is the one that is wanted. */
interface CacheSubject {
  readonly address: string;
  /** Of the tool: another version has other outputs. */
  readonly digest: string;
  readonly user: string | undefined;
  /** Only of this one; else of all that share the store. */
  readonly workspace: string | undefined;
  readonly key: JsonValue;
}

/** The key of an output. Names have no ":", so what is forgotten of one tool is of no other. */
export function toCacheKey({ address, digest, user, workspace, key }: CacheSubject): string {
  return `${keyPrefix}${address}:${hash("sha256", toCanonicalJson([digest, user ?? null, workspace ?? null, key]))}`;
}

interface StoredOutput {
  readonly output: JsonValue;
  readonly said?: string;
  /** In milliseconds since 1970. */
  readonly until: number;
  readonly tags: readonly string[];
  readonly version?: string;
}

/** Makes the cache that is kept in `kv`. */
export function createOutputCache(kv: KeyValueStore): OutputCache {
  let loaded: Promise<Recent> | undefined;
  /** As far as this process knows. */
  let latest = 0;

  /** Made when it is needed: most have no tool with a cache. */
  function load(): Promise<Recent> {
    loaded ??= createRecent();
    return loaded;
  }

  async function readGeneration(): Promise<number> {
    const found = await kv.get(generationKey);
    latest = Math.max(latest, Number(found?.value ?? 0));
    return latest;
  }

  return {
    id: crypto.randomUUID(),
    async find(key) {
      const recent = await load();
      const known = recent.get(key);
      if (known !== undefined) return { kept: { ...known, output: cloneJson(known.output) } };
      const since = latest;
      const found = await kv.get(key);
      if (found === undefined) return { generation: await readGeneration() };
      const { output, until, said } = found.value as unknown as StoredOutput;
      const kept = { output, said, bytes: Buffer.byteLength(JSON.stringify(output)) };
      if (since === latest) remember(recent, key, kept, until - Date.now());
      return { kept };
    },
    async keep(key, { output, bytes, said }, { ttlMs, tags = [], version, generation }) {
      const recent = await load();
      if (bytes > maxBytes || generation !== latest) return;
      const until = Date.now() + ttlMs;
      const more = { ...(version !== undefined && { version }), ...(said !== undefined && { said }) };
      await kv.set(key, { output, until, tags, ...more }, { expiresInMs: ttlMs });
      // A `forget` that ran before this write has not seen it.
      if (generation === (await readGeneration())) remember(recent, key, { output, bytes, said }, ttlMs);
      else await kv.delete(key);
    },
    async forget(which) {
      // First of all: what is written from now on by those who do not know of it yet, they delete themselves.
      latest = Math.max(latest, await kv.increment(generationKey));
      const recent = await load();
      return deleteMeant(kv, which, (key) => recent.delete(key));
    },
  };
}

async function deleteMeant(
  kv: KeyValueStore,
  { tool, ...which }: ForgetOptions,
  onDelete: (key: string) => void,
): Promise<number> {
  const prefix = tool === undefined ? keyPrefix : `${keyPrefix}${tool}:`;
  let count = 0;
  let after = "";
  for (;;) {
    const page = await kv.list({ prefix, after });
    for (const [key, { value }] of page) {
      after = key;
      if (!isMeant(value as unknown as StoredOutput, which)) continue;
      onDelete(key);
      count += Number(await kv.delete(key));
    }
    if (page.length === 0) return count;
  }
}

type Recent = LRUCache<string, KeptOutput>;

function remember(recent: Recent, key: string, kept: KeptOutput, leftMs: number): void {
  // Without a time, it would stay for ever.
  if (leftMs > 0) recent.set(key, { ...kept, output: cloneJson(kept.output) }, { ttl: Math.min(leftMs, trustMs) });
}

async function createRecent(): Promise<Recent> {
  const { LRUCache: Cache } = await import("lru-cache");
  return new Cache({ maxSize: maxMemoryBytes, sizeCalculation: ({ bytes }) => bytes + 200, ttl: trustMs });
}

function isMeant(stored: StoredOutput, { version, tag }: ForgetOptions): boolean {
  if (version !== undefined && stored.version !== version) return false;
  return tag === undefined || stored.tags.includes(tag);
}

/** What a call ended with whose outcome others wait for, without the secrets that only that call knows. */
export interface SharedRun {
  readonly outcome: ToolOutcome;
  /** Of the output, as JSON. */
  readonly bytes: number;
  /** Whether a failure says nothing about the calls of others. */
  readonly isOwn: boolean;
}
