import { dependencyFailed } from "../dependency-failure.ts";
import type { LockedPackage } from "../dependency-request.ts";

/** The parts of a `package-lock.json` that matter here. */
export interface PackageLock {
  readonly packages?: Readonly<
    Record<
      string,
      {
        readonly name?: string;
        readonly version?: string;
        readonly integrity?: string;
        readonly resolved?: string;
        readonly link?: boolean;
        readonly inBundle?: boolean;
      }
    >
  >;
}

/**
 * The packages of a lock, each of which must come from the index and have a hash. npm was told to leave out addresses of the index:
 * an address that is there leads elsewhere.
 *
 * @throws {KitbagError} `dependency-failed` if one does not.
 */
export function checkPackageLock({ packages = {} }: PackageLock): readonly LockedPackage[] {
  return Object.entries(packages).flatMap(([path, { name, version = "", integrity, resolved, link, inBundle }]) => {
    if (path === "") return [];
    const found = name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    // A package that is part of another one comes with its file.
    if (inBundle === true) return [];
    if (link !== true && resolved === undefined && integrity !== undefined)
      return [{ name: found, version, hash: integrity }];
    const reason =
      integrity === undefined && resolved === undefined
        ? "the index gives no hash for it"
        : `another package wants it from ${resolved ?? path}, and packages come only from the package index`;
    const cure = "use another version, or another package";
    throw dependencyFailed("node", { problem: "broken", package: found, reason, cure });
  });
}
