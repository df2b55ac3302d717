import { isAbsolute } from "node:path";

import { isEmptyGrant, parseGrant, type SkillGrant } from "../../core/skill-grant.ts";
import { isDigest } from "../../platform/digest.ts";

/** The digests of files, by path. */
export type Digests = ReadonlyMap<string, string>;

/**
 * The entry of a folder whose trust was removed: it keeps the folder from running also where naming it would be enough. No skill is
 * without files, so it fits none.
 */
export const removedTrust: Digests = new Map();

/** What was trusted, each in exactly one state. */
export interface TrustList {
  /** Configurations by real path, with the digests of all files they load, by real path. */
  readonly configs: Map<string, Digests>;
  /** Skill folders by real path, with the digests of all their files, by the path in the folder. */
  readonly folders: Map<string, Digests>;
  /** What was granted from outside to the skills in these folders, in the state in which they were trusted. */
  readonly grants: Map<string, SkillGrant>;
}

/** A list in which nothing is trusted. */
export function emptyTrust(): TrustList {
  return { configs: new Map(), folders: new Map(), grants: new Map() };
}

interface TrustedFile {
  readonly path: string;
  readonly digest: string;
}

/** Writes what is trusted as JSON, sorted. A folder whose trust was removed has no grant any more. */
export function renderTrust({ configs, folders, grants }: TrustList): string {
  const trusted = [
    ...sorted(configs).map(([config, files]) => ({ config, files: toFiles(files) })),
    ...sorted(folders).map(([folder, files]) => {
      const granted = files.size === removedTrust.size ? {} : (grants.get(folder) ?? {});
      return { folder, ...(!isEmptyGrant(granted) && { granted }), files: toFiles(files) };
    }),
  ];
  return `${JSON.stringify({ version: 1, trusted }, null, 2)}\n`;
}

function toFiles(digests: Digests): TrustedFile[] {
  return sorted(digests).map(([path, digest]) => ({ path, digest }));
}

function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].toSorted(([left], [right]) => (left < right ? -1 : 1));
}

/** Reads what {@link renderTrust} wrote. Throws an `Error` for anything else, however small the difference. */
export function parseTrust(text: string): TrustList {
  const document = JSON.parse(text) as { version?: unknown; trusted?: unknown } | null;
  if (document?.version !== 1 || !Array.isArray(document.trusted)) throw new Error("it is not a list of trusted files");
  const list = emptyTrust();
  for (const entry of document.trusted as unknown[]) {
    const { config, folder, files, granted } = (entry ?? {}) as Readonly<Record<string, unknown>>;
    if (isAbsolutePath(config) && folder === undefined) list.configs.set(config, parseFiles(files, isAbsolutePath));
    else if (isAbsolutePath(folder) && config === undefined) list.folders.set(folder, parseFiles(files, isInnerPath));
    else throw new Error("it has an entry that is neither a configuration nor a folder");
    if (granted !== undefined && isAbsolutePath(folder)) list.grants.set(folder, parseGrant(granted, folder));
  }
  return list;
}

function parseFiles(files: unknown, isRight: (path: unknown) => path is string): Digests {
  if (!Array.isArray(files)) throw new Error("it has an entry without files");
  return new Map(
    files.map((file: unknown) => {
      const { path, digest } = (file ?? {}) as { path?: unknown; digest?: unknown };
      if (isRight(path) && isDigest(digest)) return [path, digest];
      throw new Error("it has an entry that is not a file with a digest");
    }),
  );
}

function isAbsolutePath(value: unknown): value is string {
  return typeof value === "string" && isAbsolute(value);
}

/** Tells whether `value` is a path that stays in the folder it is in. */
export function isInnerPath(value: unknown): value is string {
  return typeof value === "string" && value.split("/").every((name) => name !== "" && name !== "." && name !== "..");
}
