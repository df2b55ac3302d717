import { hash } from "node:crypto";

import { KitbagError } from "../../core/errors.ts";
import { toCanonicalJson } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { diffVersions, type VersionDiff } from "./diff-versions.ts";
import {
  addRecord,
  findAddresses,
  loadContent,
  readHistory,
  toContent,
  toDigest,
  toNotes,
  type Version,
  type VersionContent,
  type VersionNotes,
  type VersionSource,
} from "./history.ts";

export type { VersionContent, VersionFile, VersionSource } from "./history.ts";
export type { FileDiff, VersionDiff } from "./diff-versions.ts";
export type { Version, VersionNotes } from "./history.ts";

/** The versions of tools and skills, by address: every one that was ever live. Nothing is ever taken out. */
export interface Versions {
  /** Keeps a version and makes it the current one. One that was kept before is not kept twice, and its files are not read again. */
  keep(address: string, source: VersionSource, notes?: VersionNotes): Promise<Version>;
  /** All of them, the oldest first. */
  list(address: string): Promise<readonly Version[]>;
  /** The one that is live; none if the address is not known. */
  current(address: string): Promise<Version | undefined>;
  /**
   * A version with what it is made of. `which` is a number, a digest (or the first 8 or more of its digits), a label, or the digest
   * of its definition alone, which is what the audit and calls that failed say of a tool.
   *
   * @throws {KitbagError} `version-not-found`
   */
  get(address: string, which: number | string): Promise<Version & VersionContent>;
  /** The bytes of one file of a version. */
  readFile(address: string, which: number | string, path: string): Promise<Uint8Array>;
  /** What is different between two versions, from the first to the second. */
  diff(address: string, from: number | string, to: number | string): Promise<VersionDiff>;
  /** Makes an earlier version the current one again; that it happened is kept too. */
  pointBack(address: string, which: number | string, notes?: Pick<VersionNotes, "author">): Promise<Version>;
  /** Every address that has a version. */
  addresses(): Promise<readonly string[]>;
  /** The digests of all blobs that versions are made of: what must not be collected. */
  blobs(): Promise<ReadonlySet<string>>;
}

/**
 * Makes the versions that are kept in `store`: one stream of its log for each address, the bytes in its blobs.
 *
 * @example
 * ```ts
 * import { memoryStore } from "kitbag";
 * import { createVersions } from "kitbag/store";
 *
 * const versions = createVersions(memoryStore());
 * await versions.keep("greet", { definition: { description: "Says hello" }, files: [] }, { label: "1.0.0" });
 * await versions.keep("greet", { definition: { description: "Says goodbye" }, files: [] }, { label: "2.0.0" });
 * const { number } = await versions.pointBack("greet", "1.0.0");
 * console.assert(number === 1 && (await versions.current("greet"))?.label === "1.0.0");
 * ```
 */
export function createVersions(store: Store): Versions {
  const get: Versions["get"] = async (address, which) => {
    const version = await findVersion(store, address, which);
    return { ...version, ...(await loadContent(store, version)) };
  };

  return {
    get,
    async keep(address, source, notes = {}) {
      return makeCurrent(store, { address, digest: toDigest(source), notes: toNotes(notes), source });
    },
    async pointBack(address, which, notes = {}) {
      const { digest } = await findVersion(store, address, which);
      return makeCurrent(store, { address, digest, notes: toNotes(notes) });
    },
    async list(address) {
      return (await readHistory(store, address)).versions;
    },
    async current(address) {
      return (await readHistory(store, address)).current;
    },
    async readFile(address, which, path) {
      const { files } = await get(address, which);
      const file = files.find((one) => one.path === path);
      const bytes = file && (await store.blobs.get(file.digest));
      if (bytes !== undefined) return bytes;
      const known = files.map((one) => one.path);
      throw new KitbagError("version-not-found", { address, which: `${which}, file ${path}`, known });
    },
    async diff(address, from, to) {
      return diffVersions(store, await get(address, from), await get(address, to));
    },
    addresses: () => findAddresses(store),
    blobs: () => findBlobs(store),
  };
}

async function findVersion(store: Store, address: string, which: number | string): Promise<Version> {
  const { versions } = await readHistory(store, address);
  // A label is whatever its author says, also the digest of another version.
  const version =
    versions.find(({ digest }) => digest === which) ??
    versions.findLast((one) => isMeant(one, which)) ??
    (await findByDefinition(store, versions, which));
  if (version !== undefined) return version;
  throw new KitbagError("version-not-found", { address, which: String(which), known: versions.map(describe) });
}

async function findByDefinition(
  store: Store,
  versions: readonly Version[],
  which: number | string,
): Promise<Version | undefined> {
  const digits = typeof which === "number" ? "" : toDigits(which);
  if (digits.length < shortestDigest) return undefined;
  for (const version of versions.toReversed()) {
    const { definition } = await loadContent(store, version);
    if (hash("sha256", toCanonicalJson(definition)).startsWith(digits)) return version;
  }
  return undefined;
}

/** What is to be the current version of an address. */
interface Target {
  readonly address: string;
  readonly digest: string;
  readonly notes: VersionNotes;
  /** What it is made from, if it may be new. */
  readonly source?: VersionSource;
}

async function makeCurrent(store: Store, { address, digest, notes, source }: Target): Promise<Version> {
  for (;;) {
    const { versions, current, position } = await readHistory(store, address);
    if (current?.digest === digest) return current;
    const isNew = source !== undefined && versions.every((version) => version.digest !== digest);
    if (isNew) await store.blobs.put(await toContent(store, source));
    const record = { type: isNew ? "version" : "current", digest, ...notes } as const;
    const isAdded = await addRecord(store, { address, after: position, record });
    // A writer after this one may already have made another version current, and that must stay.
    if (isAdded) return findVersion(store, address, digest);
  }
}

async function findBlobs(store: Store): Promise<ReadonlySet<string>> {
  const digests = new Set<string>();
  for (const address of await findAddresses(store)) {
    const { versions } = await readHistory(store, address);
    for (const version of versions) {
      digests.add(version.digest);
      const { files } = await loadContent(store, version);
      for (const { digest } of files) digests.add(digest);
    }
  }
  return digests;
}

const shortestDigest = 8;

function isMeant({ number, digest, label }: Version, which: number | string): boolean {
  if (typeof which === "number") return number === which;
  if (label === which) return true;
  const digits = toDigits(which);
  return digits.length >= shortestDigest && digest.startsWith(`sha256:${digits}`);
}

function toDigits(digest: string): string {
  return digest.replace(/^sha256:/u, "");
}

function describe({ number, label, digest }: Version): string {
  return `${number} (${label ?? digest.slice("sha256:".length, "sha256:".length + shortestDigest)})`;
}
