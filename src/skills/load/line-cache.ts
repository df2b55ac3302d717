import { hash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

import { makeHomeFolder } from "../../platform/home.ts";
import { writeFileAtomically } from "../../platform/files.ts";
import { factsVersion as version } from "./facts-version.ts";

/** JSON by key. */
export interface LineCache {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  /** Writes what is new. A cache that cannot be written is only slower, so this never throws. */
  save(): void;
}

/** How large a shard may become before the older half of it is forgotten, and how much of new lines is held before it is written. */
const limits = { shardBytes: 1024 * 1024, freshBytes: 16 * 1024 * 1024, values: 40_000 };

/**
 * Opens a cache in a folder of 256 files, the shards: a key is in the one that the first byte of its digest names, so that a program
 * reads only what it asks for. A file has a line for each key, so that several programs can add to it. The folder belongs to one person,
 * like the list of what they trust: a file that others can write, and a line that is not exactly what was written, count as not there.
 * It must not be in a project, which could bring one along.
 */
export function openLineCache(folder: string | undefined): LineCache {
  return folder === undefined ? createMemoryCache() : createShardedCache(folder);
}

/** A program that runs for long reads many versions of the same skills. */
function createMemoryCache(): LineCache {
  const values = new Map<string, unknown>();
  return {
    get: (key) => values.get(key),
    set(key, value) {
      if (values.size >= limits.values) values.clear();
      values.set(key, value);
    },
    save() {},
  };
}

function createShardedCache(folder: string): LineCache {
  const shards = new Map<string, Shard>();
  /** New lines of each shard, by the digests of their keys. */
  const fresh = new Map<string, Map<string, string>>();
  let freshBytes = 0;

  function shardOf(digest: string): Shard {
    const name = digest.slice(0, 2);
    const known = shards.get(name) ?? readShard(join(folder, `${name}.jsonl`));
    shards.set(name, known);
    return known;
  }

  function save(): void {
    try {
      if (fresh.size > 0) makeHomeFolder(folder);
      for (const [name, lines] of fresh) shards.set(name, writeShard(shardOf(name), lines));
      // One file was the whole cache before.
      if (fresh.size > 0) rmSync(`${folder}.jsonl`, { force: true });
    } catch {
      // The next program reads the skills again.
    }
    fresh.clear();
    freshBytes = 0;
  }

  return {
    get(key) {
      const digest = toDigest(key);
      const line = fresh.get(digest.slice(0, 2))?.get(digest) ?? readLine(shardOf(digest), digest);
      return line === undefined ? undefined : parseLine(line, digest);
    },
    set(key, value) {
      const digest = toDigest(key);
      const line = renderLine(digest, value);
      if (line.length > limits.shardBytes / 2) return;
      const lines = fresh.get(digest.slice(0, 2)) ?? new Map<string, string>();
      fresh.set(digest.slice(0, 2), lines.set(digest, line));
      freshBytes += line.length;
      if (freshBytes > limits.freshBytes) save();
    },
    save,
  };
}

/** Where a line is in a file. It is read again when it is asked for, and believed only if it is still what was written. */
interface Place {
  readonly start: number;
  readonly length: number;
}

/** A file, and where its lines are. */
interface Shard {
  readonly path: string;
  readonly places: Map<string, Place>;
  readonly bytes: number;
  /** `foreign`: something else than what we have written; it is replaced. */
  readonly state: "ours" | "missing" | "foreign";
}

function readShard(path: string): Shard {
  const places = new Map<string, Place>();
  try {
    const file = openSync(path, constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0));
    try {
      const status = fstatSync(file);
      if (!status.isFile() || !isPrivate(status) || status.size > limits.shardBytes * 4)
        return { path, places, bytes: 0, state: "foreign" };
      const bytes = readFileSync(file);
      for (const [digest, place] of findLines(bytes)) places.set(digest, place);
      return { path, places, bytes: bytes.length, state: "ours" };
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    const state = (cause as NodeJS.ErrnoException).code === "ENOENT" ? "missing" : "foreign";
    return { path, places, bytes: 0, state };
  }
}

const noFollow = constants.O_NOFOLLOW ?? 0;

function isPrivate({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  const me = process.getuid?.();
  return me === undefined || ((uid === me || uid === 0) && (mode & 0o022) === 0);
}

const digestLength = 32;
const sumLength = 32;
/** A line: the version, the digest of the key, the sum of that and the value, the value. All of it is ASCII. */
const digestStart = version.length + 1;
const sumStart = digestStart + digestLength + 1;
const valueStart = sumStart + sumLength + 1;

function* findLines(bytes: Buffer): Generator<[digest: string, place: Place]> {
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(10, start);
    const end = found === -1 ? bytes.length : found;
    const isLine = end - start > valueStart && bytes.toString("latin1", start, digestStart + start) === `${version}\t`;
    if (isLine)
      yield [bytes.toString("latin1", start + digestStart, start + sumStart - 1), { start, length: end - start }];
    start = end + 1;
  }
}

function readLine({ path, places }: Shard, digest: string): string | undefined {
  const place = places.get(digest);
  if (place === undefined) return undefined;
  try {
    const file = openSync(path, constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0));
    try {
      if (!isPrivate(fstatSync(file))) return undefined;
      const bytes = Buffer.allocUnsafe(place.length);
      const read = readSync(file, bytes, 0, place.length, place.start);
      return bytes.toString("latin1", 0, read);
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

function toDigest(key: string): string {
  return hash("sha256", key).slice(0, digestLength);
}

function renderLine(digest: string, value: unknown): string {
  const content = toAscii(JSON.stringify(value));
  return `${version}\t${digest}\t${sumOf(digest, content)}\t${content}`;
}

/** The same JSON, with other letters written as their numbers. */
function toAscii(json: string): string {
  return json.replaceAll(/[^\p{ASCII}]/gu, (letter) =>
    Array.from({ length: letter.length }, (_, index) => toEscape(letter.charCodeAt(index))).join(""),
  );
}

function toEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

function parseLine(line: string, digest: string): unknown {
  const content = line.slice(valueStart);
  const isWhole = line.slice(0, valueStart) === `${version}\t${digest}\t${sumOf(digest, content)}\t`;
  return isWhole ? (JSON.parse(content) as unknown) : undefined;
}

function sumOf(digest: string, content: string): string {
  return hash("sha256", `${digest}\t${content}`).slice(0, sumLength);
}

/** Adds lines to a shard, or writes it anew without what is no use any more. Throws what the file system says. */
function writeShard(shard: Shard, lines: ReadonlyMap<string, string>): Shard {
  const { path, places, state } = shard;
  const text = `\n${[...lines.values()].join("\n")}\n`;
  const used = places.values().reduce((sum, { length }) => sum + length, 0);
  const isMostlyDead = shard.bytes - used > used + limits.shardBytes / 16;
  if (state === "foreign" || isMostlyDead || shard.bytes + text.length > limits.shardBytes) {
    writeFileAtomically(path, `${newest(shard, lines).join("\n")}\n`);
    return readShard(path);
  }
  const file = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | noFollow, 0o600);
  try {
    // It begins with a line end: the last line may have been cut off when a program was killed. If another program writes at the same
    // moment, these places are wrong, and the lines are not found until the file is read again.
    let start = fstatSync(file).size + 1;
    const bytes = start - 1 + writeSync(file, text);
    for (const [digest, { length }] of lines) {
      places.set(digest, { start, length });
      start += length + 1;
    }
    return { path, places, bytes, state: "ours" };
  } finally {
    closeSync(file);
  }
}

/** The newest lines, of half of what a shard may have. */
function newest(shard: Shard, lines: ReadonlyMap<string, string>): readonly string[] {
  const kept = [...lines.values()].toReversed();
  let bytes = kept.reduce((sum, { length }) => sum + length, 0);
  const old = [...shard.places].toSorted(([, left], [, right]) => right.start - left.start);
  for (const [digest, { length }] of old) {
    bytes += length;
    if (bytes > limits.shardBytes / 2) break;
    const line = lines.has(digest) ? undefined : readLine(shard, digest);
    if (line !== undefined) kept.push(line);
  }
  return kept.toReversed();
}
