import { parse } from "smol-toml";

import { describeCause, KitbagError } from "../../../core/errors.ts";
import { showValue } from "../../../core/json.ts";
import type { LockedPackage } from "../dependency-request.ts";

const file = "Cargo.lock";
const registries = new Set([
  "registry+https://github.com/rust-lang/crates.io-index",
  "sparse+https://index.crates.io/",
]);

/**
 * Reads the crates that a `Cargo.lock` takes from the index, each with its hash. Crates of the folder itself are left out.
 *
 * @throws {KitbagError} `dependency-refused` if it cannot be read, or a crate comes from elsewhere.
 */
export function parseCargoLock(text: string): readonly LockedPackage[] {
  const { package: packages = [] } = parseToml(text);
  if (!Array.isArray(packages)) throw refused(file, "it has no list of packages");
  return packages.flatMap((one: unknown) => {
    const { name, version, source, checksum } = (one ?? {}) as Record<string, unknown>;
    if (source === undefined) return [];
    const crate = `${String(name)} ${String(version)}`;
    if (typeof source !== "string" || !registries.has(source)) {
      throw refused(crate, `it comes from ${showValue(source)}, and crates come only from the package index`);
    }
    if (typeof checksum !== "string" || !/^[0-9a-f]{64}$/u.test(checksum)) {
      throw refused(crate, "it has no hash; write the lock again with: cargo generate-lockfile");
    }
    return [{ name: String(name), version: String(version), hash: `sha256:${checksum}` }];
  });
}

function parseToml(text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    throw refused(file, `it is not TOML: ${describeCause(cause, 200)}`);
  }
}

function refused(dependency: string, reason: string): KitbagError<"dependency-refused"> {
  return new KitbagError("dependency-refused", { dependency, file, reason });
}
