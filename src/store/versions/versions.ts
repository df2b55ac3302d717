import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { LogEntry, Store } from "../../core/store.ts";
import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { loadContent, toContent, toDigest, type VersionContent, type VersionSource } from "./content.ts";
import { diffVersions, type VersionDiff } from "./diff-versions.ts";

export type { VersionContent, VersionFile, VersionSource } from "./content.ts";
export type { FileDiff, VersionDiff } from "./diff-versions.ts";

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

/** The versions of tools and skills, by address: every one that was ever live. Nothing is ever taken out. */
export interface Versions {
  /** Keeps a version and makes it the current one. One that was kept before is not kept twice, and its files are not read again. */
  keep(address: string, source: VersionSource, notes?: VersionNotes): Promise<Version>;
  /** All of them, the oldest first. */
  list(address: string): Promise<readonly Version[]>;
  /** The one that is live; none if the address is not known. */
  current(address: string): Promise<Version | undefined>;
  /**
   * A version with what it is made of. `which` is a number, a digest (or the first 8 or more of its digits) or a label.
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
 * import { createVersions, memoryStore } from "kitbag";
 *
 * const versions = createVersions(memoryStore());
 * await versions.keep("greet", { definition: { description: "Says hello" }, files: [] }, { label: "1.0.0" });
 * await versions.keep("greet", { definition: { description: "Says goodbye" }, files: [] }, { label: "2.0.0" });
 * const { number } = await versions.pointBack("greet", "1.0.0");
 * console.assert(number === 1 && (await versions.current("greet"))?.label === "1.0.0");
 * ```
 */
export function createVersions(store: Store): Versions {
  async function find(address: string, which: number | string): Promise<Version> {
    const { versions } = await readHistory(store, address);
    const found = versions.filter((version) => isMeant(version, which));
    const [version] = found.length > 1 ? found.slice(-1) : found;
    if (version !== undefined) return version;
    throw new KitbagError("version-not-found", { address, which: String(which), known: versions.map(describe) });
  }

  const api: Versions = {
    async keep(address, source, notes = {}) {
      const digest = toDigest(source);
      for (;;) {
        const { versions, current, position } = await readHistory(store, address);
        if (current?.digest === digest) return current;
        const known = versions.find((version) => version.digest === digest);
        if (known === undefined) await store.blobs.put(await toContent(store, source));
        const record = known === undefined ? toRecord(digest, notes) : toPointer(digest, notes);
        if (await appendAt(store, address, record, position)) return keptIn(store, address, digest);
      }
    },
    async list(address) {
      return (await readHistory(store, address)).versions;
    },
    async current(address) {
      return (await readHistory(store, address)).current;
    },
    async get(address, which) {
      const version = await find(address, which);
      return { ...version, ...(await loadContent(store, version)) };
    },
    async readFile(address, which, path) {
      const version = await api.get(address, which);
      const file = version.files.find((one) => one.path === path);
      const bytes = file && (await store.blobs.get(file.digest));
      if (bytes !== undefined) return bytes;
      const known = version.files.map((one) => one.path);
      throw new KitbagError("version-not-found", { address, which: `${String(which)}, file ${path}`, known });
    },
    async diff(address, from, to) {
      return diffVersions(store, await api.get(address, from), await api.get(address, to));
    },
    async pointBack(address, which, notes = {}) {
      const { digest } = await find(address, which);
      for (;;) {
        const { current, position } = await readHistory(store, address);
        if (current?.digest === digest) return current;
        if (await appendAt(store, address, toPointer(digest, notes), position)) return keptIn(store, address, digest);
      }
    },
    async addresses() {
      const names: string[] = [];
      for (let page = await streamsAfter(store, ""); page.length > 0; page = await streamsAfter(store, page.at(-1))) {
        names.push(...page);
      }
      return names.map((name) => name.slice(streamPrefix.length));
    },
    async blobs() {
      const digests = new Set<string>();
      for (const address of await api.addresses()) {
        for (const version of await api.list(address)) {
          digests.add(version.digest);
          const { files } = await loadContent(store, version);
          for (const { digest } of files) digests.add(digest);
        }
      }
      return digests;
    },
  };
  return api;
}

const streamPrefix = "versions:";

function streamsAfter(store: Store, after = ""): Promise<readonly string[]> {
  return store.log.streams({ prefix: streamPrefix, after });
}

/** What happened to an address so far. */
interface History {
  readonly versions: readonly Version[];
  readonly current: Version | undefined;
  /** Where the next record goes. */
  readonly position: number;
}

async function readHistory({ log }: Store, address: string): Promise<History> {
  const versions: Version[] = [];
  let current: Version | undefined;
  let position = 0;
  for (;;) {
    const entries = await log.read(streamPrefix + address, { after: position });
    for (const entry of entries) {
      const record = entry.value as unknown as VersionRecord;
      if (record.type === "version") versions.push(toVersion(address, versions.length + 1, entry));
      current = versions.find(({ digest }) => digest === record.digest);
      ({ position } = entry);
    }
    if (entries.length === 0) return { versions, current, position };
  }
}

/** A line of an address's stream: a version that is new, or one that became the current one again. */
interface VersionRecord extends VersionNotes {
  readonly type: "version" | "current";
  readonly digest: string;
}

function toVersion(address: string, number: number, { time, value }: LogEntry): Version {
  const { digest, label, author } = value as unknown as VersionRecord;
  return {
    address,
    number,
    digest,
    ...(label !== undefined && { label }),
    ...(author !== undefined && { author }),
    time,
  };
}

function toRecord(digest: string, { label, author }: VersionNotes): JsonObject {
  return { type: "version", digest, ...(label !== undefined && { label }), ...(author !== undefined && { author }) };
}

function toPointer(digest: string, { author }: VersionNotes): JsonObject {
  return { type: "current", digest, ...(author !== undefined && { author }) };
}

/** Answers whether it was appended: somebody else may have been faster. */
async function appendAt({ log }: Store, address: string, record: JsonValue, position: number): Promise<boolean> {
  try {
    await log.append(streamPrefix + address, [record], { expectedPosition: position });
    return true;
  } catch (cause) {
    if (isKitbagError(cause, "store-conflict")) return false;
    throw cause;
  }
}

async function keptIn(store: Store, address: string, digest: string): Promise<Version> {
  const { versions } = await readHistory(store, address);
  return versions.find((version) => version.digest === digest) as Version;
}

const shortestDigest = 8;

function isMeant({ number, digest, label }: Version, which: number | string): boolean {
  if (typeof which === "number") return number === which;
  if (label === which || digest === which) return true;
  const digits = which.replace(/^sha256:/u, "");
  return digits.length >= shortestDigest && digest.startsWith(`sha256:${digits}`);
}

function describe({ number, label, digest }: Version): string {
  return `${number} (${label ?? digest.slice("sha256:".length, "sha256:".length + shortestDigest)})`;
}
