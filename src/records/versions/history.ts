import { hash } from "node:crypto";

import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { type JsonObject, toCanonicalJson } from "../../core/json.ts";
import type { LogEntry, Store } from "../../core/store.ts";

/** One version of a tool or a skill that was live. */
export interface Version {
  readonly address: string;
  /** Counts from 1 for each address. */
  readonly number: number;
  /** Of everything it is made of: two versions with the same digest are the same. */
  readonly digest: string;
  /** What its author calls it, such as `1.2.0`. */
  readonly label?: string;
  readonly author?: string;
  /** When it was kept first, in milliseconds since 1970. */
  readonly time: number;
}

/** What may be said of a version. */
export interface VersionNotes {
  readonly label?: string;
  readonly author?: string;
}

/** What happened to an address so far. */
export interface History {
  readonly versions: readonly Version[];
  readonly current: Version | undefined;
  /** Of the last record. */
  readonly position: number;
}

/** A line of an address's stream: a version that is new, or one that became the current one again. */
export interface VersionRecord extends VersionNotes {
  readonly type: "version" | "current";
  readonly digest: string;
}

const streamPrefix = "versions:";

/** Reads what happened to an address. */
export async function readHistory({ log }: Store, address: string): Promise<History> {
  const versions = new Map<string, Version>();
  let current: Version | undefined;
  let position = 0;
  for (;;) {
    const entries = await log.read(streamPrefix + address, { after: position });
    for (const entry of entries) {
      const { type, digest } = entry.value as unknown as VersionRecord;
      if (type === "version") versions.set(digest, toVersion(address, versions.size + 1, entry));
      current = versions.get(digest);
      ({ position } = entry);
    }
    if (entries.length === 0) return { versions: [...versions.values()], current, position };
  }
}

function toVersion(address: string, number: number, { time, value }: LogEntry): Version {
  const { digest, label, author } = value as unknown as VersionRecord;
  return { address, number, digest, ...toNotes({ label, author }), time };
}

/** Notes without what was not said. */
export function toNotes(notes: { readonly [Name in keyof VersionNotes]: string | undefined }): VersionNotes {
  const { label, author } = notes;
  return { ...(label !== undefined && { label }), ...(author !== undefined && { author }) };
}

/** Appends a record after the position that was read; answers `false` if another process appended first. */
export async function addRecord(
  { log }: Store,
  { address, after, record }: { readonly address: string; readonly after: number; readonly record: VersionRecord },
): Promise<boolean> {
  try {
    await log.append(streamPrefix + address, [{ ...record }], { expectedPosition: after });
    return true;
  } catch (cause) {
    if (isKitbagError(cause, "store-conflict")) return false;
    throw cause;
  }
}

/** Every address that has a history. */
export async function findAddresses({ log }: Store): Promise<readonly string[]> {
  const names: string[] = [];
  for (;;) {
    const page = await log.streams({ prefix: streamPrefix, after: names.at(-1) ?? "" });
    if (page.length === 0) return names.map((name) => name.slice(streamPrefix.length));
    names.push(...page);
  }
}

/** One file of a version. */
export interface VersionFile {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly digest: string;
}

/** What a version is made of: its definition as data, and its files. */
export interface VersionContent {
  readonly definition: JsonObject;
  readonly files: readonly VersionFile[];
}

/** What a version is made from. A file is read only when the version is new. */
export interface VersionSource {
  readonly definition: JsonObject;
  readonly files: readonly (VersionFile & { read(): Uint8Array | Promise<Uint8Array> })[];
}

/** The digest of a version: that of the blob that says what it is made of. */
export function toDigest(source: VersionSource): string {
  return `sha256:${hash("sha256", describe(source))}`;
}

/**
 * Keeps the files of a version, and answers with the bytes that say what it is made of.
 *
 * @throws {KitbagError} `script-changed` if a file is not what it was when the version was made.
 */
export async function toContent(store: Store, source: VersionSource): Promise<Uint8Array> {
  for (const { path, digest, read } of source.files) {
    // Existing blobs are put again, too: a concurrent garbage collection may not yet know that this version needs them.
    const kept = await store.blobs.put((await store.blobs.get(digest)) ?? (await read()));
    if (kept !== digest) throw new KitbagError("script-changed", { path });
  }
  return new TextEncoder().encode(describe(source));
}

function describe({ definition, files }: VersionContent): string {
  const list = files.map(({ path, bytes, digest }) => ({ path, bytes, digest }));
  const sorted = list.toSorted((left, right) => (left.path < right.path ? -1 : 1));
  return toCanonicalJson({ definition, files: sorted });
}

/**
 * Reads what a version is made of.
 *
 * @throws {KitbagError} `version-not-found` if its bytes are gone.
 */
export async function loadContent(
  { blobs }: Store,
  { address, digest }: { readonly address: string; readonly digest: string },
): Promise<VersionContent> {
  const bytes = await blobs.get(digest);
  if (bytes === undefined) throw new KitbagError("version-not-found", { address, which: digest, known: [] });
  return JSON.parse(new TextDecoder().decode(bytes)) as VersionContent;
}
